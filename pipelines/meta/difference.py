"""Whether one metric agrees with people better than another, on the same outputs.

Three tests with different assumptions. Williams' test is exact for normal scores of independent
outputs, which several outputs of one sentence are not. The paired bootstrap resamples sentences.
PERM-BOTH exchanges the two metrics' standardised scores of each output by a coin: if they agree
with people equally well, that changes nothing.

Sources: Williams (1959), in the form of Graham and Baldwin (2014), "Testing for Significance of
Increased Correlation with Human Judgment", equation 1; Deutsch, Dror and Roth (2021), "A
Statistical Analysis of Summarization Evaluation Metrics using Resampling Methods", section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...errors import InputError
from ...metrics.statistics import SEED, divide

_BLOCK = 512


def williams(r12: float, r13: float, r23: float, number: int) -> float:
    """Two-sided p-value of the difference of two correlations with the same third variable.

    Args:
        r12: Pearson correlation of human scores and the first metric.
        r13: of human scores and the second metric.
        r23: of the two metrics.
        number: outputs; fewer than four give NaN.

    >>> round(williams(0.65, 0.55, 0.3, 50) / 2, 6)  # one-sided
    0.209286
    """
    if number < 4 or not all(map(math.isfinite, (r12, r13, r23))):
        return math.nan
    from scipy.stats import t  # takes a moment to import

    rest = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23  # determinant of the correlations
    mean = (r12 + r13) / 2
    below = 2 * rest * (number - 1) / (number - 3) + mean**2 * (1 - r23) ** 3
    if below <= 0:  # the metrics are the same up to a linear map
        return 1.0 if math.isclose(r12, r13, abs_tol=1e-12) else math.nan
    statistic = (r12 - r13) * math.sqrt((number - 1) * (1 + r23) / below)
    return float(2 * t.sf(abs(statistic), number - 3))


def perm_both(
    first: np.ndarray,
    second: np.ndarray,
    human: np.ndarray,
    *,
    resamples: int,
    seed: int = SEED,
) -> float:
    """Two-sided PERM-BOTH p-value of a difference of Pearson correlations, sentence level.

    Args:
        first: shape (N,), one metric's scores.
        second: shape (N,), the other's.
        human: shape (N,).
        resamples: number of permutations.
        seed: of the coin.

    Raises:
        InputError: different lengths.
    """
    _check(first, second, human)
    a, b, h = (_standard(values) for values in (first, second, human))
    if not (np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(h).all()):
        return math.nan
    # With a coin per output, exchanged = a + coin * (b - a): sums are linear in the coins.
    columns = np.stack([b - a, b * b - a * a, (b - a) * h], axis=1).astype(np.float32)
    number = len(a)

    def correlations(coins: np.ndarray, sign: float, values: np.ndarray) -> np.ndarray:
        s, ss, sh = (sign * (coins @ columns)).T.astype(np.float64)
        s, ss, sh = s + values.sum(), ss + values @ values, sh + values @ h
        return divide(sh, np.sqrt(np.maximum(ss - s * s / number, 0) * (h @ h)))

    def difference(coins: np.ndarray) -> np.ndarray:
        return correlations(coins, 1.0, a) - correlations(coins, -1.0, b)

    return _permute(difference, number, resamples, seed)


def perm_both_systems(
    first: np.ndarray,
    second: np.ndarray,
    human: np.ndarray,
    systems: np.ndarray,
    correlate: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    resamples: int,
    seed: int = SEED,
) -> float:
    """Two-sided PERM-BOTH p-value at system level, where a system's score is its outputs' mean.

    Args:
        first: shape (N,), one metric's scores.
        second: shape (N,), the other's.
        human: shape (S,), the systems' mean human scores.
        systems: shape (N,), the number of the system, 0 to S-1.
        correlate: coefficient of (R, S) metric scores with (R, S) human scores: shape (R,).
        resamples: number of permutations.
        seed: of the coin.

    Raises:
        InputError: different lengths.
    """
    _check(first, second, systems)
    a, b = _standard(first), _standard(second)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return math.nan
    member = (systems[:, None] == np.arange(len(human))) / np.bincount(systems)
    people = np.broadcast_to(human, (1, len(human)))
    base_a, base_b = a @ member, b @ member
    move = ((b - a)[:, None] * member).astype(np.float32)

    def difference(coins: np.ndarray) -> np.ndarray:
        moved = (coins @ move).astype(np.float64)
        every = np.broadcast_to(people, (len(coins), len(human)))
        return correlate(base_a + moved, every) - correlate(base_b - moved, every)

    return _permute(difference, len(a), resamples, seed)


def _permute(
    difference: Callable[[np.ndarray], np.ndarray], number: int, resamples: int, seed: int
) -> float:
    observed = float(difference(np.zeros((1, number), dtype=np.float32))[0])
    if not math.isfinite(observed):
        return math.nan
    stream = np.random.RandomState(seed)
    width = -(-number // 8)
    extreme = 0
    for begin in range(0, resamples, _BLOCK):
        rows = min(_BLOCK, resamples - begin)
        packed = np.frombuffer(stream.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        coins = np.unpackbits(packed, axis=1, count=number).astype(np.float32)
        found = np.abs(difference(coins))
        extreme += int((found >= abs(observed) - 1e-7).sum())  # coins are 32-bit
    return (extreme + 1) / (resamples + 1)


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1; NaN if all values are equal."""
    spread = values.std()
    if spread == 0:
        return np.full(values.shape, np.nan)
    return np.asarray((values - values.mean()) / spread)


def _check(*columns: np.ndarray) -> None:
    if len({column.shape for column in columns}) != 1:
        raise InputError(f"not aligned: {', '.join(str(column.shape) for column in columns)}")
