"""What a system changed: a word diff, as pieces that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["same", "gone", "new"]


@dataclass(frozen=True)
class Piece:
    """Some words in a row that were kept, removed or added."""

    kind: Kind
    text: str


def word_diff(source: str, prediction: str) -> tuple[Piece, ...]:
    """The words of both texts, in reading order; words are what blanks separate.

    >>> [(p.kind, p.text) for p in word_diff("the food was bad .", "the food was great .")]
    [('same', 'the food was'), ('gone', 'bad'), ('new', 'great'), ('same', '.')]
    """
    return tuple(_pieces(source.split(), prediction.split()))


def _pieces(old: list[str], new: list[str]) -> Iterator[Piece]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("same", " ".join(old[i1:i2]))
            continue
        if i1 < i2:
            yield Piece("gone", " ".join(old[i1:i2]))
        if j1 < j2:
            yield Piece("new", " ".join(new[j1:j2]))
