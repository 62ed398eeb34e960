"""Systems for the tests of the rewriting page: each does one thing that a page must live with."""

import threading
from dataclasses import dataclass, replace

from prepared import BACK, DIRECTION

from tstbench.errors import InputError
from tstbench.spaces.rewrite.offers import Offer
from tstbench.trainers.load import FoundSystem
from tstbench.trainers.system import System


class Small(System):
    """Says ``say(sentence)``."""

    KIND, FAMILY, ORIGIN = "small", "rule", "this test"

    def __init__(self, name, say, directions=(DIRECTION,), **card):
        self.say = say
        self.card = replace(self.untrained(), name=name, directions=directions, **card)

    def rewrite(self, batch, task):
        return [self.say(request.source) for request in batch]

    @classmethod
    def read(cls, folder, card, device):
        raise NotImplementedError


@dataclass(frozen=True)
class Ready(FoundSystem):
    system: System | None = None

    def load(self, device="auto"):
        if self.system is None:
            raise InputError("/home/owner/secret/folder is damaged")
        return self.system


def offer(name, say, **card):
    system = Small(name, say, **card)
    return Offer(name, Ready(system.card, f"hash of {name}", open=lambda: None, system=system))


def unloadable(name):
    card = Small(name, str).card
    return Offer(name, Ready(card, f"hash of {name}", open=lambda: None))


def better(sentence):
    return sentence.replace("cold", "hot").replace("bad", "great")


def bug(_):
    raise ZeroDivisionError("somewhere in /home/owner/code.py")


def refuse(_):
    raise InputError("the tokeniser of this language is not installed")


class Gate:
    """A system that answers when it is let."""

    def __init__(self):
        self.open, self.entered, self.heard = threading.Event(), threading.Event(), []

    def __call__(self, sentence):
        self.heard.append(sentence)
        self.entered.set()
        assert self.open.wait(30)
        return sentence.upper()


BOTH = (DIRECTION, BACK)
