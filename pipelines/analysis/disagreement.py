"""The sentences to read first: where systems, or metrics of one aspect, disagree most.

Scores of different metrics are compared by their place among all outputs of the direction: the
share of outputs that are worse, ties counted half, from 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...metrics.registry import METRICS
from .human import HumanAspect, human_sentences
from .results import DirectionResults, competing, sentence_ids, sentence_scores

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
        order = sorted(range(len(names)), key=lambda s: (-_or_less(places[s, n]), names[s]))
        order = [s for s in order if np.isfinite(places[s, n])]
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
    for column in results.columns if people else ():
        facts = METRICS.get(column.metric)
        if facts is None or facts.aspect not in ("style", "content") or "references" in facts.reads:
            continue
        if results.column([column.metric]) is not column:
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
    there = np.isfinite(scores)
    values = scores[there] if higher_is_better else -scores[there]
    found = np.full(scores.shape, np.nan)
    if len(values) > 1:
        ordered = np.sort(values)
        below = np.searchsorted(ordered, values, side="left")
        upto = np.searchsorted(ordered, values, side="right")
        found[there] = (below + (upto - below - 1) / 2) / (len(values) - 1)
    return found


def _measures(results: DirectionResults, aspects: Sequence[HumanAspect]) -> list[_Measure]:
    ids = sentence_ids(results)
    found = []
    for column in results.columns:
        scores = sentence_scores(results, column, ids)
        if np.isfinite(scores).any():
            places = places_of(scores, higher_is_better=column.higher_is_better)
            found.append(
                _Measure(title=column.title, aspect=column.aspect, scores=scores, places=places)
            )
    for aspect in aspects:
        scores = human_sentences(aspect, results, ids)
        if np.isfinite(scores).any():
            places = places_of(scores, higher_is_better=True)
            found.append(
                _Measure(title=aspect.title, aspect=aspect.aspect, scores=scores, places=places)
            )
    return found


def _mean(tables: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over tables of what is there; NaN where nothing is."""
    stack = np.array(tables)
    there = np.isfinite(stack)
    count = there.sum(axis=0)
    total = np.where(there, stack, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)


def _or_less(value: float) -> float:
    return value if np.isfinite(value) else -1.0
