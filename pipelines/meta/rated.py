"""Outputs with their mean human scores: the rows that metrics are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.judgments import mir2019
from ...datasets_scripts.judgments.schema import Judgment
from ..human.overall import derived_overalls


@dataclass(frozen=True)
class RatedOutput:
    """One output of one system, and what people said about it.

    Attributes:
        study: name of the study.
        direction: in full.
        system: who made it.
        model: the model of which the system is a setting, or ``None``.
        sentence: id of the sentence, or its number in the study.
        source: the text given; ``None`` if the study published none.
        output: the rewrite; ``None`` in the same case.
        scores: aspect to the mean over raters, rounded so that equal means of tenths are tied.
    """

    study: str
    direction: str
    system: str
    model: str | None
    sentence: str
    source: str | None
    output: str | None
    scores: Mapping[str, float]

    @property
    def item(self) -> tuple[str, str]:
        """What is resampled: the direction and the source sentence, whoever rewrote it."""
        return self.direction, self.sentence if self.source is None else self.source


def rated_outputs(judgments: Iterable[Judgment]) -> list[RatedOutput]:
    """The outputs in the order of first mention; flagged and missing scores are left out.

    A study that asked for style, content and fluency but not for an overall score gets a derived
    one, see :mod:`tstbench.pipelines.human.overall`. Mir et al.'s ratings of the sources themselves
    are no outputs. A judgment that names no sentence is left out.
    """
    sources = (mir2019.STUDY, mir2019.SOURCE_SYSTEM)
    rows = [row for row in judgments if (row.study, row.system) != sources]
    rows += derived_overalls(rows)
    given: dict[tuple[str, str, str, str], dict[str, list[float]]] = {}
    first: dict[tuple[str, str, str, str], Judgment] = {}
    for row in rows:
        sentence = row.sample_id or row.item
        if sentence is None or row.usable is None:
            continue
        key = (row.study, row.direction, row.system, sentence)
        first.setdefault(key, row)
        given.setdefault(key, {}).setdefault(row.aspect, []).append(row.usable)
    return [
        RatedOutput(
            study=study,
            direction=direction,
            system=system,
            model=first[key].model,
            sentence=sentence,
            source=first[key].source,
            output=first[key].output,
            scores={name: round(float(np.mean(some)), 9) for name, some in given[key].items()},
        )
        for key in given
        for study, direction, system, sentence in [key]
    ]
