"""What an analysis reads of one direction: systems, columns, sentences, and what people said.

A judgment belongs to a system by its name, see :func:`fold`, and to a sentence by the
sentence's id, or by its source if a table of scores has no ids. Where the study says which text was
judged, it must be the text in the results: a score of another text says nothing about this one, and
is counted as such.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.judgments import schema
from ...datasets_scripts.judgments.own import source_id
from ...datasets_scripts.judgments.schema import Judgment
from ...errors import InputError, unknown_name
from ...metrics.registry import METRICS, caution
from ..meta.known import ASPECTS
from ..report import Report, Sample, Score
from ..results import Stored, read_direction
from ..seeds import pooled
from ..standings import Column, Standings, chosen_directions


@dataclass(frozen=True, kw_only=True)
class DirectionResults:
    """Everything that a results folder has of one direction.

    Attributes:
        standings: the systems, several seeds of one as their mean, and their ranks.
        runs: what is on disk, each seed by itself.
        columns: in the order of the benchmark.
        samples: the sentences by the name of the run; a run without them is left out.
    """

    standings: Standings
    runs: tuple[Report, ...]
    columns: tuple[Column, ...]
    samples: Mapping[str, tuple[Sample, ...]] = field(repr=False)

    @property
    def name(self) -> str:
        """Of the direction."""
        return self.standings.direction

    @property
    def reports(self) -> tuple[Report, ...]:
        """One per system."""
        return self.standings.reports

    @property
    def shows_texts(self) -> bool:
        """Whether sentences may be shown: those of a licensed corpus are only read."""
        dataset = DATASETS.get(self.name.split("/")[0])
        return bool(self.samples) and (dataset is None or not dataset.licensed)

    @property
    def ranking(self) -> Column:
        """What ranks the systems, here as on boards and in tables."""
        return self.standings.ranking_column() or self.columns[0]

    @cached_property
    def fullest(self) -> Mapping[str, Column]:
        """Each metric's column; of several, the one that most systems have."""

        def systems(column: Column) -> int:
            return sum(score_of(report, column) is not None for report in self.reports)

        return {
            metric: max((c for c in self.columns if c.metric == metric), key=systems)
            for metric in dict.fromkeys(c.metric for c in self.columns)
        }

    def column(self, metrics: Sequence[str] = (), aspect: str = "") -> Column | None:
        """The column of the first of these metrics that is there, else of that aspect."""
        of_aspect = [metric for metric, c in self.fullest.items() if c.aspect == aspect]
        found = (self.fullest[m] for m in (*metrics, *of_aspect) if m in self.fullest)
        return next(found, None)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What must be known to read the numbers, each once."""
        found = (caution(c.metric, c.signature) for c in self.columns)
        twins = Counter(c.metric for c in self.columns)
        mixed = [
            f"{METRICS[m].title if m in METRICS else m} was computed in {n} ways here: its columns "
            "are numbered, and their numbers cannot be compared"
            for m, n in twins.items()
            if n > 1
        ]
        doubts = (f"{r.system.name}: {'; '.join(r.warnings)}" for r in self.reports if r.warnings)
        return tuple(dict.fromkeys([*filter(None, found), *mixed, *doubts]))


def score_of(report: Report, column: Column) -> Score | None:
    """A system's score in that column, if it has one with a value."""
    score = column.score_of(report)
    return None if score is None or score.value is None else score


def sentence_scores(
    results: DirectionResults,
    column: Column,
    ids: Sequence[str],
    runs: Sequence[Report] | None = None,
) -> np.ndarray:
    """The scores of single sentences: shape (S, N), NaN where there is none.

    Args:
        results: with sentences.
        column: which score.
        ids: of the N sentences.
        runs: the S runs with sentences; by default those that compete.
    """
    rows = []
    for report in competing(results) if runs is None else runs:
        keys = {report.column(s): s.key for s in report.scores}
        key = keys.get(column.signature)
        by_id = {sample.id: sample.scores for sample in results.samples[report.system.name]}
        values = [by_id.get(i, {}).get(key) if key else None for i in ids]
        rows.append([np.nan if value is None else value for value in values])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ids))


def competing(results: DirectionResults) -> list[Report]:
    """The runs with sentences that are no bound, in the order on disk."""
    return [r for r in results.runs if r.system.name in results.samples and not r.system.is_bound]


def sentence_ids(results: DirectionResults) -> tuple[str, ...]:
    """The ids of the direction's sentences, in the order of the test set."""
    found = (s.id for report in competing(results) for s in results.samples[report.system.name])
    return tuple(dict.fromkeys(found))


def read_run(
    root: Path, directions: Sequence[str] = (), systems: Sequence[str] = ()
) -> list[DirectionResults]:
    """Read a results folder; what is damaged is named and left out.

    Args:
        root: what ``tstbench run`` or ``evaluate --out`` wrote.
        directions: names of directions or datasets; by default all.
        systems: names; by default all.

    Raises:
        InputError: it is no results folder, or nothing in it can be read.
        MissingFileError: it does not exist.
        UnknownNameError: a direction or system that is not there.
    """
    folders = chosen_directions(root, directions).values()
    read = [
        [one for one in read_direction(f, complete=False) if one.report.scores] for f in folders
    ]
    there = {name for some in read for one in some for name in _names(one.report)}
    if not there:
        raise InputError(f"{root} has no results that can be read: evaluate the systems again")
    for name in systems:
        if name not in there:
            raise unknown_name("system", name, sorted(there))
    if systems:
        read = [[s for s in some if _names(s.report) & set(systems)] for some in read]
    return [_direction(some) for some in read if some]


def _names(report: Report) -> set[str]:
    run = report.system.seed_run
    return {report.system.name, *([run.system] if run else [])}


def _direction(stored: Sequence[Stored]) -> DirectionResults:
    standings = Standings.of(pooled(stored))
    samples = {s.report.system.name: tuple(s.samples()) for s in stored if s.has_samples}
    return DirectionResults(
        standings=standings,
        runs=tuple(one.report for one in stored),
        # Style, content and fluency first, then others, and what is overall last.
        columns=tuple(sorted(standings.columns, key=lambda c: (ASPECTS.index(c.aspect) + 4) % 5)),
        samples=samples,
    )


_ORDER = {name: n for n, name in enumerate(schema.ASPECTS)}


@dataclass(frozen=True, kw_only=True)
class HumanAspect:
    """One aspect of one study on one direction.

    Attributes:
        title: ``human style``, with the study's name where there are several.
        means: the mean over items of the mean over raters, by the folded name of the system.
        sentences: the mean over raters by folded name and id, of judgments on the texts at hand.
        other_texts: judgments of a text that is not the one in the results.
    """

    study: str
    aspect: str
    scale: str
    title: str
    means: Mapping[str, float]
    sentences: Mapping[tuple[str, str], float]
    other_texts: int


def human_aspects(
    judgments: Iterable[Judgment], results: DirectionResults
) -> tuple[HumanAspect, ...]:
    """The aspects that a direction's systems were judged on, style, content, fluency first."""
    known = {fold(r.system.name) for r in (*results.reports, *results.runs)}
    groups: dict[tuple[str, str, str], list[Judgment]] = defaultdict(list)
    for one in judgments:
        if one.direction == results.name and one.usable is not None and fold(one.system) in known:
            groups[one.study, one.aspect, one.scale].append(one)
    several = len({study for study, _, _ in groups}) > 1
    texts: dict[tuple[str, str], str] = {}
    of_source: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, samples in results.samples.items():
        for sample in samples:
            texts[fold(name), sample.id] = sample.prediction
            of_source[fold(name), match_key(sample.source)].append(sample.id)
    known_by = {key: ids[0] for key, ids in of_source.items() if len(ids) == 1}
    keys = sorted(groups, key=lambda key: _ORDER.get(key[1], len(_ORDER)))
    return tuple(_aspect(key, groups[key], texts, known_by, several=several) for key in keys)


def human_means(aspect: HumanAspect, reports: Sequence[Report]) -> np.ndarray:
    """The means of these systems: shape (S,), NaN where people did not score one."""
    return np.array([aspect.means.get(fold(r.system.name), np.nan) for r in reports])


def human_sentences(
    aspect: HumanAspect, results: DirectionResults, ids: Sequence[str]
) -> np.ndarray:
    """The scores of single sentences of the competing runs: shape (S, N), NaN for none."""
    rows = [
        [aspect.sentences.get((fold(r.system.name), i), np.nan) for i in ids]
        for r in competing(results)
    ]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(ids))


def fold(system: str) -> str:
    """A system's name without case and punctuation: studies spell ``GPT-4`` in several ways.

    What stands between digits is a point, and a plus stays: ``llama-1.5`` is not ``llama-15``.

    >>> fold("GPT-4 FS") == fold("gpt4_fs"), fold("GPT 3.5") == fold("gpt-3_5") != fold("gpt-35")
    (True, True)
    """
    name = re.sub(r"(?<=\d)[\W_]+(?=\d)", ".", system.casefold())
    return re.sub(r"[^\w.+]|_|(?<!\d)\.|\.(?!\d)", "", name)


def _sentence(one: Judgment, known_by: Mapping[tuple[str, str], str]) -> str:
    """The id in the results: the judgment's own, or that of its source if its table had no ids."""
    sentence = one.sample_id or ""
    if one.source and sentence == source_id(one.source):
        return known_by.get((fold(one.system), match_key(one.source)), sentence)
    return sentence


def _aspect(
    key: tuple[str, str, str],
    judgments: Sequence[Judgment],
    texts: Mapping[tuple[str, str], str],
    known_by: Mapping[tuple[str, str], str],
    *,
    several: bool,
) -> HumanAspect:
    study, aspect, scale = key
    items: dict[str, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
    here: dict[tuple[str, str], list[float]] = defaultdict(list)
    other = 0
    for number, one in enumerate(judgments):
        if one.usable is None:
            continue
        system = fold(one.system)
        items[system][number if one.sample_id is None else one.sample_id].append(one.usable)
        place = (system, _sentence(one, known_by))
        if place not in texts:
            continue
        if one.output is not None and match_key(one.output) != match_key(texts[place]):
            other += 1
        else:
            here[place].append(one.usable)
    name = f"human {aspect.replace('_', ' ')}"
    return HumanAspect(
        study=study,
        aspect=aspect,
        scale=scale,
        title=f"{name} ({study})" if several else name,
        means={s: float(np.mean([np.mean(v) for v in by.values()])) for s, by in items.items()},
        sentences={place: float(np.mean(scores)) for place, scores in here.items()},
        other_texts=other,
    )
