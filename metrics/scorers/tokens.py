"""How a sentence becomes the words that lexicons and word vectors know; named in signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..text import preparation
from .words import words

Tokens = Literal["words", "whitespace"]


def tokenized(texts: Sequence[str], language: str = "en", how: Tokens = "words") -> list[str]:
    """Sentences as tokens joined by single spaces.

    Args:
        texts: N sentences as a system wrote them.
        language: BCP 47.
        how: ``words`` cleans, lower-cases and splits as the language asks (English: contractions as
            in the Penn Treebank, as public word vectors have them); ``whitespace`` takes what
            spaces separate, as it is.

    >>> tokenized(["I do n't like it , really.", "Don't!"])
    ["i do n't like it , really .", "do n't !"]
    """
    if how == "whitespace":
        return [" ".join(text.split()) for text in texts]
    known = preparation(language)
    if known.is_english:
        return [" ".join(words(text)) for text in known.clean(texts)]
    return known.for_language_model(texts)


def tokens_name(language: str, how: Tokens) -> str:
    """How signatures name the tokens."""
    if how == "whitespace":
        return how
    known = preparation(language)
    return f"{known.clean_name}+words" if known.is_english else known.language_model_name
