"""Things of one kind, which can stand in each other's place: read from ``slots.txt``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tstbench.files import read_lines

_FILE = Path(__file__).parent / "slots.txt"
# Kinds whose words mean other things too often to be looked for in any sentence.
_ONLY_IN_TEMPLATES = frozenset(("when", "service", "money", "side", "tool"))


@dataclass(frozen=True)
class Slots:
    """Things of one kind.

    Attributes:
        kinds: kind -> its things, each with all its names.
        other: a thing's single-word name -> names of other things of that kind.
        same: a single-word name -> other names of that thing.
    """

    kinds: Mapping[str, tuple[tuple[str, ...], ...]]
    other: Mapping[str, tuple[str, ...]]
    same: Mapping[str, tuple[str, ...]]


@cache
def slots() -> Slots:
    """The lists of ``slots.txt``."""
    kinds = {}
    other: dict[str, tuple[str, ...]] = {}
    same: dict[str, tuple[str, ...]] = {}
    for line in read_lines(_FILE):
        if line.startswith("#") or not line.strip():
            continue
        kind, things = line.split(": ", 1)
        kinds[kind] = tuple(tuple(thing.strip().split("/")) for thing in things.split(" | "))
        if kind in _ONLY_IN_TEMPLATES:
            continue
        for names in kinds[kind]:
            others = tuple(n for some in kinds[kind] if some != names for n in some)
            for name in names:
                if " " not in name and name.isalpha():
                    other.setdefault(name, others)
                    if len(names) > 1:
                        same.setdefault(name, tuple(n for n in names if n != name))
    return Slots(kinds, other, same)
