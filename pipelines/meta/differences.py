"""Which of several metrics agrees better with people: pairs of them, tested on the same outputs.

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
from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from ...errors import InputError
from ...metrics.statistics import SEED, divide, p_value
from .coefficients import Settings, bounds, coefficient, correlate
from .result import MetaDifference, rounded

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
    *,
    resamples: int,
    seed: int = SEED,
) -> float:
    """The same at system level, where a system's score is its outputs' mean.

    Args:
        first: shape (N,), one metric's scores.
        second: shape (N,), the other's.
        human: shape (S,), the systems' mean human scores.
        systems: shape (N,), the number of the system, 0 to S-1.
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
    base_a, base_b = a @ member, b @ member
    move = ((b - a)[:, None] * member).astype(np.float32)

    def difference(coins: np.ndarray) -> np.ndarray:
        moved = (coins @ move).astype(np.float64)
        people = np.broadcast_to(human, (len(coins), len(human)))
        ours, theirs = base_a + moved, base_b - moved
        return correlate("pearson", ours, people) - correlate("pearson", theirs, people)

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


MOST = 6  # metrics of which every pair is tested; of more, the best against each other one
Drawn = Mapping[str, tuple[float, np.ndarray]]  # metric -> coefficient and its replicates


def sentence_differences(
    where: Mapping[str, str | None],
    table: Mapping[str, np.ndarray],
    human: np.ndarray,
    drawn: Drawn,
    settings: Settings,
) -> list[MetaDifference]:
    """Differences of Pearson correlations at sentence level.

    Args:
        where: study, direction, model and aspect.
        table: metric to its scores, shape (N,), all of the same outputs.
        human: shape (N,).
        drawn: metric to its correlation, and the replicates over source sentences.
        settings: number of permutations and seed.
    """

    def tests(a: str, b: str) -> tuple[float, float]:
        permuted = perm_both(
            table[a], table[b], human, resamples=settings.resamples, seed=settings.seed
        )
        between = coefficient("pearson", table[a], table[b])
        return permuted, williams(drawn[a][0], drawn[b][0], between, len(human))

    return _differences(where, "sentence", drawn, tests)


def system_differences(
    where: Mapping[str, str | None],
    means: Mapping[str, tuple[np.ndarray, np.ndarray]],
    human: tuple[np.ndarray, np.ndarray],
    sentence: Mapping[str, np.ndarray],
    systems: np.ndarray,
    settings: Settings,
) -> list[MetaDifference]:
    """Differences of Pearson correlations at system level.

    Args:
        where: study, direction, model and aspect.
        means: metric to the systems' scores, (S,), and their replicates, (R, S).
        human: the systems' mean human scores, and their replicates.
        sentence: metric to its scores of outputs, for those that have them: PERM-BOTH needs them.
        systems: shape (N,), the number of each output's system.
        settings: number of permutations and seed.
    """
    people, people_drawn = human
    drawn = {
        name: (
            float(correlate("pearson", value[None], people[None])[0]),
            correlate("pearson", replicate, people_drawn),
        )
        for name, (value, replicate) in means.items()
    }

    def tests(a: str, b: str) -> tuple[float, float]:
        permuted = float("nan")
        if a in sentence and b in sentence:
            permuted = perm_both_systems(
                sentence[a],
                sentence[b],
                people,
                systems,
                resamples=settings.resamples,
                seed=settings.seed,
            )
        between = float(correlate("pearson", means[a][0][None], means[b][0][None])[0])
        return permuted, williams(drawn[a][0], drawn[b][0], between, len(people))

    return _differences(where, "system", drawn, tests)


def _differences(
    where: Mapping[str, str | None],
    level: str,
    drawn: Drawn,
    tests: Callable[[str, str], tuple[float, float]],
) -> list[MetaDifference]:
    known = [name for name, (value, _) in drawn.items() if np.isfinite(value)]
    ranked = sorted(known, key=lambda name: -drawn[name][0])
    found = []
    for a, b in combinations(ranked, 2):
        if len(ranked) > MOST and a != ranked[0]:
            break
        observed = drawn[a][0] - drawn[b][0]
        gaps = drawn[a][1] - drawn[b][1]
        gaps = gaps[np.isfinite(gaps)]
        low, high = bounds(observed, gaps)
        permuted, williams_p = tests(a, b)
        record = {
            **where,
            "level": level,
            "coefficient": "pearson",
            "first": a,
            "second": b,
            "difference": rounded(observed),
            "low": low,
            "high": high,
            "p_bootstrap": rounded(p_value(observed, gaps)),
            "p_permutation": rounded(permuted),
            "p_williams": rounded(williams_p),
        }
        found.append(MetaDifference.model_validate(record))
    return found
