"""Settings that every word-level system has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class WordConfig(SystemConfig):
    """How a corpus becomes words, and what is held out; see :class:`.word_system.WordSystem`.

    ``min_count`` and ``max_length`` have no default here: each paper has its own.
    """

    min_count: int
    max_length: int
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "sentences of each style to choose weights with"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

    @property
    def longest_row(self) -> int:
        """Ids of the longest sentence, its end included."""
        return self.max_length

    @property
    def most_words(self) -> int | None:
        """The most frequent words that are kept; ``None`` for all."""
        return None
