"""The result of one metric for one system on one direction: value, interval, unit, signature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .facts import MetricFacts
from .signature import Signature
from .statistics import Interval, Statistics, bootstrap, percentile_interval, too_few


@dataclass(frozen=True)
class Measurement:
    """One metric of one system on one direction; its interval is computed when needed."""

    facts: MetricFacts
    statistics: Statistics
    signature: Signature
    caution: str | None = None  # a warning to show beside the number

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.facts.name

    @property
    def value(self) -> float:
        """The corpus score."""
        return self.statistics.value

    @cached_property
    def replicates(self) -> np.ndarray:
        """Scores of 1,000 resampled corpora, which interval and comparisons share."""
        (found,) = bootstrap(self.statistics)
        return found

    def interval(self) -> Interval | None:
        """95% bootstrap interval of the corpus score."""
        return percentile_interval(self.value, self.replicates)

    def per_sentence(self) -> list[float | None] | None:
        """One score per sentence, ``None`` if undefined; ``None`` for a corpus-only metric."""
        values = self.statistics.per_sentence
        return None if values is None else [finite(v) for v in values]


@dataclass(frozen=True)
class LeftOut:
    """A requested metric that does not apply to this data, and why."""

    metric: str
    why: str


Outcome = Measurement | LeftOut


def finite(value: float) -> float | None:
    """The value to six decimals, or ``None`` for NaN and infinities, which JSON does not allow.

    Six, because beyond that, processors differ in the last bits of a float.

    >>> finite(52.800000000000004), finite(float("inf"))
    (52.8, None)
    """
    return round(float(value), 6) if math.isfinite(value) else None


def as_compute_result(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """What an ``evaluate`` module returns: one flat score per metric, plus ``details``."""
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
            "interval_method": str(bounds) if bounds else too_few(len(outcome.statistics.rows)),
            "interval": [finite(bounds.low), finite(bounds.high)] if bounds else None,
            "per_sentence": outcome.per_sentence(),
            "signature": str(outcome.signature),
            "made_with": outcome.signature.made_with,
            **({"caution": outcome.caution} if outcome.caution else {}),
        }
    return {**result, "details": details}
