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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from ...errors import InputError, unknown_name
from ...metrics.statistics import SEED, divide, percentile_interval
from .result import rounded

Coefficient = Literal["pearson", "spearman", "kendall_b", "kendall_c"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
_BLOCK = 512  # rows of the matrix of pairs, or replicates, that are in memory at once
_LEVELS = 32  # distinct human scores up to which ranks need no sorting of every replicate
_FEW = 64  # distinct values up to which a replicate's own number of them is counted


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is computed.

    Attributes:
        resamples: bootstrap replicates and permutations.
        seed: of both.
        all_aspects: compare every metric with every aspect, not only with those it measures.
        differences: test pairs of metrics.
    """

    resamples: int = 1000
    seed: int = SEED
    all_aspects: bool = False
    differences: bool = True

    def __post_init__(self) -> None:
        """Check the number of resamples.

        Raises:
            InputError: too few for an interval, or too many for the memory.
        """
        if not 100 <= self.resamples <= 100_000:
            raise InputError(f"{self.resamples} resamples: from 100 to 100,000 make sense")


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
    def human_ties(self) -> Ties:
        """Ties among the human scores."""
        return Ties.of(self.human_groups, self)

    @cached_property
    def small(self) -> np.ndarray:
        """The counts with 32 bits: whole numbers, and a replicate needs no more than 6 digits."""
        return self.counts.astype(np.float32)

    def by_item(self, columns: np.ndarray) -> np.ndarray:
        """Sums over the outputs of each sentence: (N, K) to (I, K)."""
        sums = np.zeros((self.size, columns.shape[1]))
        np.add.at(sums, self.items, columns)
        return sums

    def quadratic(self, matrix: np.ndarray) -> np.ndarray:
        """The quadratic form of each replicate's counts: (I, I) to (R,)."""
        if len(self.counts) < _BLOCK:
            return np.asarray(np.einsum("ri,ri->r", self.counts @ matrix, self.counts))
        product = self.small @ matrix.astype(np.float32)
        return np.asarray(np.einsum("ri,ri->r", product, self.small), dtype=np.float64)

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


@dataclass(frozen=True, eq=False)
class Ties:
    """Ties in each replicate, from the sizes T of its groups of equal values.

    Attributes:
        pairs: tied pairs, the sum of T (T - 1) / 2: shape (R,).
        spread: sum of squares of the midranks less their mean, (n^3 - n) / 12 less the same for
            each group (Kendall 1945): shape (R,).
    """

    pairs: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, groups: Groups, pairs: Pairs) -> Ties:
        """Count them. An output that shares its value with none is a group of its own copies."""
        sizes = np.bincount(groups.codes, minlength=groups.number)
        single = sizes[groups.codes] == 1
        alone = np.bincount(pairs.items[single], minlength=pairs.size).astype(np.float64)
        n, counts = pairs.drawn, pairs.counts
        squares, cubes = (counts**2) @ alone, (counts**3) @ alone
        shared = np.flatnonzero(sizes > 1)
        place = np.full(groups.number, -1)
        for begin in range(0, len(shared), _BLOCK):
            some = shared[begin : begin + _BLOCK]
            place[:] = -1
            place[some] = np.arange(len(some))
            of = place[groups.codes]
            where = np.zeros((pairs.size, len(some)))
            np.add.at(where, (pairs.items[of >= 0], of[of >= 0]), 1.0)
            total = counts @ where
            squares += np.einsum("rg,rg->r", total, total)
            cubes += np.einsum("rg,rg,rg->r", total, total, total)
        return cls((squares - n) / 2, (n**3 - cubes) / 12)


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


def replicates(
    names: Sequence[Coefficient], metric: np.ndarray, pairs: Pairs
) -> dict[Coefficient, np.ndarray]:
    """Coefficients in every replicate: name to shape (R,); NaN where one is undefined.

    Args:
        names: which coefficients.
        metric: shape (N,), the metric's scores of the same outputs.
        pairs: human scores, items and replicates. For the coefficient of the study itself, one
            replicate that has every item once.

    Raises:
        InputError: the metric has another number of scores, or one that is NaN.
    """
    if metric.shape != pairs.human.shape or not np.isfinite(metric).all():
        raise InputError(f"{metric.shape} metric scores of {pairs.human.shape} outputs, or a NaN")
    found: dict[Coefficient, np.ndarray] = {}
    if "pearson" in names:
        found["pearson"] = _pearson(metric, pairs)
    groups = Groups.of(metric)
    if "spearman" in names or "kendall_b" in names:
        ties = Ties.of(groups, pairs)
    if "spearman" in names:
        found["spearman"] = _spearman(groups, ties, pairs)
    if "kendall_b" in names or "kendall_c" in names:
        concordant, number = _concordance(groups, pairs), pairs.drawn
    if "kendall_b" in names:
        every = number * (number - 1) / 2
        untied = (every - ties.pairs) * (every - pairs.human_ties.pairs)
        found["kendall_b"] = divide(concordant, np.sqrt(np.maximum(untied, 0)))
    if "kendall_c" in names:
        least = np.minimum(pairs.distinct(groups), pairs.distinct(pairs.human_groups))
        found["kendall_c"] = divide(2 * concordant * least, number**2 * (least - 1))
    return {name: found[name] for name in names}


def coefficient(name: Coefficient, metric: np.ndarray, human: np.ndarray) -> float:
    """The coefficient of two lists; NaN if one of them has only one value.

    >>> round(coefficient("kendall_b", np.array([1.0, 2, 3]), np.array([1.0, 3, 3])), 4)
    0.8165
    """
    once = Pairs(human, np.arange(len(human)), np.ones((1, len(human))))
    return float(replicates([name], metric, once)[name][0])


def _pearson(metric: np.ndarray, pairs: Pairs) -> np.ndarray:
    x, h = metric - metric.mean(), pairs.human - pairs.human.mean()  # fewer digits are lost
    columns = np.stack([np.ones_like(x), x, h, x * x, h * h, x * h], axis=1)
    n, sx, sh, sxx, shh, sxh = (pairs.counts @ pairs.by_item(columns)).T
    spread = np.maximum(sxx - sx * sx / n, 0) * np.maximum(shh - sh * sh / n, 0)
    tiny = 1e-12 * (x @ x) * (h @ h) * 1e-6  # rounding, not spread
    return np.clip(divide(sxh - sx * sh / n, np.sqrt(np.where(spread > tiny, spread, 0))), -1, 1)


def _spearman(groups: Groups, ties: Ties, pairs: Pairs) -> np.ndarray:
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
        together += ranks[:, level] * pairs.quadratic(signs) / 2
    spread = ties.spread * pairs.human_ties.spread
    return divide(together, np.sqrt(np.maximum(spread, 0)))


def _members(groups: Groups, pairs: Pairs) -> np.ndarray:
    """How many outputs of each item are in each group: (I, G)."""
    cells = pairs.items * groups.number + groups.codes
    flat = np.bincount(cells, minlength=pairs.size * groups.number)
    return flat.reshape(pairs.size, groups.number).astype(np.float64)


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
    """Concordant less discordant pairs in each replicate: shape (R,).

    From sums of sign x sign over ordered pairs of outputs of two items: (I, I).
    """
    order = np.argsort(pairs.items, kind="stable")
    a, b = (some.codes[order].astype(np.int32) for some in (groups, pairs.human_groups))
    starts = np.searchsorted(pairs.items[order], np.arange(pairs.size))
    rows = np.empty((len(a), pairs.size))
    for begin in range(0, len(a), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        signs = np.sign(a[block, None] - a) * np.sign(b[block, None] - b)
        rows[block] = np.add.reduceat(signs, starts, axis=1, dtype=np.int32)
    return pairs.quadratic(np.add.reduceat(rows, starts, axis=0)) / 2


def bounds(value: float, drawn: np.ndarray) -> tuple[float | None, float | None]:
    """The percentile interval of a value from its replicates; ``None`` where it is undefined."""
    found = percentile_interval(value, drawn)
    return (rounded(found.low), rounded(found.high)) if found else (None, None)


SystemCoefficient = Literal["pearson", "spearman", "kendall_b", "accuracy"]
SYSTEM_COEFFICIENTS: tuple[SystemCoefficient, ...] = get_args(SystemCoefficient)


def correlate(name: str, metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """A coefficient of each row: (R, S) and (R, S) to (R,); NaN where it is undefined.

    ``accuracy`` is the share of pairs of systems on which both say the same: better, worse or
    equal (Kocmi et al. 2021, "To Ship or Not to Ship", with ties as in Deutsch et al. 2023);
    undefined where people prefer none.

    Raises:
        UnknownNameError: no such coefficient.

    >>> correlate("accuracy", np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]))
    array([0.66666667])
    """
    if name == "pearson":
        return _pearson_of_rows(metric, human)
    if name == "spearman":
        from scipy.stats import rankdata

        return _pearson_of_rows(rankdata(metric, axis=1), rankdata(human, axis=1))
    first, second = np.triu_indices(metric.shape[1], k=1)
    a = np.sign(metric[:, first] - metric[:, second])
    b = np.sign(human[:, first] - human[:, second])
    if name == "accuracy":
        return np.where(b.any(axis=1), (a == b).mean(axis=1), np.nan)
    if name != "kendall_b":
        raise unknown_name("coefficient", name, SYSTEM_COEFFICIENTS)
    untied = (a != 0).sum(axis=1) * (b != 0).sum(axis=1)
    return divide((a * b).sum(axis=1), np.sqrt(untied))


def _pearson_of_rows(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    x = metric - metric.mean(axis=1, keepdims=True)
    h = human - human.mean(axis=1, keepdims=True)
    xx, hh = (x * x).sum(axis=1), (h * h).sum(axis=1)
    # A system drawn again and again leaves only rounding.
    size = np.abs(metric).max(axis=1) ** 2 * np.abs(human).max(axis=1) ** 2
    spread = np.where(xx * hh > 1e-20 * size, xx * hh, 0)
    return np.clip(divide((x * h).sum(axis=1), np.sqrt(spread)), -1, 1)
