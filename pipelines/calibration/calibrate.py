"""From judgments to a calibration of Joint, with its intervals, evidence and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ...console import say
from ...datasets_scripts.cleaning import is_blank
from ...datasets_scripts.judgments.schema import Judgment
from ...errors import InputError
from ...metrics.joint.calibration import (
    Calibration,
    calibrated_scores,
    calibrations,
    load_calibration,
)
from ...metrics.registry import metric_facts
from ...metrics.statistics import SEED
from ..meta.coefficients import Settings
from ..meta.columns import Column, RatedOutput, computed_columns, rated_outputs
from ..meta.evaluate import meta_evaluate
from ..meta.known import ELSEWHERE
from ..meta.result import NATURAL, Left
from ..scoring import Scoring
from .fit import (
    FEWEST_SYSTEMS,
    Curve,
    Data,
    curve_intervals,
    fit,
    fit_weights,
    held_out,
    sign_of,
    weight_intervals,
)
from .samples import (
    ASPECTS,
    Sample,
    SystemMeans,
    as_protocol,
    grouped,
    rated_as_they_are,
    sample,
    scales_of,
    system_means,
)

OTHERS = "calibrated, fitted on other studies and directions"
PAPER = "joint"


def weights_held_out(systems: SystemMeans) -> list[dict[str, Any]]:
    """Leave-one-dataset-out of the weights; empty if there is one dataset.

    Returns:
        ``dataset``, on whose systems the weights were not fitted; ``direction``, whose systems are
        ranked; ``systems``, their number; ``spearman``, of the weighted mean and the overall score;
        ``spearman_equal``, of the plain mean and the overall score; ``shares`` of style, content
        and fluency, from the other datasets.
    """
    from scipy.stats import spearmanr  # takes a moment to import

    found = []
    datasets = np.unique(systems.dataset)
    for dataset in datasets if len(datasets) > 1 else ():
        there = systems.only(systems.dataset == dataset)
        shares = fit_weights(systems.only(systems.dataset != dataset))
        for direction in np.unique(there.direction):
            some = there.only(there.direction == direction)
            if len(some.overall) < 3:
                continue
            weighted, plain = some.aspects @ shares, some.aspects.mean(axis=1)
            found.append(
                {
                    "dataset": str(dataset),
                    "direction": str(direction),
                    "systems": len(some.overall),
                    "spearman": float(spearmanr(weighted, some.overall).statistic),
                    "spearman_equal": float(spearmanr(plain, some.overall).statistic),
                    "shares": shares.tolist(),
                }
            )
    return found


def elsewhere(
    study: str,
    outputs: Sequence[RatedOutput],
    columns: Mapping[str, Column],
    data: Data,
    candidates: Mapping[str, Sequence[str]],
) -> list[Column]:
    """The paper's Joint if the study has one, and calibrated scores by parts from elsewhere.

    A direction is scored by parts fitted without it, whoever rated it, and with weights from other
    datasets; and again by parts fitted without its study as well, where that leaves enough.
    """
    found = [columns[PAPER]] if PAPER in columns else []
    failed = np.array([is_blank(one.output or "") for one in outputs])
    directions = np.array([one.direction for one in outputs], dtype=str)
    for name, left_out in ((ELSEWHERE, None), (OTHERS, study)):
        scores = np.full(len(outputs), np.nan)
        for direction in np.unique(directions):
            try:
                parts = fit(data.without(study=left_out, direction=str(direction)), candidates)
            except InputError:  # nothing is left to fit on
                continue
            if any(part.metric not in columns for part in parts):
                continue
            here = directions == direction
            of = {part.metric: columns[part.metric].sentence[here] for part in parts}
            scores[here] = calibrated_scores(parts, of, failed[here])
        if np.isfinite(scores).any():
            found.append(Column(name=name, aspect="overall", sentence=scores))
    return found


_LIMITS = (
    "The curves are those of the scorers that gave these values (the profile, the classifier's "
    "kind and training data): other scorers put the same text elsewhere on a curve.",
    "Where raters agree little with each other or with the metric, a curve is flat: scores of "
    "systems lie closer together than people's.",
    "The weights are from people's own ratings; a metric that misreads an aspect misreads it with "
    "that aspect's weight.",
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to fit.

    Attributes:
        name: of the calibration.
        candidates: aspect -> metrics, of which the one that explains most elsewhere is taken.
        without: directions that nothing is fitted on, nor weights on their datasets.
        resamples: bootstrap replicates of every interval.
        seed: of all of them.
    """

    name: str
    candidates: Mapping[str, Sequence[str]]
    without: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = SEED

    def __post_init__(self) -> None:
        """Check names.

        Raises:
            InputError: an aspect without a metric, or a metric that measures another aspect.
            UnknownNameError: no such metric.
        """
        Settings(resamples=self.resamples)  # checks them
        for aspect in ASPECTS:
            if not self.candidates.get(aspect):
                raise InputError(f"no metric for {aspect}: give one, such as {aspect}=METRIC")
        for aspect, metrics in self.candidates.items():
            if aspect not in ASPECTS:
                raise InputError(f"{aspect!r} is not a part; parts are {', '.join(ASPECTS)}")
            for metric in metrics:
                of = metric_facts(metric).aspect
                if of != aspect:
                    raise InputError(f"{metric} measures {of}, not {aspect}")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every candidate, each once."""
        return tuple(dict.fromkeys(m for a in ASPECTS for m in self.candidates[a]))


@dataclass(frozen=True, eq=False)
class Measured:
    """Rated outputs with the metrics' scores.

    Attributes:
        outputs: study to its outputs; studies without texts are not here.
        columns: study -> metric -> scores of these outputs.
    """

    outputs: Mapping[str, Sequence[RatedOutput]]
    columns: Mapping[str, Mapping[str, Column]]


def measured(
    judgments: Sequence[Judgment], how: Scoring, plan: Plan, data_dir: Path | None = None
) -> Measured:
    """Score the outputs of every study that has texts, with the candidates and the paper's Joint.

    Args:
        judgments: as in :func:`~.samples.as_protocol`.
        how: scorers and options; its metrics are not read.
        plan: names the metrics.
        data_dir: the user's copy of a licensed corpus.
    """
    outputs: dict[str, Sequence[RatedOutput]] = {}
    columns: dict[str, dict[str, Column]] = {}
    for study in dict.fromkeys(row.study for row in judgments):
        some = [
            one
            for one in rated_outputs(row for row in judgments if row.study == study)
            if one.source is not None and one.output is not None
        ]
        if not some:
            continue
        found, left = computed_columns(some, replace(how, metrics=(*plan.metrics, PAPER)), data_dir)
        for one in left:
            if one.metric != PAPER:
                say(f"{one.study}, {one.direction}: no {one.metric}: {one.why}")
        outputs[study], columns[study] = some, {column.name: column for column in found}
    return Measured(outputs, columns)


def calibrate(
    judgments: Sequence[Judgment],
    how: Scoring,
    plan: Plan,
    data_dir: Path | None = None,
) -> Calibration:
    """Fit a calibration.

    Curves are fitted on every study with texts that asked for the aspect, weights on every study
    that asked for an overall score too. Without such a study the weights of the newest calibration
    of the package are kept.

    Args:
        judgments: of one study or more.
        how: scorers and options.
        plan: parts, name, resampling.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        InputError: an aspect has no ratings of texts; or too few.
    """
    rows = as_protocol(judgments)
    return calibrated(judgments, measured(rows, how, plan, data_dir), how.profile.name, plan)


def calibrated(
    judgments: Sequence[Judgment], scored: Measured, profile: str, plan: Plan
) -> Calibration:
    """The same from scores that are already there."""
    rows = as_protocol(judgments)
    data = _data(judgments, rows, scored, plan)
    records = [
        record
        for aspect, of in data.samples.items()
        for metric, some in of.items()
        for record in held_out(aspect, metric, some)
    ]
    weighted = len(data.systems.overall) > 0
    sure = weight_intervals(data.systems, plan.resamples, plan.seed) if weighted else {}
    parts = []
    for part in fit(data, plan.candidates):
        some, curve = data.samples[part.aspect][part.metric].best, Curve(part.slope, part.offset)
        sign = sign_of(part.metric)
        intervals = curve_intervals(some, sign, curve, plan.resamples, plan.seed)
        if weighted:
            intervals = {"weight": sure[part.aspect], **intervals}
        parts.append(
            replace(
                part,
                weight=round(part.weight, 4),
                slope=round(curve.slope, 6),
                offset=round(curve.offset, 6),
                intervals={n: (round(a, 4), round(b, 4)) for n, (a, b) in intervals.items()},
            )
        )
    settings = Settings(resamples=plan.resamples, seed=plan.seed, differences=False)

    def score(some: Sequence[RatedOutput]) -> tuple[list[Column], list[Left]]:
        study = some[0].study
        return elsewhere(study, some, scored.columns[study], data, plan.candidates), []

    overall = meta_evaluate([row for row in rows if row.study in scored.outputs], score, settings)
    chosen: dict[str, str] = {part.aspect: part.metric for part in parts}
    signatures: dict[str, JsonValue] = {
        metric: dict(column.signatures)
        for metric in chosen.values()
        for columns in scored.columns.values()
        if (column := columns.get(metric))
    }
    return Calibration(
        name=plan.name,
        parts=tuple(parts),
        profile=profile,
        fitted_on=_sources(data, chosen),
        evidence={
            "curves": [_rounded(one) for one in records],
            "weights": [_rounded(one) for one in weights_held_out(data.systems)],
            "overall": [
                one.model_dump(exclude_none=True)
                for one in overall.scores
                if NATURAL.get(one.aspect) == "overall" and one.direction
            ],
            "signatures": signatures,
            "resamples": plan.resamples,
            "seed": plan.seed,
        },
        limits=(*_LIMITS, *_data_limits(data, weighted)),
    )


def _data(
    judgments: Sequence[Judgment], rows: Sequence[Judgment], scored: Measured, plan: Plan
) -> Data:
    scales = scales_of(rows)
    as_is = rated_as_they_are(judgments)
    samples: dict[str, dict[str, Sample]] = {}
    for aspect in ASPECTS:
        asked = [study for study in scored.outputs if (study, aspect) in scales]
        if not asked:
            raise InputError(
                f"no study here has ratings of {aspect} with texts: a calibration needs style, "
                "content and fluency. Name a published study too, such as li2018"
            )
        for metric in plan.candidates[aspect]:
            parts = [
                sample(
                    scored.outputs[study],
                    aspect,
                    scored.columns[study][metric].sentence,
                    scales,
                    (study, aspect) in as_is,
                )
                for study in asked
                if metric in scored.columns[study]
            ]
            joined = Sample.joined([part for part in parts if len(part.values)])
            samples.setdefault(aspect, {})[metric] = joined
    systems = system_means(rows)
    data = Data(samples=samples, systems=systems, kept=_kept(len(systems.overall)))
    for direction in plan.without:
        data = data.without(direction=direction)
    if 0 < len(data.systems.overall) < FEWEST_SYSTEMS:
        say(f"weights need {FEWEST_SYSTEMS} systems with an overall score: there are too few")
        nobody = np.zeros(len(data.systems.overall), dtype=bool)
        data = replace(data, systems=data.systems.only(nobody), kept=_kept(0))
    return data


def _kept(systems: int) -> np.ndarray:
    """The weights of the newest calibration that comes with the package, for want of own ones."""
    if systems or not calibrations():
        return np.full(len(ASPECTS), 1 / len(ASPECTS))
    shipped = load_calibration(calibrations()[-1])
    say(f"nobody gave an overall score: the weights are those of {shipped.name}")
    of: dict[str, float] = {part.aspect: part.weight for part in shipped.parts}
    shares = np.array([of.get(aspect, 0.0) for aspect in ASPECTS])
    return np.asarray(shares / shares.sum())


def _sources(data: Data, chosen: Mapping[str, str]) -> tuple[str, ...]:
    lines = []
    for aspect in ASPECTS:
        some = data.samples[aspect][chosen[aspect]].best
        first, _, sizes = grouped(some.study, some.direction)
        counts = [
            f"{some.study[place]} {some.direction[place]} {size}"
            for place, size in zip(first, sizes, strict=True)
        ]
        lines.append(f"curve of {aspect}: outputs of {', '.join(counts)}")
    systems = data.systems
    studies = ", ".join(dict.fromkeys(systems.study.tolist()))
    if len(systems.overall):
        number = len(dict.fromkeys(systems.direction.tolist()))
        lines.append(
            f"weights: means of {len(systems.overall)} systems in {number} directions of {studies}"
        )
    else:
        lines.append("weights: not fitted here, kept from the package")
    return tuple(lines)


def _data_limits(data: Data, weighted: bool) -> tuple[str, ...]:
    some = [sample for of in data.samples.values() for sample in of.values()]
    tasks = sorted({str(name) for one in some for name in one.direction})
    lines = [f"The curves have seen {', '.join(tasks)} only; another task or language may differ."]
    if not weighted:
        lines.append("The weights were not fitted on these judgments.")
    return tuple(lines)


def _rounded(record: Mapping[str, Any]) -> dict[str, JsonValue]:
    def short(value: Any) -> JsonValue:
        if isinstance(value, float):
            return round(value, 4) if np.isfinite(value) else None
        return [short(one) for one in value] if isinstance(value, list) else str(value)

    return {
        name: value if isinstance(value, int) else short(value) for name, value in record.items()
    }


WIDTH = 80


def summary(calibration: Calibration) -> str:
    """At most 80 columns wide, and no colours."""
    return "\n".join(line[:WIDTH].rstrip() for line in _lines(calibration)) + "\n"


def _lines(calibration: Calibration) -> Iterator[str]:
    yield f"{calibration.signed}, profile {calibration.profile}"
    yield ""
    yield f"{'part':8} {'metric':16} {'weight':23} {'slope':>8} {'offset':>8}"
    for part in calibration.parts:
        weight = f"{part.weight:.3f}{_interval(part.intervals.get('weight'))}"
        yield (
            f"{part.aspect:8} {part.metric[:16]:16} {weight:23} "
            f"{part.slope:8.3g} {part.offset:8.3g}"  # of perplexity it is about -0.0001
        )
    evidence: Mapping[str, Any] = calibration.evidence
    if rows := evidence.get("curves"):
        yield ""
        yield "Curves on what they were not fitted on: share of the ratings' variance explained"
        yield f"{'part':8} {'metric':16} {'left out':32} {'explained':>9} {'rho':>6}"
        for row in rows:
            yield (
                f"{row['aspect']:8} {row['metric'][:16]:16} {row['name'][:32]:32} "
                f"{_number(row['explained']):>9} {_number(row['spearman']):>6}"
            )
    if rows := evidence.get("weights"):
        yield ""
        yield "Weights, fitted on other datasets: Spearman with people's overall, systems"
        yield f"{'direction':40} {'systems':>7} {'weighted':>9} {'equal':>7}"
        for row in rows:
            yield (
                f"{row['direction'][:40]:40} {row['systems']:>7} {_number(row['spearman']):>9} "
                f"{_number(row['spearman_equal']):>7}"
            )
    for level in ("system", "sentence"):
        where = ("spearman", level)
        rows = [r for r in evidence.get("overall", ()) if (r["coefficient"], r["level"]) == where]
        if rows:
            yield ""
            yield f"Joint: Spearman with the overall score, {level} level, 95% over sentences"
        for row in rows:
            found = f"{_number(row.get('value')):>6}{_interval((row.get('low'), row.get('high')))}"
            yield f"{row['study'][:10]:10} {row['direction'][:36]:36} {found}"
            yield f"{'':10} {row['metric']}; {row['aspect'].replace('_', ' ')}"


def _interval(bounds: tuple[float | None, float | None] | None) -> str:
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return ""
    return f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
