"""Correlation coefficients of a metric with human scores, and of ten thousand resampled studies.

What is resampled is the source sentence: its outputs by all systems are drawn together, because
they are not independent of each other. A replicate is a row of counts, how often each sentence
was drawn. Pearson's r needs sums over sentences, Kendall's tau a quadratic form of the counts
(how many pairs of two sentences' outputs are ordered alike, times both counts), Spearman's rho
the ranks within the replicate: all without a loop over replicates, and all exactly what the
coefficient of the longer, resampled list would be.

Sources: Kendall (1945) for tau-b, Stuart (1953) for tau-c; Deutsch, Dror and Roth (2021), "A
Statistical Analysis of Summarization Evaluation Metrics using Resampling Methods", for what is
resampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from ...errors import InputError
from ...metrics.statistics import SEED, divide

Coefficient = Literal["pearson", "spearman", "kendall_b", "kendall_c"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
_BLOCK = 512  # rows of the matrix of pairs, or replicates, that are in memory at once
_LEVELS = 32  # distinct human scores up to which ranks need no sorting of every replicate
_FEW = 64  # distinct values up to which a replicate's own number of them is counted


@dataclass(frozen=True, eq=False)
class Pairs:
    """N outputs with a human score each, by source sentence.

    Attributes:
        human: shape (N,), float64, no NaN.
        items: shape (N,), the number of the source sentence, 0 to I-1, each at least once.
        counts: shape (R, I): how often each sentence is drawn in each replicate.
    """

    human: np.ndarray
    items: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        """Check shapes.

        Raises:
            InputError: they do not fit together, or a score is NaN.
        """
        if self.human.shape != self.items.shape or self.human.ndim != 1:
            raise InputError(f"{self.human.shape} scores of {self.items.shape} items")
        if not np.isfinite(self.human).all():
            raise InputError("a human score is not a number: leave that output out")

    @property
    def size(self) -> int:
        """The number of source sentences."""
        return int(self.counts.shape[1])

    @cached_property
    def drawn(self) -> np.ndarray:
        """The number of outputs in each replicate: shape (R,)."""
        return self.counts @ np.bincount(self.items, minlength=self.size).astype(np.float64)

    @cached_property
    def human_groups(self) -> Groups:
        """The human scores by value."""
        return Groups.of(self.human)

    @cached_property
    def human_ties(self) -> np.ndarray:
        """Tied pairs of human scores in each replicate: shape (R,)."""
        return self.tied(self.human_groups)

    def by_item(self, columns: np.ndarray) -> np.ndarray:
        """Sums over the outputs of each sentence: (N, K) to (I, K)."""
        sums = np.zeros((self.size, columns.shape[1]))
        np.add.at(sums, self.items, columns)
        return sums

    def tied(self, groups: Groups) -> np.ndarray:
        """How many pairs of outputs have the same value in each replicate: shape (R,)."""
        pairs = _pair_sums(groups.codes, groups.codes, self.items, self.size, ties=True)
        return (_quadratic(self.counts, pairs) - self.drawn) / 2

    def distinct(self, groups: Groups) -> np.ndarray:
        """How many values occur in each replicate: shape (R,); all of them if they are many."""
        if groups.number > _FEW:
            return np.full(len(self.counts), groups.number)
        where = np.zeros((self.size, groups.number))
        where[self.items, groups.codes] = 1
        return (self.counts @ where > 0).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Groups:
    """Values as numbers of their ascending distinct values.

    Attributes:
        codes: shape (N,), 0 to G-1.
        number: G.
    """

    codes: np.ndarray
    number: int

    @classmethod
    def of(cls, values: np.ndarray) -> Groups:
        """Group equal values."""
        distinct, codes = np.unique(values, return_inverse=True)
        return cls(codes.reshape(-1), len(distinct))


def draw(items: int, resamples: int, seed: int = SEED) -> np.ndarray:
    """How often each of ``items`` is drawn in each replicate: shape (resamples, items).

    The same stream as :func:`tstbench.metrics.statistics.resample`, of which no more is kept than
    is asked for.

    Raises:
        InputError: there is nothing to draw from.
    """
    if items < 1:
        raise InputError("nothing to resample: 0 items")
    draws = np.random.RandomState(seed).randint(0, items, size=(resamples, items))
    flat = (draws + np.arange(resamples)[:, None] * items).ravel()
    counts = np.bincount(flat, minlength=resamples * items)
    return counts.reshape(resamples, items).astype(np.float64)


def replicates(name: Coefficient, metric: np.ndarray, pairs: Pairs) -> np.ndarray:
    """A coefficient in every replicate: shape (R,); NaN where it is undefined.

    Args:
        name: which coefficient.
        metric: shape (N,), the metric's scores of the same outputs.
        pairs: human scores, items and replicates. For the coefficient of the study itself, one
            replicate that has every item once.

    Raises:
        InputError: the metric has another number of scores, or one that is NaN.
    """
    if metric.shape != pairs.human.shape or not np.isfinite(metric).all():
        raise InputError(f"{metric.shape} metric scores of {pairs.human.shape} outputs, or a NaN")
    if name == "pearson":
        return _pearson(metric, pairs)
    groups = Groups.of(metric)
    if name == "spearman":
        return _spearman(groups, pairs)
    concordant = _concordance(groups, pairs)
    number = pairs.drawn
    if name == "kendall_c":
        least = np.minimum(pairs.distinct(groups), pairs.distinct(pairs.human_groups))
        return divide(2 * concordant * least, number**2 * (least - 1))
    every = number * (number - 1) / 2
    untied = (every - pairs.tied(groups)) * (every - pairs.human_ties)
    return divide(concordant, np.sqrt(np.maximum(untied, 0)))


def coefficient(name: Coefficient, metric: np.ndarray, human: np.ndarray) -> float:
    """The coefficient of two lists; NaN if one of them has only one value.

    >>> round(coefficient("kendall_b", np.array([1.0, 2, 3]), np.array([1.0, 3, 3])), 4)
    0.8165
    """
    once = Pairs(human, np.arange(len(human)), np.ones((1, len(human))))
    return float(replicates(name, metric, once)[0])


def _pearson(metric: np.ndarray, pairs: Pairs) -> np.ndarray:
    x, h = metric - metric.mean(), pairs.human - pairs.human.mean()  # fewer digits are lost
    columns = np.stack([np.ones_like(x), x, h, x * x, h * h, x * h], axis=1)
    n, sx, sh, sxx, shh, sxh = (pairs.counts @ pairs.by_item(columns)).T
    spread = np.maximum(sxx - sx * sx / n, 0) * np.maximum(shh - sh * sh / n, 0)
    tiny = 1e-12 * (x @ x) * (h @ h) * 1e-6  # rounding, not spread
    return np.clip(divide(sxh - sx * sh / n, np.sqrt(np.where(spread > tiny, spread, 0))), -1, 1)


def _spearman(groups: Groups, pairs: Pairs) -> np.ndarray:
    """Pearson's r of the replicate's midranks.

    An output's midrank less the mean rank is half the sum of sign(x - y) over all y drawn. So the
    product sum of both ranks is, for each human score, its rank times a quadratic form, and the
    spread of midranks follows from the sizes of the groups of ties.
    """
    human = pairs.human_groups
    if human.number > _LEVELS:
        return _spearman_by_sorting(groups, pairs)
    n = pairs.drawn
    sizes = pairs.counts @ _members(human, pairs)  # (R, V)
    ranks = np.cumsum(sizes, axis=1) - sizes / 2 - n[:, None] / 2
    together = np.zeros(len(pairs.counts))
    for level, signs in enumerate(_level_sums(groups, pairs)):
        together += ranks[:, level] * _quadratic(pairs.counts, signs) / 2
    spread = _rank_spread(groups, pairs) * _rank_spread(human, pairs)
    return divide(together, np.sqrt(np.maximum(spread, 0)))


def _members(groups: Groups, pairs: Pairs) -> np.ndarray:
    """How many outputs of each item are in each group: (I, G)."""
    cells = pairs.items * groups.number + groups.codes
    flat = np.bincount(cells, minlength=pairs.size * groups.number)
    return flat.reshape(pairs.size, groups.number).astype(np.float64)


def _rank_spread(groups: Groups, pairs: Pairs) -> np.ndarray:
    """The sum of squares of the replicates' midranks less their mean: shape (R,).

    It is (n^3 - n) / 12 less the same for each group of ties (Kendall 1945). An output that shares
    its value with none is a group of its own copies.
    """
    sizes = np.bincount(groups.codes, minlength=groups.number)
    single = sizes[groups.codes] == 1
    alone = np.bincount(pairs.items[single], minlength=pairs.size).astype(np.float64)
    n, counts = pairs.drawn, pairs.counts
    ties = (counts**3 - counts) @ alone
    shared = np.flatnonzero(sizes > 1)
    for begin in range(0, len(shared), _BLOCK):
        some = shared[begin : begin + _BLOCK]
        place = np.full(groups.number, -1)
        place[some] = np.arange(len(some))
        of = place[groups.codes]
        where = np.zeros((pairs.size, len(some)))
        np.add.at(where, (pairs.items[of >= 0], of[of >= 0]), 1.0)
        total = counts @ where
        ties += (total**3 - total).sum(axis=1)
    return (n**3 - n - ties) / 12


def _level_sums(groups: Groups, pairs: Pairs) -> Iterator[np.ndarray]:
    """For each human score: sums of sign(x - y), x of an output with that score; each (I, I)."""
    order = np.argsort(pairs.items, kind="stable")
    y = groups.codes[order].astype(np.int32)
    starts = np.searchsorted(pairs.items[order], np.arange(pairs.size))
    for level in range(pairs.human_groups.number):
        sums = np.zeros((pairs.size, pairs.size))
        for rows in _blocks(np.flatnonzero(pairs.human_groups.codes == level)):
            signs = np.sign(groups.codes[rows].astype(np.int32)[:, None] - y)
            np.add.at(sums, pairs.items[rows], np.add.reduceat(signs, starts, axis=1))
        yield sums


def _spearman_by_sorting(groups: Groups, pairs: Pairs) -> np.ndarray:
    """The same from cumulative counts, for human scores with many values."""
    found = np.empty(len(pairs.counts))
    human = pairs.human_groups
    order, h_order = (np.argsort(some.codes, kind="stable") for some in (groups, human))
    starts = np.searchsorted(groups.codes[order], np.arange(groups.number))
    h_starts = np.searchsorted(human.codes[h_order], np.arange(human.number))
    for begin in range(0, len(found), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        weights = pairs.counts[block][:, pairs.items]
        n = weights.sum(axis=1, keepdims=True)
        sorted_weights = weights[:, order]
        x_rank, x_total = _midranks(np.add.reduceat(sorted_weights, starts, axis=1), n)
        h_rank, h_total = _midranks(np.add.reduceat(weights[:, h_order], h_starts, axis=1), n)
        both = sorted_weights * h_rank[:, human.codes[order]]
        together = (np.add.reduceat(both, starts, axis=1) * x_rank).sum(axis=1)
        spread = (x_total * x_rank**2).sum(axis=1) * (h_total * h_rank**2).sum(axis=1)
        found[block] = divide(together, np.sqrt(spread))
    return found


def _midranks(totals: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of the groups less their mean, and the groups' sizes: both (R, G)."""
    before = np.cumsum(totals, axis=1) - totals
    return before + (totals + 1) / 2 - (n + 1) / 2, totals


def _blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    return (rows[begin : begin + _BLOCK] for begin in range(0, len(rows), _BLOCK))


def _concordance(groups: Groups, pairs: Pairs) -> np.ndarray:
    """Concordant less discordant pairs in each replicate: shape (R,)."""
    signs = _pair_sums(groups.codes, pairs.human_groups.codes, pairs.items, pairs.size)
    return _quadratic(pairs.counts, signs) / 2


def _pair_sums(
    first: np.ndarray, second: np.ndarray, items: np.ndarray, size: int, *, ties: bool = False
) -> np.ndarray:
    """Over ordered pairs of outputs of two items: sum of sign x sign, or of ties; (I, I)."""
    order = np.argsort(items, kind="stable")
    a, b = first[order].astype(np.int32), second[order].astype(np.int32)
    starts = np.searchsorted(items[order], np.arange(size))
    rows = np.empty((len(a), size))
    for begin in range(0, len(a), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        if ties:
            cells = (a[block, None] == a).astype(np.int32)
        else:
            cells = np.sign(a[block, None] - a) * np.sign(b[block, None] - b)
        rows[block] = np.add.reduceat(cells, starts, axis=1)
    return np.add.reduceat(rows, starts, axis=0)


def _quadratic(counts: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    if len(counts) < _BLOCK:
        return np.asarray(np.einsum("ri,ri->r", counts @ matrix, counts))
    small = counts.astype(np.float32)  # whole numbers; a replicate needs no more than 6 digits
    product = small @ matrix.astype(np.float32)
    return np.asarray(np.einsum("ri,ri->r", product, small), dtype=np.float64)
