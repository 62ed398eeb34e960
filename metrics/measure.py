"""Measuring: from texts and scorers to statistics with signatures, for every metric.

The evaluate modules and the evaluation pipeline both use this module, so that a score computed
in a notebook and one on the leaderboard cannot differ. :func:`plan` says which signature each
score will have, without loading a scorer; :func:`measure` computes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..datasets_scripts.catalog import language_of
from ..errors import InputError
from ..version import __version__
from .base import Cohort, Context, LeftOut, Measurement, Need, Outcome, finite
from .inputs import Inputs
from .options import BENCHMARK, Choices
from .registry import family_of, metric_facts
from .scorers.profile import Scorers
from .scorers.roles import role
from .signature import Signature
from .statistics import too_few
from .text import preparation


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


# The fields of every signature; a metric computed from others does not take these from its parts.
_ENDS = ("v", "direction", "language", "n", "data", "cohort", "without")
# One sentence with every input a metric can read, to find the scorers when there are no texts.
_SAMPLE = Inputs(("a",), ("a",), (("a", "b"),))


@dataclass
class Measuring(Context):
    """The measurements of one system in progress: what Joint needs is computed once."""

    inputs: Inputs
    scorers: Scorers
    choices: Choices = BENCHMARK
    systems: Cohort | None = None
    whole: Inputs | None = None  # that these are a part of: which metrics apply is asked of it
    _done: dict[str, Outcome] = field(default_factory=dict)
    _needed: dict[str, tuple[Need, ...]] = field(default_factory=dict)

    @property
    def cohort(self) -> Cohort:
        """All systems of the direction.

        Raises:
            InputError: they were not given.
        """
        if self.systems is None:
            raise InputError("a metric that compares systems needs all systems of the direction")
        return self.systems

    def scorer(self, role: str) -> Any:
        """The scorer of that role, loaded.

        Raises:
            MissingScorerError: it has not been trained or downloaded yet.
        """
        return self.scorers.load(role)

    def outcome(self, metric: str) -> Outcome:
        """Measure one metric, or say why it does not apply.

        Raises:
            UnknownNameError: no such metric.
            InputError: an input that the metric needs was not given.
            MissingScorerError: a scorer has not been trained or downloaded yet.
        """
        if metric not in self._done:
            self._done[metric] = self._measure(metric)
        return self._done[metric]

    def signature(self, metric: str) -> Signature | LeftOut:
        """What the metric's score will depend on, or why there will be no score.

        Raises:
            UnknownNameError, InputError, MissingScorerError: see :meth:`outcome`.
        """
        family, facts = family_of(metric), metric_facts(metric)
        options = self.choices.of(family.name)
        self._check_columns(metric)
        if why := self._left_out(metric):
            return LeftOut(metric, why)
        parts = [self.signature(part) for part in family.parts(metric, self.inputs, options)]
        if missing := [part for part in parts if isinstance(part, LeftOut)]:
            return LeftOut(metric, f"{missing[0].metric}: {missing[0].why}")
        signed = [part for part in parts if isinstance(part, Signature)]
        data, direction = self.inputs.data_fingerprint, self.inputs.direction
        fields: dict[str, object] = {}
        for need in self._own_needs(metric):
            fields.update(self._scorer_fields(need.role))
        fields.update(family.fields(metric, self.inputs, options))
        fields.update(_of_parts(signed))
        cohort = self.cohort.hash[:12] if facts.compares_systems else None
        own = [part.as_dict().get("without") for part in signed]
        if self._compares_with_references(metric):
            own.append(self.inputs.without)
        return Signature.of(
            metric,
            _versions(
                [*family.libraries, *(name for part in signed for name, _ in part.provenance)]
            ),
            v=facts.version,
            direction=direction,
            language=None if self.inputs.language == "en" else self.inputs.language,
            **fields,
            cohort=cohort,
            without=next(filter(None, own), None),
            n=len(self.inputs.predictions),
            data=data[:12] if data else "unknown",  # sources or references were not given
        )

    def needs(self, metric: str) -> Iterator[Need]:
        """Which texts go to which scorers, for the metric and its parts."""
        family = family_of(metric)
        options = self.choices.of(family.name)
        self._check_columns(metric)
        if self._left_out(metric):
            return
        yield from self._own_needs(metric)
        for part in family.parts(metric, self.inputs, options):
            yield from self.needs(part)

    def _left_out(self, metric: str) -> str | None:
        """Why the metric does not apply: its own rules, or what a scorer has learned."""
        family, language = family_of(metric), self.inputs.language
        options, inputs = self.choices.of(family.name), self.whole or self.inputs
        if why := family.left_out(metric, inputs, options):
            return why
        compared = inputs.compared if self._compares_with_references(metric) else inputs
        if why := family.left_out(metric, compared, options):
            if compared.most_references == 0:
                return "these rewrites are the only reference"
            return f"{why} besides these rewrites"
        for need in self._own_needs(metric):
            if why := self.scorers.untrained.get(need.role):
                return f"the {role(need.role).title} has too little to learn from: {why}"
        english = preparation(language).is_english
        roles = () if english else (need.role for need in self._own_needs(metric))
        for name in filter(self.scorers.profile.reads_english_alone, roles):
            return (
                f"the {role(name).title} {self.scorers.profile.spec(name)} reads English, but the "
                f"texts are {language!r}: --scorer {name}=... chooses another"
            )
        return None

    def _own_needs(self, metric: str) -> tuple[Need, ...]:
        if metric not in self._needed:
            family = family_of(metric)
            options = self.choices.of(family.name)
            self._needed[metric] = family.needs(metric, self._inputs(metric), options)
        return self._needed[metric]

    def _compares_with_references(self, metric: str) -> bool:
        return "references" in metric_facts(metric).reads

    def _inputs(self, metric: str) -> Inputs:
        """What the metric reads: no prediction is compared with itself as a reference."""
        return self.inputs.compared if self._compares_with_references(metric) else self.inputs

    def _measure(self, metric: str) -> Outcome:
        signature = self.signature(metric)
        if isinstance(signature, LeftOut):
            return signature
        family = family_of(metric)
        options = self.choices.of(family.name)
        statistics = family.measure(metric, self._inputs(metric), options, self)
        made = {"rows": statistics.rows, "sentence scores": statistics.per_sentence}
        for what, some in made.items():  # another package's metric may give what it likes
            if some is not None and len(some) != (n := len(self.inputs.predictions)):
                raise InputError(f"{metric} gives {len(some)} {what} for {n} predictions: one each")
        caution = family.caution(signature)
        return Measurement(metric_facts(metric), statistics, signature, caution)

    def _scorer_fields(self, name: str) -> dict[str, object]:
        """A scorer in a signature: its name, and enough of its hash to identify it."""
        found, placement = self.scorers.find(name), self.scorers.placement
        dtype = placement.signed_dtype if found.on_device else None
        fields = {role(name).key: f"{found.name}#{found.hash[:12]}", **found.fields}
        return fields if dtype is None else {**fields, "dtype": dtype}

    def _check_columns(self, metric: str) -> None:
        family = family_of(metric)
        for column in family.reads(metric, self.choices.of(family.name)):
            if getattr(self.inputs, column) is None:
                such = ", such as 'yelp/negative-to-positive'" if column == "direction" else ""
                article = "a " if column == "direction" else ""
                raise InputError(f"{metric} needs {article}{column}{such}")


def measure(
    metrics: Iterable[str],
    inputs: Inputs,
    scorers: Scorers,
    choices: Choices = BENCHMARK,
    cohort: Cohort | None = None,
    whole: Inputs | None = None,
) -> dict[str, Outcome]:
    """Measure several metrics of one system on one direction, in the given order.

    Args:
        metrics: names of :data:`~.registry.METRICS`.
        inputs: the system's predictions, and what they are measured against.
        scorers: the direction's scorers.
        choices: options by family.
        cohort: all systems of the direction, for metrics that compare them.
        whole: what the inputs are a part of, if they are: it says which metrics apply.

    Raises:
        UnknownNameError: no such metric.
        InputError: an input that a metric needs was not given.
        MissingScorerError: a scorer has not been trained or downloaded yet.
    """
    measuring = Measuring(inputs, scorers, choices, cohort, whole)
    return {metric: measuring.outcome(metric) for metric in metrics}


def plan(
    metrics: Iterable[str],
    inputs: Inputs,
    scorers: Scorers,
    choices: Choices = BENCHMARK,
    cohort: Cohort | None = None,
    whole: Inputs | None = None,
) -> dict[str, Signature | LeftOut]:
    """The signature that each score will have; no scorer is loaded and no text scored.

    Arguments and errors are the same as those of :func:`measure`.
    """
    measuring = Measuring(inputs, scorers, choices, cohort, whole)
    return {metric: measuring.signature(metric) for metric in metrics}


def needs(
    metrics: Iterable[str], inputs: Inputs, scorers: Scorers, choices: Choices = BENCHMARK
) -> list[Need]:
    """Which texts the metrics give to which scorers, for one system."""
    measuring = Measuring(inputs, scorers, choices)
    return [need for metric in metrics for need in measuring.needs(metric)]


def roles_needed(
    metrics: Iterable[str],
    scorers: Scorers,
    choices: Choices = BENCHMARK,
    inputs: Inputs | None = None,
) -> tuple[str, ...]:
    """The roles of all scorers that the metrics use on these texts, or could use on any texts.

    Args:
        metrics: names of metrics.
        scorers: the direction's scorers.
        choices: options by family.
        inputs: the texts; by default, a sentence with every input that a metric can read.
    """
    if inputs is None:
        language = language_of(scorers.direction)
        inputs = replace(_SAMPLE, direction=scorers.direction, language=language)
    return tuple(dict.fromkeys(n.role for n in needs(metrics, inputs, scorers, choices)))


def _of_parts(signed: Iterable[Signature]) -> dict[str, str]:
    """The fields of a metric's parts: where two say different things, with the part's name.

    How texts are prepared is always said for each part: ``acc.text``, ``ppl.text``.
    """
    said = [(one.metric, key, value) for one in signed for key, value in one if key not in _ENDS]
    values: dict[str, set[str]] = {}
    for _, key, value in said:
        values.setdefault(key, set()).add(value)
    return {
        f"{part}.{key}" if key == "text" or len(values[key]) > 1 else key: value
        for part, key, value in said
    }


def _versions(libraries: Iterable[str]) -> dict[str, str]:
    """Provenance: this package, and the libraries that computed the number."""
    found = {"tstbench": __version__}
    for name in libraries:
        if name != "tstbench" and (known := _version(name)):
            found[name] = known
    return found


@cache
def _version(library: str) -> str | None:
    """Of an installed library; asked for with every score, and read from a file."""
    try:
        return version(library)
    except PackageNotFoundError:
        return None
