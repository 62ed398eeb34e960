"""The evaluation: systems in, reports and a ranking out.

Scorers are loaded once for all systems, and every distinct text is scored once: all systems share
the sources and references, and often repeat them or one another. What a results folder already has
is not computed again and does not need a scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from ..chat.cost import Estimate
from ..console import progress, say
from ..datasets_scripts.catalog import dataset_facts
from ..datasets_scripts.load import TestSet
from ..errors import InputError
from ..metrics.base import Cohort, LeftOut, Measurement, Outcome, draw_together, finite
from ..metrics.inputs import Inputs, check_inputs
from ..metrics.measure import measure, needs, plan, roles_needed
from ..metrics.options import BENCHMARK, Choices
from ..metrics.registry import metric_facts
from ..metrics.scorers.profile import Profile, Scorers
from ..metrics.scorers.roles import roles
from ..metrics.signature import Signature
from ..metrics.statistics import Interval
from .growth import Scored, SystemResults, Texts, keep, merged, read_results
from .kept_scores import BLOCK, in_blocks, is_ours
from .output_checks import own_reference, warn
from .outputs import Outputs
from .ranking import Bootstrapped
from .references import is_reference
from .report import (
    DataInfo,
    IntervalInfo,
    Omission,
    Report,
    Score,
    SystemInfo,
    omission_identity,
    score_recipe,
)
from .results import SAMPLES_FILE, check_names, direction_folder, read_direction
from .scoring import Scoring
from .seeds import pooled
from .standings import Standings, write_significance

_CHUNK = 1024  # sentences between two steps of the progress bar
_JUDGE = "judge"  # the role


@dataclass(frozen=True)
class Evaluated:
    """One system, measured.

    Attributes:
        asked: metric to the recipe of the score that was asked for.
        computed: how many scores were computed; the others already existed.
        results: everything known about the system: the requested scores and all earlier ones.
    """

    asked: Mapping[str, str]
    computed: int
    results: SystemResults

    @property
    def info(self) -> SystemInfo:
        """Who made the predictions."""
        return self.results.system

    @property
    def kept(self) -> int:
        """How many scores there were already; all of them stay, asked for or not."""
        return len(self.results.scored) - self.computed

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """Value and replicates of each requested score, by key."""
        asked = {*self.asked.values()}
        return {s.score.key: s.bootstrapped for s in self.results.scored if s.score.recipe in asked}

    @property
    def report(self) -> Report:
        """The report of the requested scores, in the order requested."""
        whole = self.results.report
        scores = {score.recipe: score for score in whole.scores}
        omissions = {one.recipe: one for one in whole.left_out}
        recipes = self.asked.values()
        return whole.model_copy(
            update={
                "scores": tuple(scores[r] for r in recipes if r in scores),
                "left_out": tuple(omissions[r] for r in recipes if r in omissions),
            }
        )


@dataclass(frozen=True)
class Evaluation:
    """All systems of one direction, measured with the same scorers."""

    test_set: TestSet
    systems: tuple[Evaluated, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The requested metrics, in the order requested."""
        return tuple(self.systems[0].asked)

    @cached_property
    def standings(self) -> Standings:
        """The requested scores of each system, ranked; several seeds of one are their mean."""
        return Standings.of(pooled(self.systems))

    def summary(self) -> str:
        """How many scores were kept and computed: ``kept 9 scores, computed 1``."""
        kept, computed = (sum(getattr(s, n) for s in self.systems) for n in ("kept", "computed"))
        return f"kept {kept} score{'s' * (kept != 1)}, computed {computed}"


@dataclass(frozen=True)
class _Job:
    """One system, before anything is measured.

    Attributes:
        planned: metric to the signature that its score will have, or why there will be none.
        recipes: metric to recipe.
        pending: the metrics still to be computed.
        warnings: what looks wrong with the outputs.
        there: what the results have.
    """

    info: SystemInfo
    outputs: Outputs
    inputs: Inputs
    planned: Mapping[str, Signature | LeftOut]
    recipes: Mapping[str, str]
    pending: tuple[str, ...]
    warnings: tuple[str, ...]
    there: SystemResults | None


def evaluate(
    outputs: Sequence[Outputs],
    test_set: TestSet,
    how: Scoring,
    infos: Mapping[str, SystemInfo] | None = None,
    root: Path | None = None,
    systems: Cohort | None = None,
    scorers: Scorers | None = None,
    data_dir: Path | None = None,
    *,
    rank: bool = True,
) -> Evaluation:
    """Measure systems on one direction, after saying what looks wrong with their outputs.

    Scorers that do not exist yet are trained first.

    Args:
        outputs: the predictions of each system.
        test_set: sources and references.
        how: metrics, options and scorers.
        infos: what is known about each system, by name; by default what the results say.
        root: a results folder to add to. Scores that are up to date are not computed again; each
            system is written as soon as it is scored.
        systems: all systems of the direction, for metrics that compare them with one another; by
            default those given here and those in ``root``.
        scorers: the direction's, if they have been looked up; then all must exist.
        data_dir: the user's copy of a licensed corpus, to train on.
        rank: whether to compare all systems in ``root`` at the end, in ``significance.json``.

    Raises:
        InputError: no systems, two with the same name, or one whose folder in ``root`` is taken.
        MissingScorerError: a scorer does not exist yet.
    """
    if not outputs:
        raise InputError("there are no systems to evaluate")
    check_names([o.system for o in outputs])
    infos = infos or {}
    checked = [inputs_of(one, test_set) for one in outputs]
    warnings = warn(outputs, test_set, infos, root)
    if scorers is None:
        how.prepare(test_set.direction, data_dir)
        scorers = how.scorers(test_set.direction)
    systems = systems or cohort(outputs, test_set, how, root)
    jobs = [
        _job(one, inputs, test_set, scorers, how, infos, root, systems, warnings[one.system])
        for one, inputs in zip(outputs, checked, strict=True)
    ]
    many = len(test_set) > 2 * BLOCK
    measured = _many(jobs, scorers, how) if many else [dict[str, Outcome]() for _ in jobs]
    for pending in dict.fromkeys(job.pending for job in jobs):
        some = [job.inputs for job in jobs if job.pending == pending]
        at_once = [metric for metric in pending if not any(metric in one for one in measured)]
        _precompute(scorers, some, at_once, how.choices)
    evaluation = Evaluation(
        test_set,
        tuple(
            _evaluated(job, test_set, scorers, how, root, systems, known)
            for job, known in zip(jobs, measured, strict=True)
        ),
    )
    if root and rank:
        write_significance(direction_folder(root, test_set.direction))
    return evaluation


def judge_estimate(outputs: Sequence[Outputs], test_set: TestSet, how: Scoring) -> Estimate:
    """The judge's requests for some systems: what is asked twice is sent once.

    No other scorer is looked at, trained or downloaded.

    Raises:
        InputError: no metric asks a judge, or none was named.
    """
    scorers = how.scorers(test_set.direction)
    requests: dict[str, None] = {}
    asks = False
    for one in outputs:
        for need in needs(how.metrics, inputs_of(one, test_set), scorers, how.choices):
            if need.role == _JUDGE:
                asks = True
                requests.update(dict.fromkeys(need.texts))
    if not asks:
        raise InputError(
            "--dry-run: none of these metrics asks a chat model; name llm_judge, or leave it out"
        )
    found: Estimate = scorers.load(_JUDGE).estimate(tuple(requests))
    return found


def cohort(
    outputs: Sequence[Outputs], test_set: TestSet, how: Scoring, root: Path | None = None
) -> Cohort | None:
    """All systems of a direction, given or in ``root``; ``None`` if no metric needs them."""
    if not any(metric_facts(metric).compares_systems for metric in how.metrics):
        return None
    stored = read_direction(direction_folder(root, test_set.direction)) if root else []
    predictions = {one.system: one.predictions for one in outputs}
    for one in stored:
        name = one.report.system.name
        if one.report.data.fingerprint != test_set.fingerprint or name in predictions:
            continue
        if one.has_samples:
            predictions[name] = tuple(sample.prediction for sample in one.each_sample())
        else:  # which a licensed corpus allows
            say(f"{one.folder} has no {SAMPLES_FILE}: nothing is compared with {name}")
    return Cohort.of(predictions)


def inputs_of(outputs: Outputs, test_set: TestSet) -> Inputs:
    """A system's predictions and what they are measured against, checked.

    Predictions that are a reference themselves are compared with the other references.
    """
    language = dataset_facts(test_set.direction.dataset).language
    given = outputs.predictions, test_set.sources
    inputs = check_inputs(*given, test_set.references, test_set.direction, language)
    own = own_reference(outputs.predictions, test_set, bound=is_reference(outputs.system))
    if own is None:
        return inputs
    others = check_inputs(*given, [(*r[: own - 1], *r[own:]) for r in test_set.references])
    return replace(inputs, without=f"reference-{own}", others=others.references)


def recipes_of(
    outputs: Outputs, test_set: TestSet, planned: Mapping[str, Signature | LeftOut]
) -> dict[str, str]:
    """The recipe of each planned metric; what a report has under it is not computed again."""
    return {
        metric: score_recipe(outputs.sha256, test_set.fingerprint, _identity(one))
        for metric, one in planned.items()
    }


def _precompute(
    scorers: Scorers,
    inputs: Sequence[Inputs],
    metrics: Iterable[str],
    choices: Choices = BENCHMARK,
) -> None:
    """Have every scorer that the metrics need score the texts of all systems, each once.

    Scorers remember what they have scored, so the metrics only look up values afterwards. Sorting
    all texts by length wastes less padding than making batches for each system and view.
    """
    metrics = tuple(metrics)
    texts: dict[str, dict[str, None]] = {}
    for one in inputs:
        for need in needs(metrics, one, scorers, choices):
            texts.setdefault(need.role, {}).update(dict.fromkeys(need.texts))
    # The encoder first: what it remembers serves the probes too. The language model last: where it
    # is asked for styles, it has read the texts.
    for role in sorted(texts, key=lambda name: (name != "encoder", name == "causal_lm", name)):
        score = getattr(scorers.load(role), roles()[role].method)
        if not roles()[role].in_chunks:
            score(list(texts[role]))
            continue
        _in_chunks(roles()[role].title, list(texts[role]), score)


def _many(jobs: Sequence[_Job], scorers: Scorers, how: Scoring) -> list[dict[str, Outcome]]:
    """What is pending of many sentences, by job: measured and kept block by block.

    Sums over sentences are all that a metric needs, so the numbers are those of one piece. Metrics
    that compare systems or ask a judge, and those of other packages, are not among them.
    """
    asks = {m for m in how.metrics if _JUDGE in roles_needed([m], scorers, how.choices)}
    apart = asks | {m for m in how.metrics if metric_facts(m).compares_systems or not is_ours(m)}
    asked = [
        {m: one for m in job.pending if isinstance(one := job.planned[m], Signature)}
        for job in jobs
    ]
    chosen = [{m: one for m, one in some.items() if m not in apart} for some in asked]
    return in_blocks([job.inputs for job in jobs], chosen, scorers, how.choices)


def _in_chunks(what: str, texts: Sequence[str], score: Callable[[Sequence[str]], object]) -> None:
    distinct = sorted(texts, key=len)
    with progress(len(distinct), what, unit=" texts") as bar:
        for start in range(0, len(distinct), _CHUNK):
            chunk = distinct[start : start + _CHUNK]
            score(chunk)
            bar.update(len(chunk))


def _job(
    outputs: Outputs,
    inputs: Inputs,
    test_set: TestSet,
    scorers: Scorers,
    how: Scoring,
    infos: Mapping[str, SystemInfo],
    root: Path | None,
    systems: Cohort | None,
    warnings: tuple[str, ...],
) -> _Job:
    planned = plan(how.metrics, inputs, scorers, how.choices, systems)
    recipes = recipes_of(outputs, test_set, planned)
    there = read_results(root, test_set.direction, outputs.system) if root else None
    done = there.recipes if there else frozenset()
    known = there.system if there else SystemInfo(name=outputs.system)
    return _Job(
        info=infos.get(outputs.system, known),
        outputs=outputs,
        inputs=inputs,
        planned=planned,
        recipes=recipes,
        pending=tuple(metric for metric in planned if recipes[metric] not in done),
        warnings=warnings,
        there=there,
    )


def _evaluated(
    job: _Job,
    test_set: TestSet,
    scorers: Scorers,
    how: Scoring,
    root: Path | None,
    systems: Cohort | None,
    known: Mapping[str, Outcome],
) -> Evaluated:
    asked = {metric: job.recipes[metric] for metric in how.metrics}
    there = job.there
    if there and not job.pending and (there.system, there.warnings) == (job.info, job.warnings):
        return Evaluated(asked, computed=0, results=there)
    rest = [metric for metric in job.pending if metric not in known]
    found = {**known, **measure(rest, job.inputs, scorers, how.choices, systems)}
    outcomes = {metric: found[metric] for metric in job.pending}
    draw_together([one for one in outcomes.values() if isinstance(one, Measurement)])
    fresh = SystemResults(
        direction=test_set.direction,
        system=job.info,
        data=DataInfo.of(test_set),
        texts=Texts(test_set.ids, test_set.sources, test_set.references, job.outputs.predictions),
        scored=tuple(
            _scored(outcome, job, scorers.profile)
            for outcome in outcomes.values()
            if isinstance(outcome, Measurement)
        ),
        left_out=tuple(
            Omission(metric=outcome.metric, why=outcome.why, recipe=job.recipes[outcome.metric])
            for outcome in outcomes.values()
            if isinstance(outcome, LeftOut)
        ),
        warnings=job.warnings,
        without=job.inputs.without,
    )
    return Evaluated(
        asked=asked,
        computed=len(fresh.scored),
        results=keep(root, fresh) if root else merged(None, fresh)[0],
    )


def _identity(planned: Signature | LeftOut) -> str:
    if isinstance(planned, Signature):
        return str(planned)
    version = metric_facts(planned.metric).version
    return omission_identity(planned.metric, version, planned.why)


def _scored(measurement: Measurement, job: _Job, profile: Profile) -> Scored:
    planned = job.planned[measurement.metric]
    if planned != measurement.signature:  # else it would be computed again and again
        raise RuntimeError(f"{planned} was planned, {measurement.signature} was measured")
    score = Score(
        key=measurement.metric,
        metric=measurement.metric,
        value=finite(measurement.value),
        unit=measurement.facts.unit,
        higher_is_better=measurement.facts.higher_is_better,
        interval=_interval_info(measurement.interval()),
        signature=str(measurement.signature),
        made_with=measurement.signature.made_with,
        recipe=job.recipes[measurement.metric],
        profile=profile.name,
        answers={one: some.answers for one, some in measurement.statistics.wordings.items()},
    )
    return Scored(
        score,
        measurement.statistics.per_sentence,
        Bootstrapped(measurement.value, measurement.replicates),
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
