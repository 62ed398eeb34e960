"""Sentences that say one thing in several styles, with slots: read from ``templates.txt``."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tstbench.files import read_lines

from .slots import slots
from .wording import Word, split_words

_FILE = Path(__file__).parent / "templates.txt"
# {kind2}, <1 rises/climbs ~ falls> or [1 in {city}], which holds no other brackets of its sort
_PART = re.compile(r"\{([a-z]+)(\d?)\}|<(\d) ([^<>]*)>|\[(\d) ([^\[\]]*)\]")


@dataclass(frozen=True)
class Said:
    """What is said: for each slot, choice and fact of a template.

    Attributes:
        things: slot (``country2``) -> number of the thing.
        choices: number of a choice -> number of what is chosen.
        facts: numbers of the facts that are mentioned.
    """

    things: Mapping[str, int]
    choices: Mapping[str, int]
    facts: frozenset[str]


@cache
def templates() -> tuple[tuple[str, ...], ...]:
    """The templates, each in several styles."""
    lines = (line for line in read_lines(_FILE) if line.strip() and not line.startswith("#"))
    return tuple(tuple(style.strip() for style in line.split(" | ")) for line in lines)


def kind_of(slot: str) -> str:
    """The kind of thing that a slot takes.

    >>> kind_of("country2")
    'country'
    """
    return slot.rstrip("0123456789")


def something_said(template: Sequence[str], rng: random.Random) -> Said:
    """Draw what a template says; all slots of one kind get different things."""
    names = dict.fromkeys(re.findall(r"\{([a-z]+\d?)\}", " ".join(template)))
    things: dict[str, int] = {}
    for slot in names:
        taken = {things[one] for one in things if kind_of(one) == kind_of(slot)}
        free = [i for i in range(len(slots().kinds[kind_of(slot)])) if i not in taken]
        things[slot] = rng.choice(free)
    choices = {
        number: rng.randrange(len(options.split("~")))
        for number, options in re.findall(r"<(\d) ([^<>]*)>", template[0])
    }
    facts = frozenset(n for n in facts_of(template) if rng.random() < 0.6)
    return Said(things, choices, facts)


def facts_of(template: Sequence[str]) -> tuple[str, ...]:
    """The numbers of what may be left out."""
    return tuple(dict.fromkeys(re.findall(r"\[(\d) ", template[0])))


def told(style: str, said: Said, other: Said, rng: random.Random) -> list[Word]:
    """A sentence, its words marked where the other sentence says something else.

    Args:
        style: one of a template's.
        said: what it says.
        other: what the other sentence says.
        rng: of the names of things.
    """
    return _told(style, said, other, rng, False)


def _told(text: str, said: Said, other: Said, rng: random.Random, changed: bool) -> list[Word]:
    words: list[Word] = []
    end = 0
    for found in _PART.finditer(text):
        words += _marked(text[end : found.start()], changed)
        end = found.end()
        kind, which, choice, options, fact, inner = found.groups()
        if kind:
            slot = kind + which
            thing = said.things[slot]
            name = rng.choice(slots().kinds[kind][thing])
            words += _marked(name, changed or other.things[slot] != thing)
        elif choice:
            picked = said.choices[choice]
            ways = options.split("~")[picked].split("/")
            differs = changed or other.choices[choice] != picked
            words += _told(rng.choice(ways).strip(), said, other, rng, differs)
        elif fact in said.facts:
            words += _told(inner, said, other, rng, changed or fact not in other.facts)
    return words + _marked(text[end:], changed)


def _marked(text: str, changed: bool) -> list[Word]:
    return [Word(word.text, changed) for word in split_words(text)]
