"""The fields of the published files that have no schema elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from ...records import Strict
from ..report import Report


class Fingerprint(Strict):
    """``fingerprint.json`` of a built dataset that may be published."""

    dataset: str
    version: str
    cleaning: str
    decontamination: dict[str, str]
    publishable: Literal[True]
    rows_digest: str
    fingerprints: dict[str, str]
    left_out: list[str]
    files: list[Origin]


class Origin(Strict):
    """One upstream file of a dataset."""

    name: str
    commit: str | None
    git_blob: str


class Tasks(Strict):
    """``eval.yaml``."""

    name: str
    description: str
    evaluation_framework: Literal["tstbench"]
    tasks: list[dict[Literal["id", "config", "split"], str]]


class ScoreRow(Strict):
    """A line of ``scores.jsonl``."""

    direction: str
    system: str
    family: str
    date: str | None
    profile: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    signature: str
    made_with: str


def rows_of(report: Report) -> Iterator[ScoreRow]:
    """The lines of ``scores.jsonl`` for a report: one a score."""
    system = report.system
    for score in report.scores:
        yield ScoreRow(
            direction=report.direction,
            system=system.name,
            family=system.family,
            date=system.date,
            profile=score.profile,
            metric=score.metric,
            value=score.value,
            low=score.interval.low if score.interval else None,
            high=score.interval.high if score.interval else None,
            unit=score.unit,
            signature=score.signature,
            made_with=score.made_with,
        )


class OutputRow(Strict):
    """A line of ``outputs.jsonl``."""

    direction: str
    system: str
    id: str
    prediction: str
    origin: str | None


class Significance(Strict):
    """One comparison of ``significance.json``."""

    test: Literal["paired bootstrap, two-sided, alpha 0.05, uncorrected"]
    ranks: dict[str, Annotated[list[int], Field(min_length=2, max_length=2)]]
    p_best: dict[str, float]
