"""What one metric says of one system on one direction: value, interval, unit, signature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .facts import METRICS, MetricFacts
from .signature import Signature
from .statistics import Interval, Statistics, interval


@dataclass(frozen=True)
class Measurement:
    """One metric of one system on one direction, before and after its interval is computed."""

    metric: str
    statistics: Statistics
    signature: Signature

    @property
    def facts(self) -> MetricFacts:
        """Title, unit and direction of the metric."""
        return METRICS[self.metric]

    @property
    def value(self) -> float:
        """The corpus score."""
        return self.statistics.value

    def interval(self) -> Interval | None:
        """95% bootstrap interval of the corpus score."""
        return interval(self.statistics)

    def per_sentence(self) -> list[float | None] | None:
        """One score a sentence, ``None`` where undefined; ``None`` for a corpus-only metric."""
        values = self.statistics.per_sentence
        return None if values is None else [finite(v) for v in values]


@dataclass(frozen=True)
class LeftOut:
    """A metric that was asked for and has no meaning on this data, and why."""

    metric: str
    why: str


Outcome = Measurement | LeftOut


def finite(value: float) -> float | None:
    """The value to six decimals, or ``None`` for NaN and infinities, which JSON cannot hold.

    Six, because beyond that processors differ in the last bits of a float.

    >>> finite(52.800000000000004), finite(float("inf"))
    (52.8, None)
    """
    return round(float(value), 6) if math.isfinite(value) else None


def as_compute_result(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """What an ``evaluate`` module returns: a flat score a metric, and ``details`` beside them."""
    result: dict[str, Any] = {}
    details: dict[str, Any] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, LeftOut):
            result[name] = None
            details[name] = {"left_out": outcome.why}
            continue
        bounds = outcome.interval()
        result[name] = finite(outcome.value)
        details[name] = {
            "unit": outcome.facts.unit,
            "higher_is_better": outcome.facts.higher_is_better,
            "interval_method": None if bounds is None else str(bounds),
            "interval": [finite(bounds.low), finite(bounds.high)] if bounds else None,
            "per_sentence": outcome.per_sentence(),
            "signature": str(outcome.signature),
        }
    return {**result, "details": details}
