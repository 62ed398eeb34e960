"""Several seeds of one system: its mean, and how far the runs are apart.

A trained system is one draw: another seed gives other weights and other scores. Runs that differ
in their seed alone (:class:`.report.SeedRun`) are one system here. Its score is the mean over runs,
with their standard deviation; its bootstrap replicates are the means of theirs, which drew the same
sentences, so that interval, test and rank are those of the mean. The interval says what other test
sentences could change, the standard deviation what another training could.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from ..metrics.statistics import percentile_interval
from ..records import Strict
from .ranking import Bootstrapped
from .report import IntervalInfo, Report, Score, further_key, score_recipe


class Measured(Protocol):
    """One system's scores on one direction, such as :class:`.results.Stored`."""

    @property
    def report(self) -> Report:
        """What was measured."""
        ...

    def bootstrapped(self) -> Mapping[str, Bootstrapped]:
        """Value and replicates by the key of the score."""
        ...


M = TypeVar("M", bound=Measured)


class Spread(Strict):
    """How far the runs of a system are apart by one score.

    Attributes:
        seeds: of the runs that have it.
        values: theirs, in the same order.
    """

    seeds: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a sample (n - 1); ``None`` for a single run."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None


class MeanScore(Score):
    """The mean of a score over runs; never in a file."""

    spread: Spread


@dataclass(frozen=True)
class MeanOfRuns:
    """A system's runs as one result.

    Attributes:
        runs: their results, by seed.
        name: what the system is called.
    """

    runs: tuple[Measured, ...]
    name: str

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the runs, in order."""
        return tuple(_seed(run.report) for run in self.runs)

    @cached_property
    def report(self) -> Report:
        """The means; metrics are left out where the first run leaves them out."""
        first = self.runs[0].report
        outputs = "".join(run.report.outputs_sha256 for run in self.runs)
        digest = hashlib.sha256(outputs.encode()).hexdigest()
        info = {"name": self.name, "system_hash": None, "seed_run": None}
        return first.model_copy(
            update={
                "system": first.system.model_copy(update=info),
                "outputs_sha256": digest,
                "samples_sha256": None,
                "replicates_sha256": None,
                "scores": tuple(self._scores(digest)),
                "warnings": tuple(dict.fromkeys(w for r in self.runs for w in r.report.warnings)),
            }
        )

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """The means of the replicates, where every run with the score has some."""
        return self._replicates

    @cached_property
    def _by_signature(self) -> dict[str, list[tuple[int, Score, Bootstrapped | None]]]:
        found: dict[str, list[tuple[int, Score, Bootstrapped | None]]] = {}
        for run in self.runs:
            replicates = run.bootstrapped()
            for score in run.report.scores:
                one = (_seed(run.report), score, replicates.get(score.key))
                found.setdefault(score.signature, []).append(one)
        return found

    @cached_property
    def _keys(self) -> dict[str, str]:
        """Signature to key; two runs may have given one key to different scores."""
        keys: dict[str, str] = {}
        for signature, some in self._by_signature.items():
            key, metric = some[0][1].key, some[0][1].metric
            keys[signature] = further_key(metric, signature) if key in keys.values() else key
        return keys

    @cached_property
    def _replicates(self) -> dict[str, Bootstrapped]:
        found = {}
        for signature, some in self._by_signature.items():
            draws = [replicates for _, _, replicates in some if replicates is not None]
            if len(draws) == len(some) and len({one.replicates.shape for one in draws}) == 1:
                mean = np.mean([one.replicates for one in draws], axis=0)
                value = float(np.mean([one.value for one in draws]))
                found[self._keys[signature]] = Bootstrapped(value, mean)
        return found

    def _scores(self, outputs: str) -> Iterable[MeanScore]:
        data = self.runs[0].report.data.fingerprint
        for signature, some in self._by_signature.items():
            first, key = some[0][1], self._keys[signature]
            values = [(seed, s.value) for seed, s, _ in some if s.value is not None]
            spread = Spread(
                seeds=tuple(seed for seed, _ in values), values=tuple(value for _, value in values)
            )
            whole = len(values) == len(some)  # a run without a value: no mean without it either
            versions = dict.fromkeys(part for _, s, _ in some for part in s.made_with.split("|"))
            yield MeanScore(
                key=key,
                metric=first.metric,
                value=float(np.mean(spread.values)) if whole else None,
                unit=first.unit,
                higher_is_better=first.higher_is_better,
                interval=_interval(self._replicates.get(key)) if whole else None,
                signature=signature,
                made_with="|".join(filter(None, versions)),
                recipe=score_recipe(outputs, data, signature),
                profile=first.profile,
                spread=spread,
            )


def pooled(results: Sequence[M], others: Iterable[str] = ()) -> list[M | MeanOfRuns]:
    """Runs of one system become its mean, at the place of the first; the rest stays as it is.

    Args:
        results: of one direction. A lone run stays itself, under its own name. The same seed with
            the same outputs, under two names, counts once.
        others: names of further systems, which a mean does not get.
    """
    groups: dict[tuple[str, str, str], list[M]] = {}
    for one in results:
        run = one.report.system.seed_run
        if run is not None:
            key = (run.system, run.recipe, one.report.data.fingerprint)
            groups.setdefault(key, []).append(one)
    several = {key: runs for key, some in groups.items() if len(runs := _distinct(some)) > 1}
    members = {id(one): key for key in several for one in groups[key]}
    taken = {one.report.system.name for one in results if id(one) not in members} | {*others}
    found: list[M | MeanOfRuns] = []
    for one in results:
        if id(one) not in members:
            found.append(one)
        elif one is groups[key := members[id(one)]][0]:
            name = key[0]
            if name in taken:  # a system of that name with other settings
                name = f"{name} #{key[1][:6]}"
            taken.add(name)
            found.append(MeanOfRuns(tuple(several[key]), name))
    return found


def _distinct(runs: Iterable[M]) -> list[M]:
    by_outputs = {(_seed(run.report), run.report.outputs_sha256): run for run in runs}
    return [by_outputs[key] for key in sorted(by_outputs)]


def _seed(report: Report) -> int:
    run = report.system.seed_run
    return -1 if run is None else run.seed


def _interval(found: Bootstrapped | None) -> IntervalInfo | None:
    """The percentile interval of the mean's replicates, as that of a single run is made."""
    bounds = percentile_interval(found.value, found.replicates) if found else None
    return None if bounds is None else IntervalInfo(**vars(bounds))
