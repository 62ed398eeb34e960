"""A text's tokens as the metrics compare them, each with its place in the text as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...errors import MissingExtraError
from ...metrics.text import preparation


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
