"""Per-sentence statistics, from which corpus scores, intervals and significance follow.

A metric computes for each of N sentences a row of K numbers whose *sum* over sentences determines
the corpus score: n-gram matches and lengths for BLEU, hits for accuracy, log-probability and
words for perplexity. Resampling sentences is then a matrix product, so a thousand bootstrap
replicates of every metric together take milliseconds and nothing is scored twice.

Source: Koehn (2004), "Statistical Significance Tests for Machine Translation Evaluation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..errors import InputError

RESAMPLES = 1000
LEVEL = 0.95
SEED = 12345


@dataclass(frozen=True)
class Statistics:
    """What a metric needs from every sentence, and how sums become a score.

    Attributes:
        rows: shape (N, K), float64; summed over sentences.
        aggregate: from sums of shape (..., K) to scores of shape (...).
        per_sentence: shape (N,), one score per sentence, NaN where it is undefined; ``None`` for a
            metric that is not defined for single sentences.
    """

    rows: np.ndarray
    aggregate: Callable[[np.ndarray], np.ndarray]
    per_sentence: np.ndarray | None

    @property
    def value(self) -> float:
        """The corpus score; NaN where it is undefined."""
        return float(self.aggregate(self.rows.sum(axis=0)))

    def replicates(self, counts: np.ndarray) -> np.ndarray:
        """Scores of resampled corpora: (R, N) counts, as :func:`resample` makes, to (R,)."""
        return self.aggregate(counts @ self.rows)


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

    def aggregate(sums: np.ndarray) -> np.ndarray:
        return scale * divide(sums[..., 0], sums[..., 1])

    return Statistics(rows, aggregate, scale * values)


def divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Element-wise quotient, NaN (without a warning) where the denominator is 0."""
    out = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    return np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)


@lru_cache(maxsize=8)
def resample(n: int, resamples: int = RESAMPLES, seed: int = SEED) -> np.ndarray:
    """How often each of n sentences is drawn in each replicate: shape (resamples, n), float64.

    Every system of a direction shares these counts, which is what makes comparisons paired.
    ``RandomState`` is used because NumPy promises that its stream never changes.
    """
    if n < 1:
        raise InputError("nothing to resample: 0 sentences")
    draws = np.random.RandomState(seed).randint(0, n, size=(resamples, n))
    counts = np.zeros((resamples, n))
    np.add.at(counts, (np.arange(resamples)[:, None], draws), 1.0)
    counts.setflags(write=False)
    return counts


def interval(
    statistics: Statistics, resamples: int = RESAMPLES, level: float = LEVEL, seed: int = SEED
) -> Interval | None:
    """Percentile bootstrap interval of the corpus score; ``None`` if that is undefined."""
    counts = resample(len(statistics.rows), resamples, seed)
    replicates = statistics.replicates(counts)
    replicates = replicates[np.isfinite(replicates)]
    if not len(replicates) or not np.isfinite(statistics.value):
        return None
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(replicates, [tail, 100 - tail])
    return Interval(float(low), float(high), level, resamples, seed)


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
    counts = resample(len(first.rows), resamples, seed)
    differences = first.replicates(counts) - second.replicates(counts)
    return p_value(first.value - second.value, differences)


def p_value(observed: float, differences: np.ndarray) -> float:
    """Two-sided paired-bootstrap p-value; NaN where the difference is undefined.

    The replicates' differences, shape (R,), are centred on the observed one, and the p-value is
    the share of them that are at least as extreme, counting the observation itself once.
    Source: Koehn (2004), in the form of Riezler and Maxwell (2005, section 4).
    """
    if not np.isfinite(observed) or not np.isfinite(differences).all():
        return float("nan")
    extreme = np.abs(differences - observed) >= abs(observed) - 1e-12
    return float((extreme.sum() + 1) / (len(differences) + 1))


def concatenate(parts: Sequence[Statistics]) -> tuple[np.ndarray, list[slice]]:
    """The rows of several metrics side by side, and the columns of each."""
    stops = np.cumsum([part.rows.shape[1] for part in parts])
    starts = np.concatenate([[0], stops[:-1]])
    columns = [slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]
    return np.concatenate([part.rows for part in parts], axis=1), columns
