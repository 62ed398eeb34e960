"""A system: says please."""

from tstbench.trainers.system import System


class Please(System):
    KIND = "please"
    FAMILY = "rule"
    ORIGIN = "the manners package"

    def __init__(self, card=None):
        self.card = card or self.untrained()

    def rewrite(self, batch, task):
        return [f"please, {request.source}" for request in batch]

    @classmethod
    def read(cls, folder, card, device):
        return cls(card)
