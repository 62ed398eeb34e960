"""Scores of registered metrics to compare with people, as columns beside the human scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ...console import shown
from ...datasets_scripts.catalog import DATASETS, as_direction, language_of
from ...datasets_scripts.judgments import mir2019
from ...datasets_scripts.judgments.own import read_score
from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.load import load_test_set
from ...datasets_scripts.tables import read_delimited
from ...errors import InputError, TSTBenchError
from ...metrics.base import Cohort, LeftOut, Measurement
from ...metrics.inputs import Inputs, check_inputs
from ...metrics.registry import metric_facts
from ...metrics.scorers.profile import Scorers
from ...metrics.statistics import Statistics
from ..human import derived_overalls
from ..kept_scores import measured
from ..scoring import Scoring
from .result import Left


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
    one, see :mod:`tstbench.pipelines.human`. Mir et al.'s ratings of the sources themselves
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
            for here, outcome in parts:
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
                    for one, within in _by_system(some, here):
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


_Part = tuple[np.ndarray, Measurement | LeftOut]


def _measure(
    name: str, some: Sequence[RatedOutput], inputs: Inputs, scorers: Scorers, how: Scoring
) -> list[_Part]:
    """All systems at once, or one by one where the metric compares them."""
    whole = np.arange(len(some))
    if not metric_facts(name).compares_systems:
        return [(whole, measured([name], inputs, scorers, how.choices)[name])]
    at = _by_system(some, whole)
    if len({tuple(some[i].sentence for i in places) for _, places in at}) > 1:
        raise InputError("it compares systems, but they were not rated on the same sentences")
    texts = {system: tuple(inputs.predictions[i] for i in places) for system, places in at}
    cohort = Cohort.of(texts)
    parts: list[_Part] = []
    for system, places in at:
        own = replace(
            inputs,
            predictions=texts[system],
            sources=tuple((inputs.sources or ())[i] for i in places),
            references=inputs.references and tuple(inputs.references[i] for i in places),
        )
        parts.append((places, measured([name], own, scorers, how.choices, cohort)[name]))
    return parts


def _by_system(some: Sequence[RatedOutput], here: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Systems and the positions of their outputs among ``here``."""
    groups: dict[str, list[int]] = {}
    for position, place in enumerate(here):
        groups.setdefault(some[place].system, []).append(position)
    return [(name, np.array(members)) for name, members in groups.items()]


@dataclass(frozen=True, kw_only=True)
class ScoreTable:
    """A table of scores that somebody computed.

    Attributes:
        path: CSV, or tab-separated (``.tsv``).
        names: its columns with scores.
        rows: line, and what identifies the output: direction, system, id, source, output.
        scores: shape (rows, columns), NaN where there is none.
        lower: columns where lower is better.
    """

    path: Path
    names: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]
    scores: np.ndarray
    lower: tuple[str, ...] = ()

    def columns(self, outputs: Sequence[RatedOutput]) -> list[Column]:
        """The columns for a study's outputs; empty if none of its outputs is in the table."""
        sentence = np.full((len(outputs), len(self.names)), np.nan)
        found: dict[tuple[str, ...], list[int]] = {}
        for number, one in enumerate(outputs):
            for key in _keys(one):
                found.setdefault(key, []).append(number)
        systems: list[dict[tuple[str, str], float]] = [{} for _ in self.names]
        known = {(one.direction, one.system) for one in outputs}
        studies = {one.study for one in outputs}
        scored: dict[int | tuple[str, str], tuple[int, np.ndarray]] = {}
        for (line, row), scores in zip(self.rows, self.scores, strict=True):
            if row.get("study") and row["study"] not in studies:
                continue
            if "id" not in row and "output" not in row:
                pair = (row["direction"], row["system"])
                if pair in known:
                    self._once(scored, pair, line, scores)
                    for place in range(len(self.names)):
                        systems[place][pair] = float(scores[place])
                continue  # not a score of outputs, which could match where they have no texts
            for number in found.get(_key(row), ()):
                self._once(scored, number, line, scores)
                sentence[number] = scores
        return [
            Column(
                name=name,
                aspect="other",
                sentence=sentence[:, place],
                sign=-1 if name in self.lower else 1,
                systems={pair: v for pair, v in systems[place].items() if not math.isnan(v)},
            )
            for place, name in enumerate(self.names)
            if systems[place] or np.isfinite(sentence[:, place]).any()
        ]

    def scored(self, outputs: Sequence[RatedOutput]) -> tuple[list[Column], list[Left]]:
        """The columns for a study's outputs, and why others are not among them."""
        found = self.columns(outputs)
        left = []
        for place, name in enumerate(self.names):
            if name in {column.name for column in found}:
                continue
            why = f"{self.path} has none of the study's outputs or systems"
            if np.isnan(self.scores[:, place]).all():
                why = f"{self.path} has no score in this column: all its cells are empty"
            study = outputs[0].study if outputs else ""
            left.append(Left(study=study, direction=None, metric=name, why=why))
        return found, left

    def _once(
        self,
        scored: dict[int | tuple[str, str], tuple[int, np.ndarray]],
        what: int | tuple[str, str],
        line: int,
        scores: np.ndarray,
    ) -> None:
        first, before = scored.setdefault(what, (line, scores))
        if not np.array_equal(before, scores, equal_nan=True):
            thing = "output" if isinstance(what, int) else "system"
            raise InputError(
                f"{self.path}, line {line}: line {first} has other scores of the same {thing}. "
                "Keep one, or say which is which by 'direction', 'system' or 'study'"
            )


_KEYS = ("study", "direction", "system", "id", "source", "output")


def _key(row: Mapping[str, str]) -> tuple[str, ...]:
    """An output: by id with its direction and system, or by its texts."""
    if "id" in row:
        return ("id", row.get("direction", ""), row.get("system", ""), row["id"])
    texts = row.get("source", ""), row.get("output", "")
    return ("text", row.get("direction", ""), row.get("system", ""), *texts)


def _keys(one: RatedOutput) -> Iterable[tuple[str, ...]]:
    for direction in (one.direction, ""):
        for system in (one.system, ""):
            yield ("id", direction, system, one.sentence)
            yield ("text", direction, system, one.source or "", one.output or "")


def read_scores(path: Path, lower: Iterable[str] = ()) -> ScoreTable:
    """Read a table of scores.

    One row per output, known by ``id`` (with ``direction`` and ``system``) or by ``source`` and
    ``output``; or one row per system, known by ``direction`` and ``system``. Every other column is
    a metric; where there is no score, the cell is empty.

    Raises:
        MissingFileError: no such file.
        InputError: no column that identifies an output, a score that is no number, no column
            with scores, or a column of ``lower`` that does not exist.
    """
    header, table = read_delimited(path, str(path))
    if not header:
        raise InputError(f"{path} is empty: its first line must name the columns")
    by_text = {"source", "output"} <= set(header)
    by_system = {"direction", "system"} <= set(header) and "output" not in header
    if "id" not in header and not by_text and not by_system:
        raise InputError(
            f"{path}: an output is known by the columns 'id' (with 'direction' and 'system'), or "
            f"by 'source' and 'output', a system by 'direction' and 'system'. The table has "
            f"{', '.join(header)}"
        )
    names = tuple(name for name in header if name not in _KEYS)
    lower = tuple(lower)
    unknown = [name for name in lower if name not in names]
    if not names or unknown:
        what = f"no column {unknown[0]!r}" if unknown else "no column with scores"
        raise InputError(f"{path}: {what}; it has {', '.join(header)}")
    rows, scores = [], []
    for line, row in table:
        rows.append((line, {name: row[name] for name in _KEYS if name in header}))
        cells = [read_score(row[name], f"{path}, line {line}, column {name}") for name in names]
        scores.append([math.nan if cell is None else cell for cell in cells])
    if not rows:
        raise InputError(f"{path}: no rows")
    return ScoreTable(
        path=path, names=names, rows=tuple(rows), scores=np.array(scores), lower=lower
    )
