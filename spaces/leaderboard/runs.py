"""Several seeds of one system: one row, that leads to its runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped
from ...pipelines.report import Report, Score
from ...pipelines.results import Stored
from ...pipelines.seeds import MeanOfRuns, MeanScore, pooled
from .data import Entry
from .facts import Facts

ABOUT = (
    "±: standard deviation over runs of one system that differ in their training seed, behind "
    "their mean. Interval and rank are those of the mean, over sentences."
)


@dataclass(frozen=True)
class _Placed:
    """An entry as a result that can be averaged."""

    entry: Entry

    @property
    def report(self) -> Report:
        return self.entry.report

    def bootstrapped(self) -> Mapping[str, Bootstrapped]:
        try:
            return Stored(self.entry.folder, self.entry.report).bootstrapped()
        except (InputError, OSError):  # changed since the board was read
            return {}


def together(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries of one direction; behind them those of the systems that have runs, as means."""
    entries = tuple(entries)
    found = [entry for entry in entries if not entry.facts.seed_run]
    names = [entry.facts.name for entry in found]
    for one in pooled([_Placed(entry) for entry in entries if entry.facts.seed_run], names):
        if isinstance(one, _Placed):
            found.append(one.entry)
            continue
        runs = tuple(run.entry for run in one.runs if isinstance(run, _Placed))
        found.append(_mean(runs, one.name))
    return tuple(found)


@lru_cache(maxsize=512)  # a mean reads the replicates of every run
def _mean(runs: tuple[Entry, ...], name: str) -> Entry:
    report = MeanOfRuns(tuple(_Placed(run) for run in runs), name).report
    facts = Facts.of(report)
    return replace(
        runs[0], label=name, facts=facts, held=report, has_samples=False, columns=None, runs=runs
    )


def result_of(entry: Entry, report: Report | None = None) -> Stored | MeanOfRuns:
    """What an entry was read from: files, or the mean of several.

    Args:
        entry: of one system, or :func:`together`.
        report: in place of its own, such as one under another name.
    """
    report = report or entry.report
    if not entry.runs:
        return Stored(entry.folder, report)
    return MeanOfRuns(tuple(_Placed(run) for run in entry.runs), report.system.name)


def deviation(score: Score | None) -> float | None:
    """The standard deviation over seeds, where there are several."""
    return score.spread.deviation if isinstance(score, MeanScore) else None
