"""How a calibrated Joint agrees with people where it was not fitted, beside the paper's Joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.cleaning import is_blank
from ...datasets_scripts.judgments.schema import Judgment
from ...errors import InputError
from ...metrics.functional.calibrated import calibrated_scores
from ..meta.aspects import NATURAL
from ..meta.columns import Column
from ..meta.cut import Settings
from ..meta.evaluate import meta_evaluate
from ..meta.known import ELSEWHERE
from ..meta.rated import RatedOutput
from ..meta.result import Left, MetaScore
from .fit import Data, fit
from .samples import SystemMeans
from .weights import fit_weights

OTHERS = "calibrated, fitted on other studies and directions"
PAPER = "joint"


@dataclass(frozen=True)
class WeightsHeldOut:
    """Systems of a dataset whose overall score is predicted from the aspects' ratings.

    Attributes:
        dataset: whose systems the weights were not fitted on.
        direction: whose systems are ranked.
        systems: their number.
        spearman: of the weighted mean and the overall score.
        spearman_equal: of the plain mean and the overall score.
        shares: of style, content and fluency, from the other datasets.
    """

    dataset: str
    direction: str
    systems: int
    spearman: float
    spearman_equal: float
    shares: tuple[float, float, float]


def weights_held_out(systems: SystemMeans) -> list[WeightsHeldOut]:
    """Leave-one-dataset-out of the weights; empty if there is one dataset."""
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
                WeightsHeldOut(
                    str(dataset),
                    str(direction),
                    len(some.overall),
                    float(spearmanr(weighted, some.overall).statistic),
                    float(spearmanr(plain, some.overall).statistic),
                    (float(shares[0]), float(shares[1]), float(shares[2])),
                )
            )
    return found


def overall_held_out(
    judgments: Sequence[Judgment],
    outputs: Mapping[str, Sequence[RatedOutput]],
    columns: Mapping[str, Mapping[str, Column]],
    data: Data,
    candidates: Mapping[str, Sequence[str]],
    settings: Settings,
) -> list[MetaScore]:
    """Agreement with each study's overall score, asked or derived, direction by direction.

    A direction is scored by parts fitted without it, whoever rated it, and with weights from other
    datasets; and again by parts fitted without its study as well, where that leaves enough.

    Args:
        judgments: as in :func:`~.samples.as_protocol`.
        outputs: study to its outputs, only studies with texts.
        columns: study -> metric -> scores of these outputs.
        data: what everything is fitted on.
        candidates: aspect to metrics; chosen from anew each time.
        settings: resamples and seed.
    """

    def score(some: Sequence[RatedOutput]) -> tuple[list[Column], list[Left]]:
        study = some[0].study
        return scored(study, some, columns[study], data, candidates), []

    rows = [row for row in judgments if row.study in outputs]
    report = meta_evaluate(rows, score, settings)
    return [one for one in report.scores if NATURAL.get(one.aspect) == "overall" and one.direction]


def scored(
    study: str,
    outputs: Sequence[RatedOutput],
    columns: Mapping[str, Column],
    data: Data,
    candidates: Mapping[str, Sequence[str]],
) -> list[Column]:
    """The paper's Joint if the study has one, and calibrated scores by parts from elsewhere."""
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
