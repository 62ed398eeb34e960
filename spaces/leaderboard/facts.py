"""What tables need of a report: of thousands, one is read whole only when its row is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from ...pipelines.report import Report, SeedRun


@dataclass(frozen=True)
class Measure:
    """What one score of a report is, without its numbers.

    Attributes:
        column: the signature of the column that it stands in, see :meth:`.Report.column`.
    """

    metric: str
    unit: str
    higher_is_better: bool
    signature: str
    column: str
    made_with: str
    profile: str


@dataclass(frozen=True, eq=False)
class Layout:
    """The scores of a report: reports that were scored alike share one, told apart by identity."""

    measures: tuple[Measure, ...]

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @cached_property
    def profile(self) -> str:
        """The profiles of the scores, as :attr:`.Report.profile` names them."""
        return ", ".join(dict.fromkeys(one.profile for one in self)) or "none"


@dataclass(frozen=True, eq=False)
class Facts:
    """One report, as the tables see it.

    Attributes:
        name, family, needs_parallel, date, is_bound, seed_run: of its system.
        fingerprint: of the data, in full.
        outputs_sha256: of the predictions.
        layout: what its scores are.
        numbers: of shape (scores, 3): value and the ends of its interval, NaN where there is none.
    """

    PLAIN: ClassVar = (
        "name",
        "family",
        "needs_parallel",
        "date",
        "is_bound",
        "fingerprint",
        "outputs_sha256",
    )

    name: str
    family: str
    needs_parallel: bool | None
    date: str | None
    is_bound: bool
    fingerprint: str
    outputs_sha256: str
    seed_run: SeedRun | None
    layout: Layout
    numbers: np.ndarray

    @classmethod
    def of(cls, report: Report) -> Facts:
        """The facts of a report."""
        system = report.system
        layout = tuple(
            Measure(
                score.metric,
                score.unit,
                score.higher_is_better,
                score.signature,
                report.column(score),
                score.made_with,
                score.profile,
            )
            for score in report.scores
        )
        numbers = [
            (
                score.value,
                score.interval and score.interval.low,
                score.interval and score.interval.high,
            )
            for score in report.scores
        ]
        return cls(
            name=system.name,
            family=system.family,
            needs_parallel=system.needs_parallel,
            date=system.date,
            is_bound=system.is_bound,
            fingerprint=report.data.fingerprint,
            outputs_sha256=report.outputs_sha256,
            seed_run=system.seed_run,
            layout=shared(layout),
            numbers=np.array(numbers, dtype=float).reshape(-1, 3),  # None becomes NaN
        )


@lru_cache(maxsize=4096)
def shared(measures: tuple[Measure, ...]) -> Layout:
    """The layout of these scores: one object for all that have them."""
    return Layout(measures)


@lru_cache(maxsize=4096)
def only(layout: Layout, columns: frozenset[str] | None) -> Layout:
    """The scores of these columns; all without any."""
    if columns is None or all(one.column in columns for one in layout):
        return layout
    return shared(tuple(one for one in layout if one.column in columns))
