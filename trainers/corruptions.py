"""Sentences made unacceptable: named, seeded errors of word order, function words and agreement.

Each is an error that systems really make; a corrupted sentence may still be acceptable by chance
(two adjectives swapped).
"""

from __future__ import annotations

import random
from collections.abc import Callable

Corruption = Callable[[list[str], random.Random], list[str] | None]

# Words that a sentence rarely lacks and never repeats directly.
FUNCTION_WORDS = frozenset(
    (
        *("a", "an", "the", "my", "your", "his", "its", "our", "their"),
        *("of", "to", "in", "on", "at", "for", "with", "from", "by", "and"),
        *("is", "are", "was", "were", "am", "be", "been", "do", "does", "did"),
        *("have", "has", "had", "will", "would", "can", "could"),
        *("i", "you", "he", "she", "it", "we", "they", "me", "him", "us", "them"),
    )
)
_OTHER_FORM = {
    "is": "are", "are": "is", "am": "are", "was": "were", "were": "was",
    "has": "have", "have": "has", "does": "do", "do": "does",
    "isn't": "aren't", "aren't": "isn't", "wasn't": "weren't", "weren't": "wasn't",
    "doesn't": "don't", "don't": "doesn't", "this": "these", "these": "this",
    "i": "me", "he": "him", "she": "her", "we": "us", "they": "them",
}  # fmt: skip


def swap_neighbours(words: list[str], rng: random.Random) -> list[str] | None:
    """Swap two adjacent words."""
    places = [i for i in range(len(words) - 1) if words[i].lower() != words[i + 1].lower()]
    if not places:
        return None
    i = rng.choice(places)
    return [*words[:i], words[i + 1], words[i], *words[i + 2 :]]


def move_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Move a word by two or more positions."""
    if len(words) < 4:
        return None
    source = rng.randrange(len(words))
    rest = [*words[:source], *words[source + 1 :]]
    target = rng.choice([i for i in range(len(words)) if abs(i - source) >= 2])
    return [*rest[:target], words[source], *rest[target:]]


def drop_function_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Leave out an article, preposition, pronoun, auxiliary or the like."""
    places = _function_words(words)
    if not places or len(words) < 3:
        return None
    i = rng.choice(places)
    return [*words[:i], *words[i + 1 :]]


def double_function_word(words: list[str], rng: random.Random) -> list[str] | None:
    """Repeat an article, preposition, pronoun, auxiliary or the like."""
    places = _function_words(words)
    if not places:
        return None
    i = rng.choice(places)
    return [*words[: i + 1], *words[i:]]


def break_agreement(words: list[str], rng: random.Random) -> list[str] | None:
    """Substitute the other form: ``is`` for ``are``, ``these`` for ``this``, ``him`` for ``he``."""
    places = [i for i, word in enumerate(words) if word.lower() in _OTHER_FORM]
    if not places:
        return None
    i = rng.choice(places)
    return [*words[:i], _OTHER_FORM[words[i].lower()], *words[i + 1 :]]


CORRUPTIONS: dict[str, Corruption] = {
    "swap_neighbours": swap_neighbours,
    "move_word": move_word,
    "drop_function_word": drop_function_word,
    "double_function_word": double_function_word,
    "break_agreement": break_agreement,
}


def _function_words(words: list[str]) -> list[int]:
    return [i for i, word in enumerate(words) if word.lower() in FUNCTION_WORDS]
