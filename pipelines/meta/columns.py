"""Scores of registered metrics to compare with people, as columns beside the human scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...console import shown
from ...datasets_scripts.catalog import DATASETS, as_direction, language_of
from ...datasets_scripts.load import load_test_set
from ...errors import InputError, TSTBenchError
from ...metrics.contract import Cohort
from ...metrics.inputs import Inputs, check_inputs
from ...metrics.registry import metric_facts
from ...metrics.result import LeftOut, Measurement
from ...metrics.scorers.profile import Scorers
from ...metrics.statistics import Statistics
from ..kept_scores import measured
from ..scoring import Scoring
from .rated import RatedOutput
from .result import Left


@dataclass(frozen=True, eq=False)
class Column:
    """A metric's scores of the outputs of a study, in their order.

    Attributes:
        name: the metric, or the table's column; ``judge_style:grade`` is one wording of a judge.
        aspect: what the metric measures; ``other`` is compared with every aspect.
        sentence: shape (N,), NaN where there is none.
        sign: 1 if higher is better, else -1.
        corpus: (direction, system) to the statistics of its outputs and their positions, for
            metrics whose score of a system is not the mean of its outputs' scores.
        systems: (direction, system) to a score, where only systems were scored.
        signatures: direction to signature.
        is_part: whether it is a wording, which is compared alone: on all outputs that it scored.
    """

    name: str
    aspect: str
    sentence: np.ndarray
    sign: int = 1
    corpus: Mapping[tuple[str, str], tuple[Statistics, np.ndarray]] = field(default_factory=dict)
    systems: Mapping[tuple[str, str], float] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    is_part: bool = False


def computed_columns(
    outputs: Sequence[RatedOutput], how: Scoring, data_dir: Path | None = None
) -> tuple[list[Column], list[Left]]:
    """Score a study's outputs with registered metrics, direction by direction.

    Scorers that do not exist yet are trained first, as in an evaluation. A metric that does not
    apply to a direction, or whose scorer cannot be found, is left out there.

    Args:
        outputs: of one study.
        how: metrics, scorers and options.
        data_dir: the user's copy of a licensed corpus.
    """
    names = how.metrics
    values: dict[str, np.ndarray] = {}
    corpus: dict[str, dict[tuple[str, str], tuple[Statistics, np.ndarray]]] = {}
    signatures: dict[str, dict[str, str]] = {name: {} for name in names}
    left: list[Left] = []
    for direction in dict.fromkeys(output.direction for output in outputs):
        places = np.array([i for i, one in enumerate(outputs) if one.direction == direction])
        some = [outputs[i] for i in places]
        study = some[0].study
        try:
            inputs = _inputs(some, data_dir)
            scorers = how.scorers(as_direction(direction))
        except TSTBenchError as error:
            left += [
                Left(study=study, direction=direction, metric=n, why=str(error)) for n in names
            ]
            continue
        ready = _prepared(how, direction, data_dir)
        for name in shown(names, f"scores of {study}, {direction}", len(names)):
            try:
                if not ready:
                    replace(how, metrics=(name,)).prepare(as_direction(direction), data_dir)
                parts = _measure(name, some, inputs, scorers, how)
            except TSTBenchError as error:
                left.append(Left(study=study, direction=direction, metric=name, why=str(error)))
                continue
            for system, here, outcome in parts:
                if isinstance(outcome, LeftOut):
                    left.append(
                        Left(study=study, direction=direction, metric=name, why=outcome.why)
                    )
                    break
                signatures[name][direction] = str(outcome.signature)
                ways = {f"{name}:{w}": o.statistics for w, o in outcome.statistics.wordings.items()}
                for label, statistics in {name: outcome.statistics, **ways}.items():
                    own = values.setdefault(label, np.full(len(outputs), np.nan))
                    if statistics.per_sentence is not None:
                        own[places[here]] = statistics.per_sentence
                    for one, within in _by_system(some, here, system):
                        cut = replace(statistics, rows=statistics.rows[within], per_sentence=None)
                        corpus.setdefault(label, {})[direction, one] = (cut, places[here][within])
    columns = [
        Column(
            name=label,
            aspect=metric_facts(name).aspect,
            sentence=values[label],
            sign=1 if metric_facts(name).higher_is_better else -1,
            corpus=corpus[label],
            signatures=signatures[name],
            is_part=label != name,
        )
        for name in names
        for label in values
        if label.partition(":")[0] == name
    ]
    return columns, left


def _prepared(how: Scoring, direction: str, data_dir: Path | None) -> bool:
    """Train all scorers at once, which reads the data once; one by one if one of them fails."""
    if direction.split("/")[0] not in DATASETS:
        return True  # nothing to train on: a metric says itself which scorer it lacks
    try:
        how.prepare(as_direction(direction), data_dir)
    except TSTBenchError:
        return False
    return True


def _inputs(some: Sequence[RatedOutput], data_dir: Path | None) -> Inputs:
    """All outputs of a direction; references if the study's sentences are the test set's."""
    sources = [one.source for one in some]
    texts = [one.output for one in some]
    if None in sources or None in texts:
        raise InputError("the study published no texts for this direction")
    direction = as_direction(some[0].direction)
    return check_inputs(
        [text or "" for text in texts],
        [source or "" for source in sources],
        _references(some, data_dir),
        direction,
        language_of(direction),
    )


def _references(some: Sequence[RatedOutput], data_dir: Path | None) -> list[tuple[str, ...]] | None:
    direction = some[0].direction
    if direction.split("/")[0] not in DATASETS:
        return None
    try:
        test_set = load_test_set(direction, data_dir=data_dir)
    except TSTBenchError:  # its files are not here: metrics that need references are left out
        return None
    by_id = dict(zip(test_set.ids, test_set.references, strict=True))
    if any(one.sentence not in by_id for one in some):
        return None
    return [by_id[one.sentence] for one in some]


_Part = tuple[str | None, np.ndarray, Measurement | LeftOut]


def _measure(
    name: str, some: Sequence[RatedOutput], inputs: Inputs, scorers: Scorers, how: Scoring
) -> list[_Part]:
    """All systems at once, or one by one where the metric compares them."""
    whole = np.arange(len(some))
    if not metric_facts(name).compares_systems:
        outcome = measured(name, inputs, scorers, how.choices)
        return [(None, whole, outcome)]
    systems = list(dict.fromkeys(one.system for one in some))
    at = {
        system: np.array([i for i, one in enumerate(some) if one.system == system])
        for system in systems
    }
    sentences = {system: [some[int(i)].sentence for i in at[system]] for system in systems}
    if any(sentences[system] != sentences[systems[0]] for system in systems):
        raise InputError("it compares systems, but they were not rated on the same sentences")
    texts = {system: tuple(inputs.predictions[i] for i in at[system]) for system in systems}
    cohort = Cohort.of(texts)
    parts: list[_Part] = []
    for system in systems:
        own = replace(
            inputs,
            predictions=texts[system],
            sources=tuple((inputs.sources or ())[i] for i in at[system]),
            references=inputs.references and tuple(inputs.references[i] for i in at[system]),
        )
        outcome = measured(name, own, scorers, how.choices, cohort)
        parts.append((system, at[system], outcome))
    return parts


def _by_system(
    some: Sequence[RatedOutput], here: np.ndarray, system: str | None
) -> list[tuple[str, np.ndarray]]:
    """Systems and the positions of their outputs among ``here``."""
    if system is not None:
        return [(system, np.arange(len(here)))]
    groups: dict[str, list[int]] = {}
    for position, place in enumerate(here):
        groups.setdefault(some[place].system, []).append(position)
    return [(name, np.array(members)) for name, members in groups.items()]
