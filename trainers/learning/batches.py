"""Batches of a corpus of two styles: of both at once, of one, or of each in turn.

An index counts the sentences of both styles, those of the source style first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .loop import Batches
from .order import Order

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
