"""Which sentences a step learns from: a pure function of the seed and the step.

No iterator has a position that a checkpoint must keep, and every process can compute what the
others see.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

import numpy as np

from .loop import Batches

Answer = TypeVar("Answer")


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


Lengths = tuple[Sequence[int], Sequence[int]]  # of the sentences, by style (0: source, 1: target)


@dataclass(frozen=True)
class OneStyle:
    """The sentences of one style.

    Attributes:
        order: counts them from 0.
        first: index of the first of them.
    """

    order: Batches
    first: int

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices."""
        found: np.ndarray = self.order.at(step) + self.first
        return found


class Both:
    """Batches of both styles: sentences of the source, then those of the target.

    A batch's sentences of one style are about as long as those of the other, if they are grouped:
    a discriminator between styles cannot go by the length, and there is little padding.

    Args:
        lengths: of the sentences, by style.
        batch_size: sentences of each style in a batch.
        seed: of the order.
        grouping: this many batches are drawn together and split by length, in both styles alike;
            1 for none. A small corpus is grouped less.

    Attributes:
        sides: the same batches' sentences of one style, by style.
    """

    def __init__(self, lengths: Lengths, batch_size: int, seed: int, grouping: int = 1) -> None:
        fit = min(map(len, lengths)) // batch_size
        self._grouping = max(1, min(grouping, fit))
        self._orders = [
            Order(side, batch_size * self._grouping, 2 * seed + style)
            for style, side in enumerate(lengths)
        ]
        self.sides = tuple(
            OneStyle(_Split(order, self._grouping, seed), style * len(lengths[0]))
            for style, order in enumerate(self._orders)
        )

    @property
    def steps_per_epoch(self) -> int:
        """Batches until the larger style has been seen once."""
        return self._grouping * max(order.steps_per_epoch for order in self._orders)

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices, shape (2 * batch_size,)."""
        return np.concatenate([side.at(step) for side in self.sides])


class InTurn:
    """Batches of one style each: of two in a row, one is of the source, one of the target.

    Args:
        lengths: of the sentences, by style.
        batch_size: sentences in a batch.
        seed: of the order.
        grouping: see :class:`Order`.
    """

    def __init__(self, lengths: Lengths, batch_size: int, seed: int, grouping: int = 1) -> None:
        self._seed = seed
        self._orders = [
            Order(side, batch_size, 2 * seed + style, grouping)
            for style, side in enumerate(lengths)
        ]
        self._sides = [
            OneStyle(order, style * len(lengths[0])) for style, order in enumerate(self._orders)
        ]

    @property
    def steps_per_epoch(self) -> int:
        """Until half of the larger style has been seen, as in TSST's ``data_loader.py``."""
        return 2 * (max(order.steps_per_epoch for order in self._orders) // 2 + 1)

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices."""
        turn, place = divmod(step, 2)
        style = (np.random.default_rng([self._seed, turn]).integers(2) + place) % 2
        return self._sides[style].at(turn)


@dataclass(frozen=True)
class _Split:
    """Each batch of an order, split by length; ``seed`` is of the splits' turns."""

    order: Order
    parts: int
    seed: int

    def at(self, step: int) -> np.ndarray:
        group, place = divmod(step, self.parts)
        drawn = self.order.at(group)
        if self.parts == 1:
            return drawn
        # The lengths take turns at random, or the model would see a trend.
        turns = np.random.default_rng([self.seed, group]).permutation(self.parts)
        ordered = drawn[np.argsort(np.asarray(self.order.lengths)[drawn], kind="stable")]
        return np.array_split(ordered, self.parts)[int(turns[place])]


def by_length(
    rows: Sequence[Sequence[int]],
    size: int,
    answer: Callable[[list[int]], Sequence[Answer]],
) -> list[Answer]:
    """One answer a row, in the order of the rows, computed in batches of like length.

    Args:
        rows: anything with a length.
        size: rows a batch.
        answer: gives the answers to these rows (indices), in the order it is given them.

    >>> by_length([[7, 7], [7], [7, 7, 7]], 2, lambda batch: [10 * i for i in batch])
    [0, 10, 20]
    """
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found: dict[int, Answer] = {}
    for start in range(0, len(order), size):
        batch = order[start : start + size]
        found.update(zip(batch, answer(batch), strict=True))
    return [found[i] for i in range(len(rows))]
