"""Single sentences: how long outputs are, how their scores are distributed, which to read first.

Sources: the TSTBench paper, Table 5 (mean length of each system's sentences, and how far it is from
that of the human rewrites; words are what whitespace separates, in the texts as they were scored);
the STI and CPS study (Cloudera Fast Forward Labs, 2022), figures 6 and 8 (scores of outputs beside
those of people's rewrites) and 5 (CPS by threshold and way of masking).

Scores of different metrics are compared by their place among all outputs of the direction: the
share of outputs that are worse, ties counted half, from 0 to 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.cleaning import match_key
from ...errors import InputError
from ...metrics.registry import METRICS
from ...metrics.signature import Signature
from ...metrics.statistics import interval, mean_statistics
from ...metrics.text import preparation
from ..report import Sample
from ..standings import Column
from .data import (
    DirectionResults,
    HumanAspect,
    competing,
    human_sentences,
    sentence_ids,
    sentence_scores,
)

SOURCE = "source"
REFERENCES = "references (mean)"


@dataclass(frozen=True, kw_only=True)
class Share:
    """A mean with its 95% bootstrap interval over sentences, if they are enough for one."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class TextStatistics:
    """The texts of one system, of the sources, or of the references.

    Attributes:
        kind: ``source``, ``references``, ``bound`` or ``system``.
        sentences: how many.
        words: mean number of words.
        quartiles: 5th, 25th, 50th, 75th and 95th percentile of the number of words.
        over_source, over_references: mean length minus that of the sources or references, as
            percent of the latter; ``None`` without any.
        copied: percent of outputs that equal their source, ignoring case and spaces.
        as_reference: percent that equal one of their references; ``None`` without any.
        empty: percent without a word.
        distinct: different outputs, as percent of all.
    """

    name: str
    kind: str
    sentences: int
    words: Share
    quartiles: tuple[float, float, float, float, float]
    over_source: float
    over_references: float | None
    copied: Share
    as_reference: float | None
    empty: float
    distinct: float


def text_statistics(results: DirectionResults) -> tuple[TextStatistics, ...]:
    """Sources, references, then every run with its sentences, bounds last; empty without texts."""
    if not results.samples:
        return ()
    dataset = DATASETS.get(results.name.split("/")[0])
    clean = preparation(dataset.language if dataset else "en").clean
    texts = {name: _cleaned(samples, clean) for name, samples in results.samples.items()}
    bounds = {r.system.name: r.system.is_bound for r in results.runs}
    names = sorted(texts, key=lambda name: bounds[name])
    first = texts[names[0]]
    found = [_statistics(SOURCE, "source", first, lambda s: [s.source])]
    if any(s.references for s in first):
        some = [s for s in first if s.references]
        found.append(_statistics(REFERENCES, "references", some, lambda s: s.references))
    for name in names:
        kind = "bound" if bounds[name] else "system"
        found.append(_statistics(name, kind, texts[name], lambda s: [s.prediction]))
    return tuple(found)


def _cleaned(samples: Sequence[Sample], clean: Callable[[list[str]], list[str]]) -> list[Sample]:
    """The texts as they were scored: ``good .`` has one word, as ``good.`` has."""
    every = [t for s in samples for t in (s.source, s.prediction, *s.references)]
    found = dict(zip(every, clean(every), strict=True))
    return [
        s.model_copy(
            update={
                "source": found[s.source],
                "prediction": found[s.prediction],
                "references": tuple(found[r] for r in s.references),
            }
        )
        for s in samples
    ]


def words(text: str) -> int:
    """How many words whitespace separates."""
    return len(text.split())


def _statistics(
    name: str,
    kind: str,
    samples: Sequence[Sample],
    texts_of: Callable[[Sample], Sequence[str]],
) -> TextStatistics:
    texts = [list(texts_of(sample)) for sample in samples]
    lengths = np.array([np.mean([words(t) for t in some]) for some in texts])
    sources = np.array([words(s.source) for s in samples], dtype=np.float64)
    people = [[words(r) for r in s.references] for s in samples]
    has = np.array([bool(some) for some in people])
    keys = [[match_key(t) for t in some] for some in texts]
    copied = np.array(
        [
            np.mean([k == match_key(s.source) for k in some])
            for s, some in zip(samples, keys, strict=True)
        ]
    )
    same = [
        bool({match_key(r) for r in s.references} & set(some))
        for s, some in zip(samples, keys, strict=True)
        if s.references
    ]
    every = [k for some in keys for k in some]
    reference_words = float(np.mean([np.mean(some) for some in people if some])) if has.any() else 0
    over = _over(float(lengths[has].mean()), reference_words) if has.any() else None
    low, lower, median, upper, high = (
        float(q) for q in np.percentile(lengths, [5, 25, 50, 75, 95])
    )
    return TextStatistics(
        name=name,
        kind=kind,
        sentences=len(samples),
        words=_share(lengths),
        quartiles=(low, lower, median, upper, high),
        over_source=_over(float(lengths.mean()), float(sources.mean())) or 0.0,
        over_references=over,
        copied=_share(100.0 * copied),
        as_reference=100 * float(np.mean(same)) if same and kind != "references" else None,
        empty=100 * float(np.mean([not k for k in every])),
        distinct=100 * len(set(every)) / len(every),
    )


def _share(values: np.ndarray) -> Share:
    statistics = mean_statistics(values)
    bounds = interval(statistics)
    low, high = (bounds.low, bounds.high) if bounds else (None, None)
    return Share(value=statistics.value, low=low, high=high)


def _over(mean: float, base: float) -> float | None:
    return 100 * (mean / base - 1) if base > 0 else None


_GRADES = 3  # different values, at least: a share of yes and no has no shape


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """The scores of single sentences, finite ones only.

    Attributes:
        name: of the system, or the setting.
        bound: whether it is a bound's.
        signature: of the score.
    """

    name: str
    bound: bool
    signature: str
    values: np.ndarray

    @property
    def quantiles(self) -> tuple[float, ...]:
        """5th, 25th, 50th, 75th and 95th percentile."""
        return tuple(float(q) for q in np.percentile(self.values, [5, 25, 50, 75, 95]))


@dataclass(frozen=True, kw_only=True)
class DistributionPanel:
    """The distributions of one metric, which share an axis.

    Attributes:
        title: of the metric; numbered where it is of one of several signatures.
        column: the unit, and of :func:`by_system` the score.
    """

    title: str
    column: Column
    rows: tuple[Distribution, ...]


def by_system(results: DirectionResults) -> tuple[DistributionPanel, ...]:
    """Every graded metric, all runs, bounds last; of several signatures that of most systems."""
    runs = [r for r in results.runs if r.system.name in results.samples]
    runs.sort(key=lambda r: r.system.is_bound)
    ids = sentence_ids(results) or tuple(s.id for some in results.samples.values() for s in some)
    panels = []
    for column in results.fullest.values():
        rows = zip(runs, sentence_scores(results, column, ids, runs), strict=True)
        found = tuple(
            Distribution(
                name=run.system.name,
                bound=run.system.is_bound,
                signature=column.signature,
                values=values[np.isfinite(values)],
            )
            for run, values in rows
            if np.isfinite(values).any()
        )
        if _graded(found):
            panels.append(DistributionPanel(title=column.title, column=column, rows=found))
    return tuple(panels)


def by_setting(results: DirectionResults) -> tuple[DistributionPanel, ...]:
    """Every metric with several signatures, over the outputs of the runs that have all of them."""
    ids = sentence_ids(results)
    panels = []
    for metric in results.fullest:
        columns = [c for c in results.columns if c.metric == metric]
        if len(columns) < 2:
            continue
        tables = np.array([sentence_scores(results, column, ids) for column in columns])
        there = np.isfinite(tables).any(axis=2).all(axis=0)
        rows = tuple(
            Distribution(
                name=name,
                bound=False,
                signature=column.signature,
                values=table[there][np.isfinite(table[there])],
            )
            for name, column, table in zip(settings(columns), columns, tables, strict=True)
        )
        if there.any() and _graded(rows):
            rows = tuple(sorted(rows, key=lambda row: row.name))
            title = columns[0].title.removesuffix(" (1)")
            panels.append(DistributionPanel(title=title, column=columns[0], rows=rows))
    return tuple(panels)


def settings(columns: Sequence[Column]) -> list[str]:
    """What tells columns of one metric apart: the fields of their signatures that differ.

    A field that only some have, and all of these alike, follows from another and is left out.
    """
    fields = []
    for column in columns:
        try:
            fields.append(dict(Signature.parse(column.signature).fields))
        except InputError:
            fields.append({})
    names = dict.fromkeys(name for some in fields for name in some)
    apart = [n for n in names if len({some[n] for some in fields if n in some}) > 1]
    shown = [" ".join(f"{n}={some[n]}" for n in apart if n in some) for some in fields]
    numbers = [re.sub(r".*\((\d+)\)$", r"\1", column.title) for column in columns]
    return [
        text if text and shown.count(text) == 1 else f"{text} ({number})".strip()
        for text, number in zip(shown, numbers, strict=True)
    ]


def _graded(rows: Sequence[Distribution]) -> bool:
    return bool(rows) and len(np.unique(np.concatenate([r.values for r in rows]))) >= _GRADES


MOST_CASES = 10
_OF_A_PAIR = 3  # cases in which the same two measures disagree, while there are others


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """One output; ``place`` is the mean of its places by aspect."""

    system: str
    text: str
    place: float


@dataclass(frozen=True, kw_only=True)
class SystemCase:
    """One source whose rewrites are furthest apart, best first.

    Attributes:
        spread: standard deviation of the places over systems.
    """

    id: str
    source: str
    references: tuple[str, ...]
    spread: float
    rewrites: tuple[Rewrite, ...]


@dataclass(frozen=True, kw_only=True)
class MetricCase:
    """One output that one measure finds good and another of the same aspect bad.

    Attributes:
        high, low: titles of the two measures.
        high_score, low_score: what they say.
        high_place, low_place: its places by them.
    """

    id: str
    system: str
    source: str
    references: tuple[str, ...]
    prediction: str
    aspect: str
    high: str
    low: str
    high_score: float
    low_score: float
    high_place: float
    low_place: float


@dataclass(frozen=True, kw_only=True)
class _Measure:
    """One variable over outputs: (S, N) scores and places."""

    title: str
    aspect: str
    scores: np.ndarray
    places: np.ndarray


_Candidate = tuple[float, int, int, _Measure, _Measure]  # gap, run, sentence, high, low


def system_cases(results: DirectionResults, most: int = MOST_CASES) -> tuple[SystemCase, ...]:
    """The sources on which the systems are furthest apart; ties in the order of the test set."""
    ids, measures = sentence_ids(results), _measures(results, ())
    names = [r.system.name for r in competing(results)]
    if len(names) < 2 or not measures:
        return ()
    by_aspect = [
        _mean([m.places for m in measures if m.aspect == aspect])
        for aspect in dict.fromkeys(m.aspect for m in measures)
    ]
    places = _mean(by_aspect)
    there = np.isfinite(places).sum(axis=0)
    spread = np.where(there > 1, np.nanstd(np.where(there > 1, places, 0.0), axis=0), -1.0)
    texts = {name: {s.id: s for s in results.samples[name]} for name in names}
    found = []
    for n in np.argsort(-spread, kind="stable")[:most]:
        if spread[n] <= 0:
            break
        scored = [s for s in range(len(names)) if np.isfinite(places[s, n])]
        order = [s for *_, s in sorted((-places[s, n], names[s], s) for s in scored)]
        sample = texts[names[order[0]]][ids[n]]
        found.append(
            SystemCase(
                id=ids[n],
                source=sample.source,
                references=sample.references,
                spread=float(spread[n]),
                rewrites=tuple(
                    Rewrite(
                        system=names[s],
                        text=texts[names[s]][ids[n]].prediction,
                        place=float(places[s, n]),
                    )
                    for s in order
                ),
            )
        )
    return tuple(found)


def metric_cases(
    results: DirectionResults, aspects: Sequence[HumanAspect], most: int = MOST_CASES
) -> tuple[MetricCase, ...]:
    """The outputs on which two measures of one aspect disagree most, one for each source."""
    measures = _measures(results, aspects)
    pairs = [
        (one, other)
        for i, one in enumerate(measures)
        for other in measures[i + 1 :]
        if one.aspect == other.aspect
    ]
    return _metric_cases(results, pairs, most)


def reference_cases(
    results: DirectionResults, of_a_metric: int = _OF_A_PAIR
) -> tuple[MetricCase, ...]:
    """The outputs whose scores are furthest from those of people's rewrite, one for each source.

    Source: the STI and CPS study (Cloudera Fast Forward Labs, 2022), figures 7 and 9. Metrics of
    style and content that read no references: against a reference itself, those say nothing.
    """
    runs = (r for r in results.runs if r.system.name in results.samples)
    people = [r for r in runs if r.system.family == "human"][:1]
    ids, pairs = sentence_ids(results), []
    for metric, column in results.fullest.items() if people else ():
        facts = METRICS.get(metric)
        if facts is None or facts.aspect not in ("style", "content") or "references" in facts.reads:
            continue
        outputs = sentence_scores(results, column, ids)
        theirs = sentence_scores(results, column, ids, people)
        scores = np.concatenate([outputs, np.broadcast_to(theirs, outputs.shape)])
        if len(np.unique(scores[np.isfinite(scores)])) < 3:
            continue  # a share of yes and no has no size
        places = places_of(scores, higher_is_better=column.higher_is_better)
        pairs.append(
            tuple(
                _Measure(title=f"{column.title}, {of}", aspect=column.aspect, scores=x, places=y)
                for of, x, y in zip(
                    ("output", people[0].system.name),
                    np.split(scores, 2),
                    np.split(places, 2),
                    strict=True,
                )
            )
        )
    return _metric_cases(results, pairs, of_a_metric * len(pairs))


def _metric_cases(
    results: DirectionResults, pairs: Sequence[tuple[_Measure, ...]], most: int
) -> tuple[MetricCase, ...]:
    """The outputs whose places by the two measures of a pair are furthest apart."""
    ids = sentence_ids(results)
    names = [r.system.name for r in competing(results)]
    candidates: list[_Candidate] = []
    for one, other in pairs:
        gap = one.places - other.places
        flat = np.where(np.isfinite(gap), np.abs(gap), -1.0).ravel()
        for at in np.argsort(-flat, kind="stable")[: 4 * most]:
            s, n = divmod(int(at), len(ids))
            if flat[at] > 0:
                high, low = (one, other) if gap[s, n] > 0 else (other, one)
                candidates.append((float(flat[at]), s, n, high, low))
    candidates.sort(key=lambda c: (-c[0], c[2], c[1], c[3].title, c[4].title))
    found: list[MetricCase] = []
    seen: set[int] = set()
    for _, s, n, high, low in [*_varied(candidates), *candidates]:
        if n in seen or len(found) == most:
            continue
        seen.add(n)
        sample = next(x for x in results.samples[names[s]] if x.id == ids[n])
        found.append(
            MetricCase(
                id=ids[n],
                system=names[s],
                source=sample.source,
                references=sample.references,
                prediction=sample.prediction,
                aspect=high.aspect,
                high=high.title,
                low=low.title,
                high_score=float(high.scores[s, n]),
                low_score=float(low.scores[s, n]),
                high_place=float(high.places[s, n]),
                low_place=float(low.places[s, n]),
            )
        )
    return tuple(found)


def _varied(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """The first of each pair of measures, each of another source: two alike would fill the list."""
    count: Counter[frozenset[str]] = Counter()
    seen: set[int] = set()
    found = []
    for one in candidates:
        _, _, n, high, low = one
        pair = frozenset((high.title, low.title))
        if n not in seen and count[pair] < _OF_A_PAIR:
            count[pair] += 1
            seen.add(n)
            found.append(one)
    return found


def places_of(scores: np.ndarray, *, higher_is_better: bool) -> np.ndarray:
    """The share of other outputs that are worse, ties counted half; NaN stays NaN.

    >>> places_of(np.array([[1.0, 3.0, 3.0, np.nan]]), higher_is_better=True)
    array([[0.  , 0.75, 0.75,  nan]])
    """
    from scipy.stats import rankdata

    signed = scores if higher_is_better else -scores
    there = np.isfinite(signed)
    found = np.full(scores.shape, np.nan)
    if there.sum() > 1:
        found[there] = (rankdata(signed[there]) - 1) / (there.sum() - 1)
    return found


def _measures(results: DirectionResults, aspects: Sequence[HumanAspect]) -> list[_Measure]:
    ids = sentence_ids(results)
    columns = ((c, sentence_scores(results, c, ids)) for c in results.columns)
    measured = [
        *((c.title, c.aspect, scores, c.higher_is_better) for c, scores in columns),
        *((a.title, a.aspect, human_sentences(a, results, ids), True) for a in aspects),
    ]
    return [
        _Measure(
            title=title,
            aspect=aspect,
            scores=scores,
            places=places_of(scores, higher_is_better=higher),
        )
        for title, aspect, scores, higher in measured
        if np.isfinite(scores).any()
    ]


def _mean(tables: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over tables of what is there; NaN where nothing is."""
    stack = np.array(tables)
    there = np.isfinite(stack)
    count = there.sum(axis=0)
    total = np.where(there, stack, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
