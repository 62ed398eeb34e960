"""How metrics and human aspects go together: Pearson's r with its 95% interval, for every pair.

Over systems one point is a system's corpus score; over sentences it is one output. Bounds are left
out: copies and people's rewrites lie so far from all systems that any two measures that tell them
apart would seem to agree. Perplexity enters as its logarithm, since a few outputs with values of
thousands would otherwise decide alone; ``raw_ppl`` leaves it as it is, as the TSTBench paper does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ...metrics.statistics import LEVEL, percentile_interval, resampled_sums, too_few
from ..report import Report
from ..standings import Column
from .data import (
    DirectionResults,
    HumanAspect,
    competing,
    human_means,
    human_sentences,
    score_of,
    sentence_ids,
    sentence_scores,
)

FEWEST = 4  # points: three lie on some line too often


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of two variables; ``None`` where it is undefined or there are too few points.

    Attributes:
        points: how many outputs or systems have both values.
    """

    value: float | None
    low: float | None
    high: float | None
    points: int

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True)
class CorrelationMatrix:
    """All pairs of V variables.

    Attributes:
        titles: of the variables; perplexity's says that it is a logarithm.
        human: which of them people gave.
        cells: V x V, symmetric, with 1 on the diagonal.
        level: ``systems`` or ``sentences``.
        unit: what the points are, in words.
    """

    titles: tuple[str, ...]
    human: tuple[bool, ...]
    cells: tuple[tuple[Correlation, ...], ...]
    level: str
    unit: str

    @property
    def says_something(self) -> bool:
        """Whether any pair of different variables has a value."""
        return any(
            cell.value is not None
            for i, row in enumerate(self.cells)
            for j, cell in enumerate(row)
            if i != j
        )


def over_systems(
    results: DirectionResults, aspects: Sequence[HumanAspect], *, raw_ppl: bool = False
) -> CorrelationMatrix:
    """The correlations over the systems of one direction; several seeds of one are one point."""
    reports = [r for r in results.reports if not r.system.is_bound]
    metrics = [_of_reports(column, reports, raw_ppl) for column in results.columns]
    people = [human_means(aspect, reports) for aspect in aspects]
    data = np.array([*metrics, *people]).reshape(len(metrics) + len(people), len(reports))
    titles = [_title(c, raw_ppl) for c in results.columns]
    return _matrix(titles, aspects, data, "systems", "systems", of_systems)


def over_sentences(
    results: DirectionResults, aspects: Sequence[HumanAspect], *, raw_ppl: bool = False
) -> CorrelationMatrix:
    """The correlations over all outputs of all systems of one direction.

    The interval is a bootstrap over source sentences: outputs for one source are no independent
    observations.
    """
    ids = sentence_ids(results)
    columns, tables = [], []
    for column in results.columns:
        table = _scaled(sentence_scores(results, column, ids), column, raw_ppl)
        if np.isfinite(table).any():
            columns.append(column)
            tables.append(table)
    judged = [a for a in aspects if a.sentences]
    tables += [human_sentences(aspect, results, ids) for aspect in judged]
    data = np.array(tables).reshape(len(tables), len(competing(results)), len(ids))
    titles = [_title(c, raw_ppl) for c in columns]
    return _matrix(titles, judged, data, "sentences", "outputs", of_sentences)


def over_directions(
    directions: Sequence[DirectionResults],
    aspects: Sequence[Sequence[HumanAspect]],
    *,
    raw_ppl: bool = False,
) -> CorrelationMatrix:
    """The correlations over systems of all directions, each variable standardised in its direction.

    Scores of different directions are never comparable as they are; how far a system lies above
    the mean of its own direction, in standard deviations, is. Mean and deviation are those of the
    systems that have both variables of a pair.
    """
    blocks: list[dict[tuple[bool, str], np.ndarray]] = []
    columns: dict[str, Column] = {}
    people: dict[str, HumanAspect] = {}
    sizes = []
    for results, some in zip(directions, aspects, strict=True):
        reports = [r for r in results.reports if not r.system.is_bound]
        sizes.append(len(reports))
        columns = columns | {m: c for m, c in results.fullest.items() if m not in columns}
        people = people | {a.title: a for a in some if a.title not in people}
        block = {(False, m): _of_reports(c, reports, raw_ppl) for m, c in results.fullest.items()}
        blocks.append(block | {(True, a.title): human_means(a, reports) for a in some})
    order = [(False, m) for m in columns] + [(True, title) for title in people]
    data = np.array(
        [
            np.concatenate(
                [block.get(key, np.full(n, np.nan)) for block, n in zip(blocks, sizes, strict=True)]
            )
            for key in order
        ]
    ).reshape(len(order), -1)
    group: np.ndarray = np.repeat(np.arange(len(blocks)), sizes)

    def pair(x: np.ndarray, y: np.ndarray) -> Correlation:
        # Over the systems that have both: people often judged few of them, and the mean of the
        # others' scores would be a difference between directions.
        there = np.isfinite(x) & np.isfinite(y)
        x, y = np.where(there, x, np.nan), np.where(there, y, np.nan)
        for number in range(len(blocks)):
            x[group == number] = standardised(x[group == number])
            y[group == number] = standardised(y[group == number])
        both = np.isfinite(x) & np.isfinite(y)
        return of_systems(x, y, lost=max(0, len(np.unique(group[both])) - 1))

    unit = f"systems of {len(directions)} directions"
    titles = [_title(c, raw_ppl) for c in columns.values()]
    return _matrix(titles, list(people.values()), data, "directions", unit, pair)


def of_systems(x: np.ndarray, y: np.ndarray, lost: int = 0) -> Correlation:
    """Pearson's r with the interval of Fisher's z.

    Source: Fisher (1921), "On the probable error of a coefficient of correlation"; where means of
    groups were taken out, each further group costs one degree of freedom, as in a partial
    correlation.

    Args:
        x: shape (S,); a point with a NaN is left out.
        y: the same.
        lost: degrees of freedom that were spent before.
    """
    both = np.isfinite(x) & np.isfinite(y)
    x, y, n = x[both], y[both], int(both.sum())
    r = _pearson(x, y) if n >= FEWEST else None
    if r is None or n - 3 - lost < 1:
        return Correlation(r if r is not None and not lost else None, None, None, n)
    inner = min(max(r, -1 + 1e-12), 1 - 1e-12)
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) / math.sqrt(n - 3 - lost)
    z = math.atanh(inner)
    return Correlation(r, math.tanh(z - reach), math.tanh(z + reach), n)


def of_sentences(x: np.ndarray, y: np.ndarray) -> Correlation:
    """Pearson's r over outputs with a bootstrap interval over sentences.

    Args:
        x: shape (S, N), S systems' outputs for N sources; NaN where there is no value.
        y: the same.
    """
    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    r = _pearson(x[both], y[both]) if n >= FEWEST else None
    if r is None or too_few(both.shape[1]):
        return Correlation(r, None, None, n)
    x = np.where(both, x - x[both].mean(), 0.0)
    y = np.where(both, y - y[both].mean(), 0.0)
    sums = np.stack([m.sum(axis=0) for m in (both * 1.0, x, y, x * x, y * y, x * y)], axis=1)
    (drawn,) = resampled_sums([sums])
    count, sx, sy, sxx, syy, sxy = drawn.T
    with np.errstate(divide="ignore", invalid="ignore"):
        top = sxy - sx * sy / count
        found = top / np.sqrt((sxx - sx**2 / count) * (syy - sy**2 / count))
    bounds = percentile_interval(r, found)
    return Correlation(r, bounds.low, bounds.high, n) if bounds else Correlation(r, None, None, n)


def standardised(values: np.ndarray) -> np.ndarray:
    """Minus the mean, over the standard deviation (n - 1); all NaN where that says nothing.

    >>> standardised(np.array([1.0, 2.0, 3.0, np.nan]))
    array([-1.,  0.,  1., nan])
    """
    there = values[np.isfinite(values)]
    spread = there.std(ddof=1) if len(there) > 1 else 0.0
    if not spread > 0:
        return np.full(values.shape, np.nan)
    return (values - there.mean()) / spread


def _pearson(x: np.ndarray, y: np.ndarray) -> float | None:
    """Pearson's r; ``None`` where a variable is constant."""
    if (x == x[0]).all() or (y == y[0]).all():
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _of_reports(column: Column, reports: Sequence[Report], raw_ppl: bool) -> np.ndarray:
    scores = (score_of(report, column) for report in reports)
    values = [np.nan if s is None or s.value is None else s.value for s in scores]
    return _scaled(np.array(values), column, raw_ppl)


def _scaled(values: np.ndarray, column: Column, raw_ppl: bool) -> np.ndarray:
    if raw_ppl or column.unit != "perplexity":
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values)


def _title(column: Column, raw_ppl: bool) -> str:
    return column.title if raw_ppl or column.unit != "perplexity" else f"ln {column.title}"


def _matrix(
    metrics: Sequence[str],
    aspects: Sequence[HumanAspect],
    data: np.ndarray,
    level: str,
    unit: str,
    pair: Callable[[np.ndarray, np.ndarray], Correlation],
) -> CorrelationMatrix:
    titles = [*metrics, *(aspect.title for aspect in aspects)]
    cells: list[list[Correlation]] = []
    for i in range(len(data)):
        row = [cells[j][i] for j in range(i)]
        own = int(np.isfinite(data[i]).sum())
        row.append(Correlation(1.0 if own else None, None, None, own))
        row += [pair(data[i], data[j]) for j in range(i + 1, len(data))]
        cells.append(row)
    return CorrelationMatrix(
        tuple(titles),
        (*[False] * len(metrics), *[True] * len(aspects)),
        tuple(tuple(row) for row in cells),
        level,
        unit,
    )
