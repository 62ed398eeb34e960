"""Ranking systems without pretending to an order that the data do not show.

Every pair of systems is compared by the paired bootstrap on the same sentences. A system's rank
is a range: one more than the systems significantly better, to all but those significantly worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from ..metrics.facts import metric_facts
from ..metrics.result import Measurement
from ..metrics.statistics import p_value, resample

ALPHA = 0.05


@dataclass(frozen=True)
class Rank:
    """One system's place by one metric."""

    system: str
    value: float
    low: int  # best rank that cannot be excluded
    high: int  # worst rank that cannot be excluded
    p_best: float  # p-value of the difference to the best system; 1 for the best itself

    @property
    def ties_best(self) -> bool:
        """Whether the difference to the best may be chance (p >= 0.05)."""
        return not self.p_best < ALPHA


def rank(metric: str, measured: Mapping[str, Measurement]) -> list[Rank]:
    """Rank systems by one metric, best first; equal values in the order given.

    Args:
        metric: its name.
        measured: the metric's measurement of each system, all on the same sentences. Systems
            whose value is undefined are left out.
    """
    sign = 1 if metric_facts(metric).higher_is_better else -1
    systems = [name for name, m in measured.items() if m.value == m.value]
    order = sorted(systems, key=lambda name: -sign * measured[name].value)
    if not order:
        return []
    counts = resample(len(measured[order[0]].statistics.rows))
    replicates = {name: measured[name].statistics.replicates(counts) for name in order}
    p_values = {}
    better = dict.fromkeys(order, 0)
    worse = dict.fromkeys(order, 0)
    for first, second in combinations(order, 2):
        difference = measured[first].value - measured[second].value
        p = p_value(difference, replicates[first] - replicates[second])
        p_values[first, second] = p
        if p < ALPHA:
            better[second] += 1
            worse[first] += 1
    best = order[0]
    return [
        Rank(
            system=name,
            value=measured[name].value,
            low=1 + better[name],
            high=len(order) - worse[name],
            p_best=1.0 if name == best else p_values[best, name],
        )
        for name in order
    ]


def significance_record(ranks: Mapping[str, Sequence[Rank]]) -> dict[str, Any]:
    """The ranks of every metric as JSON values: what ``significance.json`` holds."""
    return {
        metric: {
            "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
            "ranks": {r.system: [r.low, r.high] for r in some},
            "p_best": {r.system: r.p_best if r.p_best == r.p_best else None for r in some},
        }
        for metric, some in ranks.items()
    }
