"""Other batches of a corpus of two styles: of one style, or all of like length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .corpus import Both
from .loop import Batches


@dataclass(frozen=True)
class OneStyle:
    """The sentences of one style.

    Attributes:
        batches: of both styles.
        first: index of the first sentence of the target style.
        style: 0: source, 1: target.
    """

    batches: Batches
    first: int
    style: int

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices."""
        whole = self.batches.at(step)
        return whole[(whole >= self.first) == bool(self.style)]


class Alike:
    """The sentences of some batches, sorted by length within their style and dealt out again.

    A batch's sentences of one style are then about as long as those of the other: a discriminator
    between styles cannot go by the length of a batch, and there is little padding.

    Args:
        batches: of both styles, first the source's sentences.
        lengths: of all sentences.
        first: index of the first sentence of the target style.
        grouping: batches that are sorted together; 1 leaves them as they are.
        seed: of the order in which they are dealt.
    """

    def __init__(
        self, batches: Both, lengths: Sequence[int], first: int, *, grouping: int, seed: int
    ) -> None:
        self._batches, self._lengths, self._first = batches, np.asarray(lengths), first
        self._grouping, self._seed = grouping, seed
        self._group = lru_cache(maxsize=2)(self._sorted)

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices: those of the source, then those of the target."""
        group, place = divmod(step, self._grouping)
        return self._group(group)[place]

    def _sorted(self, group: int) -> list[np.ndarray]:
        first = group * self._grouping
        drawn = np.stack([self._batches.at(first + i) for i in range(self._grouping)])
        sides = [self._side(drawn[drawn < self._first]), self._side(drawn[drawn >= self._first])]
        order = np.random.default_rng([self._seed, group]).permutation(self._grouping)
        return [np.concatenate([side[place] for side in sides]) for place in order]

    def _side(self, sentences: np.ndarray) -> np.ndarray:
        ordered = sentences[np.argsort(self._lengths[sentences], kind="stable")]
        return ordered.reshape(self._grouping, -1)
