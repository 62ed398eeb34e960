"""The meta-evaluation: judgments and scores in, coefficients with intervals and tests out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import numpy as np

from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.judgments.studies import STUDIES
from ...errors import InputError
from ...version import __version__
from .coefficients import Settings
from .columns import Column, RatedOutput, rated_outputs
from .levels import (
    FEWEST,
    Cut,
    OfModel,
    cuts,
    means_of_models,
    sentence_level,
    system_level,
)
from .result import Left, MetaDifference, MetaReport, MetaScore

Scored = Callable[[Sequence[RatedOutput]], tuple[list[Column], list[Left]]]


def meta_evaluate(
    judgments: Iterable[Judgment], score: Scored, settings: Settings | None = None
) -> MetaReport:
    """Measure how far metrics agree with people on every study, direction and aspect.

    Args:
        judgments: of one or more studies.
        score: from the outputs of a study to the metrics' scores of them, and what has none.
        settings: see :class:`Settings`.

    Raises:
        InputError: no judgment can be compared with anything.
    """
    settings = settings or Settings()
    studies: dict[str, list[Judgment]] = {}
    for judgment in judgments:
        studies.setdefault(judgment.study, []).append(judgment)
    if not studies:
        raise InputError("no human judgments to compare with")
    scores: list[MetaScore] = []
    differences: list[MetaDifference] = []
    left: list[Left] = []
    signatures: dict[str, dict[str, str]] = {}
    for study, rows in studies.items():
        outputs = rated_outputs(rows)
        columns, missing = score(outputs)
        left += missing
        for column in columns:
            for direction, signature in column.signatures.items():
                signatures.setdefault(column.name, {})[f"{study} {direction}"] = signature
        models: list[OfModel] = []
        for cut in cuts(study, outputs, columns, settings):
            before = len(scores)
            for level_scores, level_differences in (
                sentence_level(cut, models),
                system_level(cut),
            ):
                scores += level_scores
                differences += level_differences
            compared = {one.metric for one in scores[before:] if one.value is not None}
            if cut.model is None:
                scores[before:] = [one for one in scores[before:] if one.metric in compared]
            left += _uncompared(cut, compared, missing)
        scores += means_of_models(models)
    return MetaReport(
        made_with=f"tstbench {__version__}",
        date=datetime.now(UTC).date().isoformat(),
        resamples=settings.resamples,
        seed=settings.seed,
        terms={study: str(STUDIES[study]) for study in studies if study in STUDIES},
        signatures={name: found for name, found in signatures.items() if found},
        scores=tuple(scores),
        differences=tuple(differences),
        left_out=tuple(dict.fromkeys(left)),  # one reason for all aspects is said once
    )


def _uncompared(cut: Cut, compared: set[str], known: Sequence[Left]) -> list[Left]:
    """Metrics of which nothing can be said, and why, unless that is known of the direction."""
    said = {
        one.metric for one in known if one.study == cut.study and one.direction == cut.direction
    }
    found = []
    for column in cut.columns if cut.direction is not None else ():
        if column.name in said | compared:
            continue
        if column.systems:
            scored = [one for one in cut.systems if (cut.direction, one) in column.systems]
            why = f"{len(scored)} of its systems are scored: {FEWEST} are needed"
            if len(scored) >= FEWEST:
                why = f"its scores of systems, or their human {cut.aspect}, are all the same"
            found.append(
                Left(study=cut.study, direction=cut.direction, metric=column.name, why=why)
            )
            continue
        values = column.sentence[cut.places]
        scored = np.isfinite(values)
        number = int(scored.sum())
        why = f"of the outputs with human {cut.aspect}, {number} have its score"
        if number >= FEWEST:
            why = (
                f"of these outputs with human {cut.aspect}, not {FEWEST} have every metric's score"
            )
            for name, column_values in ((f"human {cut.aspect}", cut.human), ("score", values)):
                if np.ptp(column_values[scored]) == 0:
                    same = f"all {number} outputs have the same {name}"
                    why = f"{same}, {column_values[scored][0]:g}: no correlation is defined"
                    break
        found.append(Left(study=cut.study, direction=cut.direction, metric=column.name, why=why))
    return found
