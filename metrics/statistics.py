"""Per-sentence statistics, from which corpus scores, intervals and significance follow.

A metric computes for each of N sentences a row of K numbers whose *sum* over sentences determines
the corpus score: n-gram matches and lengths for BLEU, hits for accuracy, log-probability and
words for perplexity. Resampling sentences is then a matrix product, so a thousand bootstrap
replicates of every metric together take milliseconds and nothing is scored twice. How often each
sentence was drawn is a matrix too; of many sentences, only a block of it is in memory at once.

Source: Koehn (2004), "Statistical Significance Tests for Machine Translation Evaluation".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np

from ..errors import InputError

T = TypeVar("T")

RESAMPLES = 1000
LEVEL = 0.95
SEED = 12345
# With fewer sentences the bootstrap finds differences that are not there: between two equal systems
# on 51 % of test sets of two sentences, 16 % of five, 10 % of ten, 7 % of twenty, instead of 5 %.
FEWEST = 20
# Draws of one product, as float64: 64 MB. A thousand resamples of up to 8,388 sentences are one
# product, whose last digits would be others if it were split; longer corpora are done in blocks.
_TOGETHER = 1 << 23
_UNIT = 8  # replicates: blocks of whole units, because BLAS may add up the remainder in other ways


@dataclass(frozen=True)
class Wording:
    """What one wording of a judge contributes to a score.

    Attributes:
        statistics: of its own scores, in [0, 1]; NaN where an answer is no score.
        answers: how many answers there were (``asked``), and how many were no score, by reason.
    """

    statistics: Statistics
    answers: Mapping[str, int]


@dataclass(frozen=True)
class Statistics:
    """What a metric needs from every sentence, and how sums become a score.

    Attributes:
        rows: shape (N, K), float64 or, of many sentences, whole numbers; summed over sentences.
        aggregate: from sums of shape (..., K) to scores of shape (...).
        per_sentence: shape (N,), one score per sentence, NaN where it is undefined; ``None`` for a
            metric that is not defined for single sentences.
        wordings: what a judge said, by wording; a score is the mean over them.
    """

    rows: np.ndarray
    aggregate: Callable[[np.ndarray], np.ndarray]
    per_sentence: np.ndarray | None
    wordings: Mapping[str, Wording] = field(default_factory=dict)

    @property
    def value(self) -> float:
        """The corpus score; NaN where it is undefined."""
        return float(self.aggregate(self.rows.sum(axis=0, dtype=np.float64)))


@dataclass(frozen=True)
class Interval:
    """A percentile bootstrap confidence interval."""

    low: float
    high: float
    level: float = LEVEL
    resamples: int = RESAMPLES
    seed: int = SEED

    def __str__(self) -> str:
        return (
            f"bootstrap-percentile|level:{self.level}|resamples:{self.resamples}|seed:{self.seed}"
        )


def mean_statistics(values: np.ndarray, scale: float = 1.0) -> Statistics:
    """Statistics of a mean, multiplied by ``scale``; NaN values are left out.

    >>> mean_statistics(np.array([1.0, 0.0, np.nan]), scale=100).value
    50.0
    """
    values = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(values)
    rows = np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=1)
    return Statistics(rows, partial(quotient, scale=scale), scale * values)


def quotient(sums: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """The first column's sum over the second's, multiplied by ``scale``: shape (..., 2) to (...).

    A function of a module, as every ``aggregate`` of ours: by its name, it can be kept in a file.
    """
    return scale * divide(sums[..., 0], sums[..., 1])


def divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Element-wise quotient, NaN (without a warning) where the denominator is 0."""
    out = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)


@lru_cache(maxsize=8)
def resample(n: int, resamples: int = RESAMPLES, seed: int = SEED) -> np.ndarray:
    """How often each of n sentences is drawn in each replicate: shape (resamples, n), float64.

    Every system of a direction shares these counts, which is what makes comparisons paired.
    ``RandomState`` is used because NumPy promises that its stream never changes. All counts are
    in memory, eight bytes each: for many sentences, use :func:`bootstrap`.

    Raises:
        InputError: there is no sentence.
    """
    _check_size(n)
    counts = _draw(np.random.RandomState(seed), n, resamples)
    counts.setflags(write=False)
    return counts


def resampled_sums(
    rows: Sequence[np.ndarray], resamples: int = RESAMPLES, seed: int = SEED
) -> list[np.ndarray]:
    """Sums over resampled sentences: for each array of shape (N, K), one of shape (resamples, K).

    Beside the arrays, there are about 128 MB in memory for a million sentences, and of an array of
    whole numbers a copy as float64.

    Raises:
        InputError: there is no sentence.
    """
    products = [
        [counts @ some for some in rows] for counts in _blocks(len(rows[0]), resamples, seed)
    ]
    return [np.concatenate(parts) for parts in zip(*products, strict=True)]


def bootstrap(
    *statistics: Statistics, resamples: int = RESAMPLES, seed: int = SEED
) -> list[np.ndarray]:
    """Scores of resampled corpora, shape (resamples,), of one or more metrics or systems.

    Given together, they are drawn once; each gets the replicates that it would get alone. With
    :func:`too_few` sentences all are NaN, so that nothing that follows has an interval or a test.

    Raises:
        InputError: there is no sentence.

    >>> low, high = bootstrap(mean_statistics(np.zeros(20)), mean_statistics(np.ones(20)))
    >>> low.shape, low.max(), high.min()
    ((1000,), np.float64(0.0), np.float64(1.0))
    """
    if 0 < len(statistics[0].rows) < FEWEST:
        return [np.full(resamples, np.nan) for _ in statistics]
    sums = resampled_sums([one.rows for one in statistics], resamples, seed)
    return [one.aggregate(some) for one, some in zip(statistics, sums, strict=True)]


def too_few(sentences: int) -> str | None:
    """Why so many sentences have no interval and no test; ``None`` if they have.

    >>> too_few(12)
    'too few sentences for intervals and tests: 12; 20 are needed'
    """
    if sentences >= FEWEST:
        return None
    return f"too few sentences for intervals and tests: {sentences}; {FEWEST} are needed"


def _blocks(n: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """The rows of :func:`resample`, from the first to the last, as many at once as fit."""
    if n * resamples <= _TOGETHER:
        yield resample(n, resamples, seed)
        return
    stream = np.random.RandomState(seed)
    blocks = -(-n * resamples // _TOGETHER)
    size = -(-resamples // (blocks * _UNIT)) * _UNIT
    for start in range(0, resamples, size):
        yield _draw(stream, n, min(size, resamples - start))


def _draw(stream: np.random.RandomState, n: int, resamples: int) -> np.ndarray:
    """The next replicates of a stream, which does not depend on how many are drawn at once."""
    counts = np.empty((resamples, n))
    for replicate in counts:
        replicate[:] = np.bincount(stream.randint(0, n, size=n), minlength=n)
    return counts


def _check_size(n: int) -> None:
    if n < 1:
        raise InputError("nothing to resample: 0 sentences")


def interval(
    statistics: Statistics, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = SEED
) -> Interval | None:
    """Percentile bootstrap interval of the corpus score; ``None`` if that is undefined."""
    (replicates,) = bootstrap(statistics, resamples=resamples, seed=seed)
    return percentile_interval(statistics.value, replicates, level, seed)


def percentile_interval(
    value: float, replicates: np.ndarray, level: float = LEVEL, seed: int = SEED
) -> Interval | None:
    """The interval of a corpus score from its replicates, shape (R,), drawn with ``seed``.

    Replicates that are not finite are left out; ``None`` if none is left, or the score is not.
    """
    finite = replicates[np.isfinite(replicates)]
    if not len(finite) or not np.isfinite(value):
        return None
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(finite, [tail, 100 - tail])
    return Interval(float(low), float(high), level, len(replicates), seed)


def paired_p_value(
    first: Statistics, second: Statistics, resamples: int = RESAMPLES, seed: int = SEED
) -> float:
    """Two-sided p-value of the difference between two systems on the same sentences.

    Raises:
        InputError: the systems were scored on different numbers of sentences.
    """
    if len(first.rows) != len(second.rows):
        sizes = f"{len(first.rows)} and {len(second.rows)}"
        raise InputError(f"paired comparison needs the same sentences, got {sizes}")
    ours, theirs = bootstrap(first, second, resamples=resamples, seed=seed)
    return p_value(first.value - second.value, ours - theirs)


def p_value(observed: float, differences: np.ndarray) -> float:
    """Two-sided paired-bootstrap p-value; NaN where the difference is undefined.

    The replicates' differences, shape (R,), are centred on the observed one, and the p-value is
    the share of them that are at least as extreme, counting the observation itself once.
    Source: Koehn (2004), in the form of Riezler and Maxwell (2005, section 4).
    """
    return float(p_values(np.array([observed]), differences[None])[0])


def p_values(observed: np.ndarray, differences: np.ndarray) -> np.ndarray:
    """The :func:`p_value` of each row of differences, shape (N, R)."""
    count = differences.shape[1]
    with np.errstate(invalid="ignore"):  # of infinite ones
        away = np.abs(differences - observed[:, None])
        extreme = (away >= np.abs(observed)[:, None] - 1e-12).sum(axis=1)
    defined = np.isfinite(away).all(axis=1) & (count > 0)
    return np.where(defined, (extreme + 1) / (count + 1), np.nan)


def concatenate(parts: Sequence[Statistics]) -> tuple[np.ndarray, list[slice]]:
    """The rows of several metrics side by side, and the columns of each."""
    stops = np.cumsum([part.rows.shape[1] for part in parts])
    starts = np.concatenate([[0], stops[:-1]])
    columns = [slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
    return np.concatenate([part.rows for part in parts], axis=1), columns


def share_statistics(
    distribution: np.ndarray, wanted: int, failed: np.ndarray | None = None
) -> Statistics:
    """Percentage of sentences whose most probable class is the wanted one.

    Args:
        distribution: P(class | sentence), shape (N, C).
        wanted: the column of that class.
        failed: booleans, shape (N,): sentences that count as misses, whatever the classifier says.
            Empty predictions are among them: a classifier assigns them a class too, which would
            reward every failure of a system if that class is the wanted one.

    Raises:
        InputError: no such column, a probability that is NaN, or ``failed`` of another length.

    >>> share_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), wanted=1).value
    50.0
    >>> share_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), 1, np.array([False, True])).value
    0.0
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    if distribution.ndim != 2 or not 0 <= wanted < distribution.shape[1]:
        raise InputError(f"no class {wanted} in a distribution of shape {distribution.shape}")
    if np.isnan(distribution).any():
        row = int(np.isnan(distribution).any(axis=1).argmax())
        raise InputError(f"the classifier returned NaN for sentence {row}")
    hits = distribution.argmax(axis=1) == wanted
    if failed is not None:
        failed = np.asarray(failed, dtype=bool)
        if failed.shape != hits.shape:
            raise InputError(f"failed has shape {failed.shape}, but must have {hits.shape}")
        hits &= ~failed
    return mean_statistics(hits, scale=100.0)


BLOCK = 8192  # sentences; every test set of the benchmark is one block
_PART = 1024  # of a longer one: what is counted of them, n-grams, takes 15 kB a sentence


def in_blocks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items in their order: up to :data:`BLOCK` of them together, more in parts of 1,024.

    >>> [len(some) for some in in_blocks(range(8192))], len(list(in_blocks(range(8193))))
    ([8192], 9)
    """
    size = BLOCK if len(items) <= BLOCK else _PART
    for start in range(0, len(items), size):
        yield items[start : start + size]
