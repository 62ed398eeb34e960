"""Ranking systems without claiming an order that the data do not show.

Every pair of systems is compared by the paired bootstrap on the same sentences. A system's rank
is a range: from one plus the number of systems that are significantly better, to the number of
all systems minus those that are significantly worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..metrics.statistics import p_values

ALPHA = 0.05


@dataclass(frozen=True)
class Bootstrapped:
    """A corpus score and its replicates, shape (R,): everything a paired comparison needs.

    Replicate r of every system of a direction drew the same sentences, even in another process:
    the draws depend only on their number and the seed.
    """

    value: float
    replicates: np.ndarray


@dataclass(frozen=True)
class Rank:
    """One system's rank by one metric."""

    system: str
    value: float
    low: int  # best rank that cannot be excluded
    high: int  # worst rank that cannot be excluded
    p_best: float  # p-value of the difference to the best system, which the best has too: 1

    @property
    def ties_best(self) -> bool:
        """Whether the difference from the best may be due to chance (p >= 0.05).

        Where p is undefined, nothing was shown, so it does not tie.
        """
        return self.p_best >= ALPHA


def rank_values(systems: Mapping[str, Bootstrapped], *, higher_is_better: bool) -> list[Rank]:
    """Rank systems by one metric, best first; equal values keep the order given.

    Systems whose value is undefined are left out.
    """
    sign = 1 if higher_is_better else -1
    defined = [name for name, one in systems.items() if np.isfinite(one.value)]
    order = sorted(defined, key=lambda name: -sign * systems[name].value)
    values = np.array([systems[name].value for name in order])
    replicates = np.array([systems[name].replicates for name in order])
    p = np.ones((len(order), len(order)))
    for i in range(len(order)):  # against itself and all below
        p[i, i:] = p_values(values[i] - values[i:], replicates[i] - replicates[i:])
    better, worse = np.sum(p < ALPHA, axis=0), np.sum(p < ALPHA, axis=1)
    return [
        Rank(
            system=name,
            value=systems[name].value,
            low=1 + int(better[i]),
            high=len(order) - int(worse[i]),
            p_best=float(p[0, i]),
        )
        for i, name in enumerate(order)
    ]
