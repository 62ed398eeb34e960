"""The evaluation: systems in, reports and a ranking out.

Scorers are loaded once for all systems, and every distinct text is scored once: sources and
references are the same for every system, and systems repeat them and one another.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from .. import __version__
from ..datasets_scripts.load import TestSet
from ..errors import InputError
from ..metrics.facts import metric_facts, scorers_needed
from ..metrics.inputs import Inputs, check_inputs
from ..metrics.measure import BENCHMARK, Options, measure
from ..metrics.result import LeftOut, Measurement, Outcome, finite
from ..metrics.scorers.profile import Profile, Scorers
from ..metrics.statistics import Interval
from .outputs import Outputs
from .ranking import Bootstrapped, Rank, rank
from .report import (
    DataInfo,
    IntervalInfo,
    Omission,
    Report,
    Sample,
    Score,
    SystemInfo,
)
from .results import check_names, direction_folder, write_significance, write_system
from .warm import warm

# Whose next release may move a number.
LIBRARIES = ("kenlm", "nltk", "sacrebleu", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class Evaluated:
    """One system, measured."""

    info: SystemInfo
    outputs: Outputs
    inputs: Inputs
    recipe: str
    outcomes: dict[str, Outcome]

    @cached_property
    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """Value and replicates of each metric that has a value."""
        measured = (o for o in self.outcomes.values() if isinstance(o, Measurement))
        return {m.metric: Bootstrapped.of(m) for m in measured}


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
            usable = {
                s.info.name: s.bootstrapped[metric]
                for s in self.systems
                if metric in s.bootstrapped
            }
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
            recipe=system.recipe,
            outputs_sha256=system.outputs.sha256,
            scores=tuple(_score(m) for m in self.measurements(system)),
            left_out=tuple(Omission(metric=o.metric, why=o.why) for o in self.left_out(system)),
        )

    def measurements(self, system: Evaluated) -> list[Measurement]:
        """The metrics that have a value for this system."""
        return [o for o in system.outcomes.values() if isinstance(o, Measurement)]

    def left_out(self, system: Evaluated) -> list[LeftOut]:
        """The metrics that have no meaning on this data."""
        return [o for o in system.outcomes.values() if isinstance(o, LeftOut)]

    def samples(self, system: Evaluated) -> list[Sample]:
        """One sample a sentence, with every metric that has a value for one sentence."""
        columns = {
            name: values
            for name, outcome in system.outcomes.items()
            if isinstance(outcome, Measurement) and (values := outcome.per_sentence()) is not None
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
    options: Options = BENCHMARK,
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
    if not outputs:
        raise InputError("no system to evaluate")
    check_names([o.system for o in outputs])
    check_metrics(metrics)
    scorers = Scorers(profile, test_set.direction)
    inputs = [
        check_inputs(o.predictions, test_set.sources, test_set.references, test_set.direction)
        for o in outputs
    ]
    warm(scorers, inputs, metrics)
    infos = infos or {}
    systems = [
        Evaluated(
            info=infos.get(o.system, SystemInfo(name=o.system)),
            outputs=o,
            inputs=one,
            recipe=recipe(o, test_set, scorers, metrics, options),
            outcomes=measure(metrics, one, scorers, options),
        )
        for o, one in zip(outputs, inputs, strict=True)
    ]
    return Evaluation(test_set, profile, tuple(systems))


def recipe(
    outputs: Outputs,
    test_set: TestSet,
    scorers: Scorers,
    metrics: Sequence[str],
    options: Options = BENCHMARK,
) -> str:
    """SHA-256 hex over all that determines the scores: the same recipe gives the same report."""
    parts = {
        "tstbench": __version__,
        "outputs": outputs.sha256,
        "data": test_set.fingerprint,
        "direction": test_set.direction.name,
        "profile": scorers.profile.name,
        "metrics": list(metrics),
        "options": asdict(options),
        "scorers": {role: getattr(scorers, role).hash for role in scorers_needed(metrics)},
        "libraries": {name: version(name) for name in LIBRARIES if find_spec(name)},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check_metrics(metrics: Sequence[str]) -> None:
    """Raise :class:`UnknownNameError` for a metric that is none, :class:`InputError` for none."""
    if not metrics:
        raise InputError("no metric to compute")
    for metric in metrics:
        metric_facts(metric)


def write_systems(evaluation: Evaluation, root: Path) -> list[Path]:
    """Write each system's folder below ``root``."""
    return [
        write_system(
            root,
            evaluation.test_set.direction,
            evaluation.report(system),
            evaluation.samples(system),
            system.bootstrapped,
        )
        for system in evaluation.systems
    ]


def write_evaluation(evaluation: Evaluation, root: Path) -> list[Path]:
    """Write each system's folder below ``root``, and compare all systems that are there."""
    written = write_systems(evaluation, root)
    write_significance(direction_folder(root, evaluation.test_set.direction))
    return written


def _score(measurement: Measurement) -> Score:
    return Score(
        metric=measurement.metric,
        value=finite(measurement.value),
        unit=measurement.facts.unit,
        higher_is_better=measurement.facts.higher_is_better,
        interval=_interval_info(measurement.interval()),
        signature=str(measurement.signature),
    )


def _interval_info(bounds: Interval | None) -> IntervalInfo | None:
    """The interval for a report; ``None`` where a bound is undefined or infinite."""
    if (
        bounds is None
        or (low := finite(bounds.low)) is None
        or (high := finite(bounds.high)) is None
    ):
        return None
    return IntervalInfo(**{**vars(bounds), "low": low, "high": high})
