"""The commands that are put under fire: their smallest real work, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from places import ROOT

from .kill import Place


def _nothing(_: Place) -> None:
    """The command needs nothing that is there before."""


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes:
        name: for the tests.
        argv: what a user types, in the place's ``work``; the same again after a fault.
        lay_out: puts into the place what must be there before.
        before: commands that are run, undisturbed, before.
    """

    name: str
    argv: tuple[str, ...]
    lay_out: Callable[[Place], None] = _nothing
    before: tuple[tuple[str, ...], ...] = ()


DIRECTION = "mini/negative-to-positive"
SUITE = f"""\
out = "results"
[[system]]
system = "copy"
directions = ["{DIRECTION}"]
[[system]]
system = "delete-retrieve"
directions = ["{DIRECTION}"]
[[system]]
info = {{ name = "ours", family = "prompted" }}
outputs = {{ "{DIRECTION}" = "ours.txt" }}
"""


def _suite(place: Place) -> None:
    (place.work / "suite.toml").write_text(SUITE, "utf-8")
    sources = ROOT / "datasets_scripts/mini/data/test.0"
    lines = sources.read_text("utf-8").splitlines()
    text = "".join(f"{line.split(chr(9))[0]} !\n" for line in lines)
    (place.work / "ours.txt").write_text(text, "utf-8")


RUN = Command("run", ("run", "suite.toml", "--metric", "bleu"), _suite)
PREPARE = Command("prepare", ("prepare", "mini"))
TRAIN = Command(
    "train",
    (
        *("train", "stytrans", "--preset", "tiny", "--dataset", "mini", "--device", "cpu"),
        *("--save-every", "0", "--out", "m"),
    ),
)
TRANSFER = Command(
    "transfer", ("transfer", "delete-retrieve", "--direction", DIRECTION, "--out", "dr.jsonl")
)
BUILD = Command("build", ("build", "mini", "--out", "data"))
HUB_BUILD = Command("hub build", ("hub", "build", "hub", "--datasets", "mini", "--only", "mini"))

COMMANDS = (PREPARE, RUN, TRAIN, TRANSFER, BUILD, HUB_BUILD)
