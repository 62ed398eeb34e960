"""How well each metric agrees with human scores, over the systems that have both.

Bounds are left out: copies and people's own rewrites are far from all systems, so that any metric
that tells them apart would seem to agree with people; and a rewrite by people that is itself a
reference is compared with fewer references than the systems' are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ...metrics.statistics import LEVEL
from ...pipelines.analysis.correlation import FEWEST, Correlation
from .ranking import Ranking


@dataclass(frozen=True)
class Correlations:
    """Metrics x human aspects: Spearman's rho, +1 where the metric orders systems as people do."""

    metrics: tuple[str, ...]
    aspects: tuple[str, ...]
    cells: tuple[tuple[Correlation, ...], ...]


def correlate(ranking: Ranking) -> Correlations | None:
    """Correlate the columns of one direction; ``None`` if there is nothing to correlate."""
    automatic = [i for i, c in enumerate(ranking.columns) if not c.human]
    human = [i for i, c in enumerate(ranking.columns) if c.human]
    cells = tuple(tuple(_spearman(ranking, i, j) for j in human) for i in automatic)
    if not any(cell.value is not None for row in cells for cell in row):
        return None
    metrics = tuple(ranking.columns[i].title for i in automatic)
    studies = {ranking.columns[j].study for j in human}
    aspects = tuple(
        f"{c.title} ({c.study})" if len(studies) > 1 else c.title
        for c in (ranking.columns[j] for j in human)
    )
    return Correlations(metrics, aspects, cells)


def interval_of_rho(rho: float, systems: int) -> tuple[float, float]:
    """The 95% interval of Spearman's rho by Fisher's z.

    Source: Bonett and Wright (2000), "Sample size requirements for estimating Pearson, Kendall and
    Spearman correlations": the variance of z is (1 + rho^2 / 2) / (n - 3). At +1 and -1, where z is
    infinite, rho is first moved halfway to the next value that n systems can have: a perfect
    order of 4 systems, which 1 of 24 random orders has, must not look certain.

    >>> [round(bound, 2) for bound in interval_of_rho(0.8, 10)]
    [0.24, 0.96]
    >>> [round(bound, 2) for bound in interval_of_rho(1.0, 4)]
    [-0.69, 1.0]
    """
    most = 1 - 6 / (systems * (systems**2 - 1))
    inner = max(-most, min(most, rho))
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt((1 + inner**2 / 2) / (systems - 3))
    low, high = math.tanh(math.atanh(inner) - reach), math.tanh(math.atanh(inner) + reach)
    return (-1.0 if rho <= -most else low), (1.0 if rho >= most else high)


def _spearman(ranking: Ranking, i: int, j: int) -> Correlation:
    pairs = np.stack([ranking.numbers[i].value, ranking.numbers[j].value], axis=1)
    pairs = pairs[: len(ranking.systems)]
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    if len(pairs) < FEWEST or (pairs == pairs[0]).all(axis=0).any():
        return Correlation(None, None, None, len(pairs))
    sign = 1 if ranking.columns[i].higher_is_better else -1
    rho = sign * spearman(pairs[:, 0], pairs[:, 1])
    return Correlation(rho, *interval_of_rho(rho, len(pairs)), len(pairs))


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rho: Pearson's correlation of the ranks, ties with their mean rank.

    In these few lines because importing scipy's takes longer than the whole page.
    """
    return float(np.corrcoef(_mean_ranks(x), _mean_ranks(y))[0, 1])


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[group]
