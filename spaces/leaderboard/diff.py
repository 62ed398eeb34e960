"""What a system changed: the differences of two texts in marked pieces.

Case and spaces are no differences: tokens are compared as the metrics do. What is shown is the
text as written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from .tokens import Token, tokens

Kind = Literal["same", "gone", "new"]
LEAST_SHARED = 0.5  # of the tokens of both texts: below, marks would hide the sentence


@dataclass(frozen=True)
class Piece:
    """Consecutive tokens that were kept, removed or added.

    Attributes:
        text: as written; of what was kept, as the rewrite has it.
        spaced: whether a space stands before it.
    """

    kind: Kind
    text: str
    spaced: bool


@dataclass(frozen=True)
class Difference:
    """A rewrite compared with its source.

    Attributes:
        pieces: in reading order.
        shared: the share of the tokens of both texts that are the same, 0 to 1.
    """

    pieces: tuple[Piece, ...]
    shared: float

    @property
    def is_rewritten(self) -> bool:
        """Whether so little was kept that marks would not help a reader."""
        return self.shared < LEAST_SHARED


def word_diff(source: str, prediction: str, language: str = "en") -> Difference:
    """What was kept, removed and added.

    >>> [(p.kind, p.text) for p in word_diff("The food was bad !", "the food was great!").pieces]
    [('same', 'the food was'), ('gone', 'bad'), ('new', 'great'), ('same', '!')]
    """
    old, new = tokens(source, language), tokens(prediction, language)
    matcher = SequenceMatcher(None, [t.key for t in old], [t.key for t in new], autojunk=False)
    pieces: list[Piece] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pieces += _piece("same", prediction, new[j1:j2], first=not pieces)
            continue
        pieces += _piece("gone", source, old[i1:i2], first=not pieces)
        pieces += _piece("new", prediction, new[j1:j2], first=not pieces)
    return Difference(tuple(pieces), matcher.ratio())


def _piece(kind: Kind, text: str, run: tuple[Token, ...], *, first: bool) -> Iterator[Piece]:
    """The run as a piece, if there is one; the first token of a text counts as spaced."""
    if run:
        start = run[0].start
        spaced = not first and (start == 0 or text[start - 1].isspace())
        yield Piece(kind, text[start : run[-1].end], spaced)
