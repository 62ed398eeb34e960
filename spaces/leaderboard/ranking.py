"""From entries to the rows of a table: one direction, one setting, systems x metrics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

import numpy as np

from ...datasets_scripts.judgments.schema import DERIVED_OVERALL
from ...metrics.registry import METRICS, caution, is_neutral
from ...pipelines.analysis.data import fold
from ...pipelines.meta.known import ASPECTS, ranking_place
from .data import Board, Entry
from .facts import Layout, Measure
from .groups import Setting
from .human import HumanScore
from .places import ComputedPlaces, Place, plain_ranks
from .runs import deviation

Tested = Literal["tested", "untested"]


@dataclass(frozen=True)
class Column:
    """One comparable set of numbers.

    Attributes:
        key: ``joint``, or ``human:<study>:<aspect>``; unique in a table.
        unit: percent, fraction, perplexity, or a human scale such as ``1-5``.
        low, high: the range over all rows, including intervals, for drawing.
        tested: whether its ranks are ranges from a paired test.
        signature: of a metric; ``None`` for a human column.
        made_with: the provenances of its numbers; numbers of one column may have several.
    """

    key: str
    title: str
    meaning: str
    aspect: str
    unit: str
    higher_is_better: bool
    low: float
    high: float
    tested: Tested
    signature: str | None = None
    study: str | None = None
    caution: str | None = None  # what must stand beside its numbers
    made_with: tuple[str, ...] = ()

    @property
    def human(self) -> bool:
        """Whether these are human scores."""
        return self.study is not None


@dataclass(frozen=True)
class Cell:
    """One number, or the reason why it is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    ranks: tuple[int, int] | None = None
    best: bool = False  # see places.bold
    deviation: float | None = None  # over training seeds, where there are several
    note: str | None = None


@dataclass(frozen=True)
class Numbers:
    """A column's numbers, each array by row.

    Attributes:
        value, low, high: NaN where there is none.
        first, last: the ranks that cannot be excluded; 0 where there is none.
        bold: see :func:`~.places.bold`.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first: np.ndarray
    last: np.ndarray
    bold: np.ndarray

    def of(self, rows: Sequence[int]) -> Numbers:
        """Those of some rows, in this order."""
        return Numbers(*(getattr(self, one.name)[rows] for one in fields(self)))


@dataclass(frozen=True)
class Row:
    """One system, with a cell for each column."""

    entry: Entry
    ranking: Ranking
    place: int  # of the row

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """By column; made when they are asked for, as a page shows some rows of many."""
        return tuple(self.ranking.cell(i, self.place) for i in range(len(self.ranking.columns)))


@dataclass(frozen=True, eq=False)
class Ranking:
    """The table of one direction in one setting.

    Rows are in the order of the first column, systems before bounds.

    Attributes:
        entries: of the rows.
        numbers: of the columns.
        human: of each human column the scores, by folded name of the system.
    """

    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    numbers: tuple[Numbers, ...]
    human: Mapping[str, Mapping[str, HumanScore]]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Systems, then bounds."""
        return tuple(Row(entry, self, i) for i, entry in enumerate(self.entries))

    @cached_property
    def systems(self) -> tuple[Row, ...]:
        """The rows that are ranked."""
        return tuple(row for row in self.rows if not row.entry.facts.is_bound)

    @cached_property
    def bounds(self) -> tuple[Row, ...]:
        """The rows that are not: people's rewrites, copies, random sentences."""
        return tuple(row for row in self.rows if row.entry.facts.is_bound)

    def cell(self, i: int, row: int) -> Cell:
        """The cell of a column and a row, by their places."""
        column, own, entry = self.columns[i], self.numbers[i], self.entries[row]
        found = (float(one[row]) for one in (own.value, own.low, own.high))
        value, low, high = (None if math.isnan(one) else one for one in found)
        first, last = int(own.first[row]), int(own.last[row])
        return Cell(
            value,
            low,
            high,
            (first, last) if first else None,
            bool(own.bold[row]),
            deviation(entry.report.score(column.key)) if entry.runs else None,
            self._note(column, entry, value),
        )

    def _note(self, column: Column, entry: Entry, value: float | None) -> str | None:
        if column.human:
            score = self.human[column.key].get(fold(entry.facts.name))
            return f"{score.ratings} ratings." if score else "Not rated in this study."
        if value is not None:
            return None
        if any(measure.metric == column.key for measure in entry.layout):
            return "The value is infinite or undefined."
        left_out = (one for one in entry.report.left_out if one.metric == column.key)
        omission = next(left_out, None)
        return f"Left out: {omission.why}." if omission else "Not measured for this system."


_Built = tuple[Column, Numbers]


def build_ranking(board: Board, setting: Setting, computed: ComputedPlaces) -> Ranking:
    """Columns, numbers and order.

    Args:
        board: the source of human scores.
        setting: its entries become rows.
        computed: places computed from replicates, if any.
    """
    entries = setting.entries
    bounds = np.array([entry.facts.is_bound for entry in entries], dtype=bool)
    measured = _measured(setting)
    built = [
        _metric_column(setting, one, bounds, computed.get(one.metric))
        for one in sorted(measured, key=lambda one: _column_place(setting, one, bounds))
    ]
    overall = sum(column.aspect == "overall" for column, _ in built)
    human: dict[str, Mapping[str, HumanScore]] = {}
    if entries:  # human scores come right after Joint, which sums up the metrics
        rated = board.human.get(entries[0].direction.name, ())
        found = [_human_column(*one, entries, bounds) for one in _by_column(rated, entries)]
        human = {column.key: scores for column, _, scores in found}
        built[overall:overall] = [(column, numbers) for column, numbers, _ in found]
    order = _order(built, entries, bounds)
    return Ranking(
        columns=tuple(column for column, _ in built),
        entries=tuple(entries[i] for i in order),
        numbers=tuple(numbers.of(order) for _, numbers in built),
        human=human,
    )


@dataclass(frozen=True)
class _Measured:
    """One metric of a setting: what its scores are, and their numbers, of shape (entries, 3)."""

    metric: str
    numbers: np.ndarray
    measures: list[Measure] = field(default_factory=list)


def _measured(setting: Setting) -> list[_Measured]:
    """What was measured: in one step for all entries that were scored alike."""
    alike: dict[Layout, list[int]] = {}
    for i, entry in enumerate(setting.entries):
        alike.setdefault(entry.facts.layout, []).append(i)
    found: dict[str, _Measured] = {}
    for layout, rows in alike.items():
        stacked = np.stack([setting.entries[i].facts.numbers for i in rows])
        for j, measure in enumerate(layout):
            if setting.signatures.get(measure.metric) == measure.column:
                nothing = np.full((len(setting.entries), 3), np.nan)
                one = found.setdefault(measure.metric, _Measured(measure.metric, nothing))
                one.numbers[rows] = stacked[:, j]
                one.measures.append(measure)
    return list(found.values())


def _column_place(
    setting: Setting, one: _Measured, bounds: np.ndarray
) -> tuple[tuple[float, ...], str]:
    """What ranks first, then by aspect and in the benchmark's order."""
    lacking = int((np.isnan(one.numbers[:, 0]) & ~bounds).sum())
    return ranking_place(one.metric, setting.signatures[one.metric], lacking), one.metric


def _metric_column(
    setting: Setting, one: _Measured, bounds: np.ndarray, places: Mapping[str, Place] | None
) -> _Built:
    metric, signature = one.metric, setting.signatures[one.metric]
    higher = one.measures[0].higher_is_better
    value, low, high = one.numbers.T
    ranked = np.where(bounds, np.nan, value)
    first, last = plain_ranks(ranked, higher)
    best = first == 1
    labels = [setting.entries[i].label for i in np.flatnonzero(first)] if places else []
    tested: Tested = "untested"
    if places and places.keys() == set(labels):
        tested, found = "tested", [places[label] for label in labels]
        first[first > 0] = [place.first for place in found]
        last[last > 0] = [place.last for place in found]
        best[first > 0] = [place.best for place in found]
    among = 0 if is_neutral(metric) else np.count_nonzero(first)
    facts = METRICS.get(metric)
    numbers = Numbers(value, low, high, first, last, best & (among > 1))
    least, most = _extent(numbers)
    column = Column(
        key=metric,
        title=facts.title if facts else metric,
        meaning=facts.meaning if facts else "unknown to this version of the page",
        aspect=facts.aspect if facts else "other",
        unit=one.measures[0].unit,
        higher_is_better=higher,
        low=least,
        high=most,
        tested=tested,
        signature=signature,
        made_with=tuple(sorted({measure.made_with for measure in one.measures})),
        caution=caution(metric, signature),
    )
    return column, numbers


def _by_column(
    scores: Iterable[HumanScore], entries: Sequence[Entry]
) -> list[tuple[tuple[str, str, str], dict[str, HumanScore]]]:
    """The ratings of these systems, by study, aspect and scale, then by folded name."""
    folded = {fold(entry.facts.name) for entry in entries}
    found: dict[tuple[str, str, str], dict[str, HumanScore]] = {}
    for score in scores:
        if score.system in folded:
            key = (score.study, score.aspect, score.scale)
            found.setdefault(key, {})[score.system] = score
    order = {aspect: place for place, aspect in enumerate(ASPECTS)}
    return sorted(found.items(), key=lambda o: (o[0][0], order.get(o[0][1], len(order)), o[0]))


def _human_column(
    key: tuple[str, str, str],
    found: Mapping[str, HumanScore],
    entries: Sequence[Entry],
    bounds: np.ndarray,
) -> tuple[Column, Numbers, Mapping[str, HumanScore]]:
    """A study's ratings of one aspect, ranked only by mean."""
    study, aspect, scale = key
    own = [found.get(fold(entry.facts.name)) for entry in entries]
    value, low, high = np.array(
        [
            (one.mean, *((one.interval.low, one.interval.high) if one.interval else (None, None)))
            if one
            else (None, None, None)
            for one in own
        ],
        dtype=float,
    ).T
    first, last = plain_ranks(np.where(bounds, np.nan, value), higher_is_better=True)
    bold = (first == 1) & (np.count_nonzero(first) > 1)
    numbers = Numbers(value, low, high, first, last, bold)
    derived = aspect == DERIVED_OVERALL.name
    what = "what follows from people's three scores" if derived else "the scores people gave"
    least, most = _extent(numbers)
    column = Column(
        key=f"human:{study}:{aspect}:{scale}",
        title=aspect.replace("_", " ").capitalize(),
        meaning=f"mean of {what} in {study}",
        aspect="human",
        unit=scale,
        higher_is_better=True,
        low=least,
        high=most,
        tested="untested",
        study=study,
    )
    return column, numbers, found


def _extent(numbers: Numbers) -> tuple[float, float]:
    found = np.concatenate([numbers.value, numbers.low, numbers.high])
    if np.isnan(found).all():
        return 0.0, 1.0
    return float(np.nanmin(found)), float(np.nanmax(found))


def _order(built: Sequence[_Built], entries: Sequence[Entry], bounds: np.ndarray) -> list[int]:
    """The rows: bounds last; by the first column, missing last; then by name."""
    count = len(entries)
    if built:
        column, numbers = built[0]
        worse = -numbers.value if column.higher_is_better else numbers.value
    else:
        worse = np.full(count, np.nan)
    return sorted(
        range(count),
        key=lambda i: (
            bool(bounds[i]),
            bool(np.isnan(worse[i])),
            0.0 if np.isnan(worse[i]) else float(worse[i]),
            entries[i].label.casefold(),
        ),
    )
