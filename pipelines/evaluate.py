"""The evaluation: systems in, reports and a ranking out.

Scorers are loaded once for all systems, and every distinct text is scored once: sources and
references are the same for every system, and systems repeat them and one another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import __version__
from ..datasets_scripts.load import TestSet
from ..errors import InputError
from ..files import write_json
from ..metrics.inputs import Inputs, check_inputs
from ..metrics.measure import Options, measure
from ..metrics.facts import metric_facts
from ..metrics.result import LeftOut, Measurement, Outcome, finite
from ..metrics.scorers.profile import Profile, Scorers
from .outputs import Outputs
from .ranking import Rank, rank, significance_record
from .report import (
    DataInfo,
    IntervalInfo,
    Omission,
    Report,
    Sample,
    Score,
    SystemInfo,
    write_report,
)
from .warm import warm


@dataclass(frozen=True)
class Evaluated:
    """One system, measured."""

    info: SystemInfo
    outputs: Outputs
    inputs: Inputs
    outcomes: dict[str, Outcome]


@dataclass(frozen=True)
class Evaluation:
    """All systems of one direction, measured with the same scorers."""

    test_set: TestSet
    profile: Profile
    systems: tuple[Evaluated, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were asked for, in that order."""
        return tuple(self.systems[0].outcomes)

    @cached_property
    def ranks(self) -> dict[str, list[Rank]]:
        """The ranking by each metric that has a value."""
        found = {}
        for metric in self.metrics:
            measured = {s.info.name: s.outcomes[metric] for s in self.systems}
            usable = {n: m for n, m in measured.items() if isinstance(m, Measurement)}
            if ranks := rank(metric, usable):
                found[metric] = ranks
        return found

    def report(self, system: Evaluated) -> Report:
        """The report of one system."""
        return Report(
            tstbench=__version__,
            direction=self.test_set.direction.name,
            profile=self.profile.name,
            system=system.info,
            data=DataInfo(
                fingerprint=self.test_set.fingerprint,
                cleaning=self.test_set.cleaning,
                sentences=len(self.test_set),
                references_min=system.inputs.fewest_references,
                references_max=system.inputs.most_references,
            ),
            outputs_sha256=system.outputs.sha256,
            scores=tuple(_score(m) for m in system.outcomes.values() if isinstance(m, Measurement)),
            left_out=tuple(
                Omission(metric=o.metric, why=o.why)
                for o in system.outcomes.values()
                if isinstance(o, LeftOut)
            ),
        )

    def samples(self, system: Evaluated) -> list[Sample]:
        """One sample a sentence, with every metric that has a value for one sentence."""
        columns = {
            name: values
            for name, outcome in system.outcomes.items()
            if isinstance(outcome, Measurement)
            and (values := outcome.per_sentence()) is not None
        }
        return [
            Sample(
                id=self.test_set.ids[i],
                source=self.test_set.sources[i],
                references=self.test_set.references[i],
                prediction=system.outputs.predictions[i],
                scores={name: values[i] for name, values in columns.items()},
            )
            for i in range(len(self.test_set))
        ]


def evaluate(
    outputs: Sequence[Outputs],
    test_set: TestSet,
    profile: Profile,
    metrics: Sequence[str],
    options: Options = Options(),
    infos: dict[str, SystemInfo] | None = None,
) -> Evaluation:
    """Measure systems on one direction.

    Args:
        outputs: the predictions of each system.
        test_set: sources and references.
        profile: which scorers; they must be there (:func:`tstbench.pipelines.prepare.prepare`).
        metrics: names of :data:`tstbench.metrics.result.METRICS`.
        options: the choices that metrics leave open.
        infos: what is known of each system, by name.

    Raises:
        InputError: no system, or two of one name.
        UnknownNameError: no such metric.
        MissingScorerError: a scorer is not there yet.
    """
    names = [o.system for o in outputs]
    if not names or len(set(names)) < len(names):
        raise InputError(f"one name a system is needed, got {names}")
    for metric in metrics:
        metric_facts(metric)
    scorers = Scorers(profile, test_set.direction)
    inputs = [
        check_inputs(o.predictions, test_set.sources, test_set.references, test_set.direction)
        for o in outputs
    ]
    warm(scorers, inputs, metrics)
    infos = infos or {}
    return Evaluation(
        test_set,
        profile,
        tuple(
            Evaluated(
                infos.get(o.system, SystemInfo(name=o.system)),
                o,
                one,
                measure(metrics, one, scorers, options),
            )
            for o, one in zip(outputs, inputs, strict=True)
        ),
    )


def write_evaluation(evaluation: Evaluation, folder: Path) -> list[Path]:
    """Write ``<direction>/<system>/{report.json,samples.jsonl}`` and ``significance.json``."""
    direction = folder / evaluation.test_set.direction.dataset / evaluation.test_set.direction.config
    written = []
    for system in evaluation.systems:
        target = direction / folder_name(system.info.name)
        write_report(target, evaluation.report(system), evaluation.samples(system))
        written.append(target)
    write_json(direction / "significance.json", significance_record(evaluation.ranks))
    return written


def folder_name(system: str) -> str:
    """A system's name as a folder name: it never leaves its parent.

    >>> folder_name("GPT-4 (few shot)"), folder_name("../../etc")
    ('GPT-4_few_shot', 'etc')
    """
    name = re.sub(r"[^A-Za-z0-9.+-]+", "_", system).strip("._")
    if not name:
        raise InputError(f"system {system!r} needs a letter or a digit in its name")
    return name[:100]


def _score(measurement: Measurement) -> Score:
    bounds = measurement.interval()
    usable = bounds is not None and finite(bounds.low) is not None and finite(bounds.high) is not None
    return Score(
        metric=measurement.metric,
        value=finite(measurement.value),
        unit=measurement.facts.unit,
        higher_is_better=measurement.facts.higher_is_better,
        interval=IntervalInfo(**vars(bounds)) if bounds is not None and usable else None,
        signature=str(measurement.signature),
    )
