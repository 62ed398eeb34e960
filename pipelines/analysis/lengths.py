"""How long outputs are, beside sources and references, and how many are copies.

Source: the TSTBench paper, Table 5 (mean length of each system's sentences, and how far it is from
that of the human rewrites). Words are what whitespace separates, in the texts as they were scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.cleaning import match_key
from ...metrics.statistics import interval, mean_statistics
from ...metrics.text import preparation
from ..report import Sample
from .results import DirectionResults

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
