"""What a system changed: the differences of two texts in marked pieces.

Case and spaces are no differences: tokens are compared as the metrics do. What is shown is the
text as written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from ...errors import MissingExtraError
from ...metrics.text import preparation

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


@dataclass(frozen=True)
class Token:
    """One token: what is compared, and the characters of the text that it stands for."""

    key: str
    start: int
    end: int


@lru_cache(maxsize=1 << 14)
def tokens(text: str, language: str = "en") -> tuple[Token, ...]:
    """Cleaned, lower-cased and tokenised, as n-gram models read a text.

    >>> [token.key for token in tokens("A Gift !")] == [token.key for token in tokens("a gift!")]
    True
    """
    found = _placed(text, _keys(text, language))
    if found is None:  # an entity such as &amp; was decoded, for example
        found = _placed(text, text.split()) or []
    after = found[-1].end if found else 0
    beyond = _placed(text, text[after:].split(), after) or []  # cleaning keeps 64 words
    return (*found, *beyond)


def _keys(text: str, language: str) -> list[str]:
    try:
        return preparation(language).for_language_model([text])[0].split()
    except MissingExtraError:  # this language's tokeniser is not installed here: words, then
        return text.lower().split()


def _placed(text: str, keys: Sequence[str], at: int = 0) -> list[Token] | None:
    """The tokens in the text; ``None`` if they differ from it by more than case and spaces."""
    found = []
    for key in keys:
        while at < len(text) and text[at].isspace():
            at += 1
        start, left = at, key
        while left and at < len(text):
            character = text[at]
            if left.startswith(character):
                left = left[1:]
            elif left.startswith(character.lower()):
                left = left[len(character.lower()) :]
            elif not character.isspace():
                return None
            at += 1
        if left:
            return None
        found.append(Token(key, start, at))
    return found
