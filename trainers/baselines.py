"""Systems that need no training: the floors and ceilings that a real system is read against."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True)
class Copy:
    """Answers with the source: perfect content, no transfer."""

    def transfer(self, sources: Sequence[str]) -> list[str]:
        """The sources themselves."""
        return list(sources)


@dataclass(frozen=True)
class RandomTarget:
    """Answers with any sentence of the target style: perfect style, no content.

    Attributes:
        sentences: training sentences of the target style.
        seed: of the draw.
    """

    sentences: tuple[str, ...]
    seed: int = 0

    def transfer(self, sources: Sequence[str]) -> list[str]:
        """A random training sentence a source, drawn with replacement."""
        if not self.sentences:
            raise InputError("random-target needs sentences of the target style, got none")
        rng = random.Random(self.seed)
        return [rng.choice(self.sentences) for _ in sources]
