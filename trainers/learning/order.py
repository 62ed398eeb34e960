"""Which sentences a step learns from: a pure function of the seed and the step.

No iterator has a position that a checkpoint must keep, and every process can compute what the
others see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np


@dataclass(frozen=True)
class Order:
    """Batches of a corpus, epoch after epoch, each epoch in an order of its own.

    Attributes:
        lengths: tokens of each sentence.
        batch_size: sentences a step; the incomplete batch at an epoch's end is skipped.
        seed: of the order.
        grouping: batches that are sorted by length together, so that a batch has sentences of
            similar length and little padding; 1 for none.
    """

    lengths: Sequence[int]
    batch_size: int
    seed: int
    grouping: int = 1
    _epoch: object = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_epoch", lru_cache(maxsize=2)(self._shuffled))

    @property
    def steps_per_epoch(self) -> int:
        """Batches in an epoch; a corpus smaller than a batch is one batch."""
        return max(1, len(self.lengths) // self.batch_size)

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices, shape (batch_size,).

        >>> order = Order([3, 1, 2, 9], batch_size=2, seed=0)
        >>> sorted([*order.at(0), *order.at(1)]) == sorted([*order.at(2), *order.at(3)])
        True
        """
        epoch, place = divmod(step, self.steps_per_epoch)
        batches: np.ndarray = self._epoch(epoch)  # type: ignore[operator]
        return batches[place]

    def _shuffled(self, epoch: int) -> np.ndarray:
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.lengths))
        if len(order) < self.batch_size:
            return order[None]
        order = order[: self.steps_per_epoch * self.batch_size]
        if self.grouping > 1:
            order = self._by_length(order)
        batches = order.reshape(self.steps_per_epoch, self.batch_size)
        return batches[random.permutation(len(batches))] if self.grouping > 1 else batches

    def _by_length(self, order: np.ndarray) -> np.ndarray:
        lengths = np.asarray(self.lengths)
        size = self.grouping * self.batch_size
        groups = [order[start : start + size] for start in range(0, len(order), size)]
        return np.concatenate([g[np.argsort(lengths[g], kind="stable")] for g in groups])
