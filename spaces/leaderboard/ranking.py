"""From entries to the rows of a table: one direction, one setting, systems x metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ...datasets_scripts.judgments.schema import DERIVED_OVERALL
from ...metrics.registry import METRICS, caution, is_neutral
from ...metrics.statistics import Interval
from ...pipelines.analysis.data import fold
from ...pipelines.meta.known import ASPECTS, ranking_place
from ...pipelines.report import IntervalInfo, Report, Score
from .data import Board, Entry
from .groups import Setting
from .human import HumanScore
from .places import ComputedPlaces, Place, bold, plain_places
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
class Row:
    """One system, with a cell for each column."""

    entry: Entry
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Ranking:
    """The table of one direction in one setting.

    Rows are in the order of the first column, systems before bounds.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def systems(self) -> tuple[Row, ...]:
        """The rows that are ranked."""
        return tuple(row for row in self.rows if not row.entry.report.system.is_bound)

    @property
    def bounds(self) -> tuple[Row, ...]:
        """The rows that are not: people's rewrites, copies, random sentences."""
        return tuple(row for row in self.rows if row.entry.report.system.is_bound)


def build_ranking(board: Board, setting: Setting, computed: ComputedPlaces) -> Ranking:
    """Columns, cells and order.

    Args:
        board: the source of human scores.
        setting: its entries become rows.
        computed: places computed from replicates, if any.
    """
    entries = setting.entries
    scores = [{score.metric: score for score in entry.report.scores} for entry in entries]
    built = [
        _metric_column(setting, metric, [own.get(metric) for own in scores], computed)
        for metric in _metrics(setting, scores)
    ]
    overall = sum(column.aspect == "overall" for column, _ in built)
    if entries:  # human scores come right after Joint, which sums up the metrics
        human = board.human.get(entries[0].direction.name, ())
        built[overall:overall] = _human_columns(human, entries)
    order = sorted(range(len(entries)), key=lambda i: _place(built, entries, i))
    rows = [Row(entries[i], tuple(cells[i] for _, cells in built)) for i in order]
    return Ranking(tuple(column for column, _ in built), tuple(rows))


def _metrics(setting: Setting, scores: Sequence[Mapping[str, Score]]) -> list[str]:
    """The measured metrics: what ranks first, then by aspect and in the benchmark's order."""
    found = {metric for own in scores for metric in own}
    pairs = zip(setting.entries, scores, strict=True)
    ranked = [own for entry, own in pairs if not entry.report.system.is_bound]

    def place(metric: str) -> tuple[tuple[float, ...], str]:
        lacking = sum(metric not in own or own[metric].value is None for own in ranked)
        return ranking_place(metric, setting.signatures[metric], lacking), metric

    return sorted(found, key=place)


def _metric_column(
    setting: Setting, metric: str, scores: Sequence[Score | None], computed: ComputedPlaces
) -> tuple[Column, list[Cell]]:
    entries = setting.entries
    one = next(score for score in scores if score is not None)
    values = {
        entry.label: score.value
        for entry, score in zip(entries, scores, strict=True)
        if score is not None and score.value is not None and not entry.report.system.is_bound
    }
    places, tested = _places(values, one.higher_is_better, computed.get(metric))
    among = 0 if is_neutral(metric) else len(places)
    cells = []
    for entry, score in zip(entries, scores, strict=True):
        if score is None:
            cells.append(Cell(None, note=_why_missing(entry.report, metric)))
        elif score.value is None:
            cells.append(Cell(None, note="The value is infinite or undefined."))
        else:
            place = places.get(entry.label)
            cells.append(
                _cell(score.value, score.interval, place, among, deviation=deviation(score))
            )
    facts = METRICS.get(metric)
    low, high = _extent(cells)
    column = Column(
        key=metric,
        title=facts.title if facts else metric,
        meaning=facts.meaning if facts else "unknown to this version of the page",
        aspect=facts.aspect if facts else "other",
        unit=one.unit,
        higher_is_better=one.higher_is_better,
        low=low,
        high=high,
        tested=tested,
        signature=setting.signatures[metric],
        made_with=tuple(sorted({score.made_with for score in scores if score is not None})),
        caution=caution(metric, setting.signatures[metric]),
    )
    return column, cells


def _cell(
    value: float,
    bounds: IntervalInfo | Interval | None,
    place: Place | None,
    among: int,
    **more: Any,
) -> Cell:
    """The cell with its place among so many; a bound has none."""
    low, high = (bounds.low, bounds.high) if bounds else (None, None)
    return Cell(value, low, high, place.ranks if place else None, bold(place, among), **more)


def _places(
    values: Mapping[str, float], higher_is_better: bool, found: Mapping[str, Place] | None
) -> tuple[Mapping[str, Place], Tested]:
    """Computed places if they were found, otherwise places by value."""
    if values and found is not None and found.keys() == values.keys():
        return found, "tested"
    return plain_places(values, higher_is_better), "untested"


def _why_missing(report: Report, metric: str) -> str:
    omission = next((o for o in report.left_out if o.metric == metric), None)
    return f"Left out: {omission.why}." if omission else "Not measured for this system."


def _human_columns(
    scores: Iterable[HumanScore], entries: Sequence[Entry]
) -> list[tuple[Column, list[Cell]]]:
    """A column for each study and aspect with ratings of these systems."""
    folded = {fold(entry.report.system.name) for entry in entries}
    by_column: dict[tuple[str, str, str], dict[str, HumanScore]] = {}
    for score in scores:
        if score.system in folded:
            key = (score.study, score.aspect, score.scale)
            by_column.setdefault(key, {})[score.system] = score
    order = {aspect: place for place, aspect in enumerate(ASPECTS)}
    built = []
    for key in sorted(by_column, key=lambda k: (k[0], order.get(k[1], len(order)), k)):
        study, aspect, scale = key
        cells = _human_cells(by_column[key], entries)
        low, high = _extent(cells)
        derived = aspect == DERIVED_OVERALL.name
        what = "what follows from people's three scores" if derived else "the scores people gave"
        column = Column(
            key=f"human:{study}:{aspect}:{scale}",
            title=aspect.replace("_", " ").capitalize(),
            meaning=f"mean of {what} in {study}",
            aspect="human",
            unit=scale,
            higher_is_better=True,
            low=low,
            high=high,
            tested="untested",
            study=study,
        )
        built.append((column, cells))
    return built


def _human_cells(found: Mapping[str, HumanScore], entries: Sequence[Entry]) -> list[Cell]:
    """A cell for each entry, ranked only by mean."""
    own = [found.get(fold(entry.report.system.name)) for entry in entries]
    values = {
        entry.label: score.mean
        for entry, score in zip(entries, own, strict=True)
        if score and not entry.report.system.is_bound
    }
    places = plain_places(values, higher_is_better=True)
    cells = []
    for entry, score in zip(entries, own, strict=True):
        if score is None:
            cells.append(Cell(None, note="Not rated in this study."))
            continue
        place, note = places.get(entry.label), f"{score.ratings} ratings."
        cells.append(_cell(score.mean, score.interval, place, len(places), note=note))
    return cells


def _extent(cells: Iterable[Cell]) -> tuple[float, float]:
    values = [v for c in cells for v in (c.value, c.low, c.high) if v is not None]
    return (min(values), max(values)) if values else (0.0, 1.0)


def _place(
    built: Sequence[tuple[Column, Sequence[Cell]]], entries: Sequence[Entry], i: int
) -> tuple[bool, bool, float, str]:
    """The sort key of a row: bounds last; by the first column, missing last; then by name."""
    label, bound = entries[i].label.casefold(), entries[i].report.system.is_bound
    if not built:
        return bound, True, 0.0, label
    column, cells = built[0]
    value = cells[i].value
    if value is None:
        return bound, True, 0.0, label
    return bound, False, -value if column.higher_is_better else value, label
