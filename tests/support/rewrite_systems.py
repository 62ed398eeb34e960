"""Systems for the tests of the rewriting page: each does one thing that a page must live with."""

import atexit
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

from prepared import BACK, DIRECTION

from tstbench.errors import InputError
from tstbench.spaces.rewrite.offers import Offer
from tstbench.trainers.load import FoundSystem
from tstbench.trainers.system import SYSTEM_STORE, System

_FOLDERS = tempfile.TemporaryDirectory(prefix="tstbench-rewrite-")
atexit.register(_FOLDERS.cleanup)
SAYS = {}  # what the system of that name answers to a sentence


class Small(System):
    """A system whose folder is its card: it says what ``SAYS`` has for its name."""

    KIND, FAMILY, ORIGIN = "small", "rule", "this test"

    def __init__(self, card):
        self.card, self.say = card, SAYS[card.name]

    def rewrite(self, batch, task):
        return [self.say(request.source) for request in batch]

    @classmethod
    def read(cls, folder, card, device):
        return cls(card)


@dataclass(frozen=True)
class Found(FoundSystem):
    kind = Small  # which is in no registry


def _card(name, directions=(DIRECTION,), **card):
    return replace(Small.untrained(), name=name, directions=directions, **card)


def offer(name, say, **facts):
    """A system in a folder of its own, which is read when it is used."""
    SAYS[name], card = say, _card(name, **facts)
    folder = Path(tempfile.mkdtemp(dir=_FOLDERS.name)) / "system"
    Small(card).save_pretrained(folder)
    return Offer(
        name, Found(card, f"hash of {name}", open=lambda _device: SYSTEM_STORE.open(folder))
    )


def unloadable(name):
    def damaged(_device):
        raise InputError("/home/owner/secret/folder is damaged")

    return Offer(name, Found(_card(name), f"hash of {name}", open=damaged))


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
