"""Settings that every word-level system has."""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import Count, Natural, setting
from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class WordConfig(SystemConfig):
    """How a corpus becomes words, and what is held out; see :class:`.word_system.WordSystem`.

    ``min_count`` and ``max_length`` have no default here: each paper has its own.
    """

    min_count: int
    max_length: int
    hold_out: Count = setting(500, "sentences of each style to choose weights with")
    seed: Natural = setting(0, "of everything random")

    @property
    def longest_row(self) -> int:
        """Ids of the longest sentence, its end included."""
        return self.max_length

    @property
    def most_words(self) -> int | None:
        """The most frequent words that are kept; ``None`` for all."""
        return None
