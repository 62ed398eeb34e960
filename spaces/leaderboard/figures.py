"""The pictures: from rankings, texts and correlations to HTML and SVG.

They are made on the server and need no script to be seen; the style sheet gives them the colours of
light and dark. static/js/marks.js tells what a mark is, by pointer and by keyboard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from ...pipelines.analysis.trade_off import pareto_front
from ...plots.canvas import page_svg
from ...plots.colours import KINDS
from ...plots.plane import PHONE, WIDE, Axis, Point, draw_plane
from ...plots.rows import Mark, Row, draw_page_rows
from .markup import join, ui
from .ranking import Cell, Column, Ranking
from .ranking import Row as Ranked
from .style_map import StyleMap
from .words import (
    ARROW,
    ASPECT_TITLES,
    interval_text,
    number,
    shortened,
    unit_text,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS = "Bounds: not ranked"
MOST_DOTS = 25
MOST_POINTS = 100  # systems; more would hide each other
_LONGEST_SENTENCE = 400
SERIES = (  # colour and shape of the n-th of a picture in which each system has its own
    ("fpft", "o"),
    ("prompted", "s"),
    ("rule", "^"),
    ("peft", "D"),
    ("human", "*"),
    ("unknown", "v"),
)
_SHAPES = {  # matplotlib's marks, for legends: around the origin, about 10 wide
    "o": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
    "D": "M0-5.6L5.6 0L0 5.6L-5.6 0Z",
    "s": "M-4-4H4V4H-4Z",
    "^": "M0-5.2L5.2 4H-5.2Z",
    "v": "M0 5.2L5.2-4H-5.2Z",
    "*": "M0-6L1.6-2H5.7L2.5.7L3.6 5L0 2.6L-3.6 5L-2.5.7L-5.7-2H-1.6Z",
    "X": "M-2 4L0 2L2 4L4 2L2 0L4-2L2-4L0-2L-2-4L-4-2L-2 0L-4 2Z",
}


def trade_off(ranking: Ranking, across: Column, up: Column) -> Markup:
    """Two metrics against each other, with both intervals; better is right and up."""
    i, j = ranking.columns.index(across), ranking.columns.index(up)
    signed = [
        ranking.numbers[k].value if column.higher_is_better else -ranking.numbers[k].value
        for k, column in ((i, across), (j, up))
    ]
    both = ~(np.isnan(signed[0]) | np.isnan(signed[1]))
    places = {
        str(n): (float(signed[0][n]), float(signed[1][n]))
        for n in np.flatnonzero(both[: len(ranking.systems)])
    }
    front = pareto_front(places)
    shown = {*list(places)[:MOST_POINTS], *front}
    rows = [row for row in ranking.systems if str(row.place) in shown]
    rows += [row for row in ranking.bounds[:MOST_DOTS] if both[row.place]]
    if not rows:
        return ui.quiet("No system has both scores.")
    points = tuple(
        Point(
            system=row.entry.label,
            family=row.entry.facts.family,
            bound=_is_bound(row),
            x=row.cells[i].value or 0.0,
            y=row.cells[j].value or 0.0,
            across=_bounds(row.cells[i]),
            up=_bounds(row.cells[j]),
            on_front=str(row.place) in front,
            tip=_tip(row, (j, i), ranking.columns),
        )
        for row in rows
    )
    return join([_families_legend(rows), _plane(points, _axis(across), _axis(up))])


@lru_cache(maxsize=64)
def _plane(points: tuple[Point, ...], across: Axis, up: Axis) -> Markup:
    sizes = {"wide": WIDE, "narrow": PHONE}
    drawn = {name: partial(draw_plane, points, across, up, {}, s) for name, s in sizes.items()}
    return _at_widths(drawn, [point.tip for point in points])


def _at_widths(drawn: Mapping[str, Callable[[], Figure]], tips: Sequence[str]) -> Markup:
    """Drawn for places of several widths: the style sheet shows the one that fits."""
    pictures = [page_svg(draw, tips, name) for name, draw in drawn.items()]
    return ui.tag("div", [Markup(svg) for svg in pictures], "drawn")  # noqa: S704 (escaped there)


@lru_cache(maxsize=64)
def rows_picture(
    rows: tuple[Row, ...],
    title: str,
    *,
    logarithmic: bool = False,
    reverse: bool = False,
    broad: bool = False,
) -> Markup:
    """Values on rows, see :func:`~...plots.rows.draw_page_rows`; ``broad`` for the whole page."""
    draw = partial(draw_page_rows, rows, title, BOUNDS, logarithmic=logarithmic, reverse=reverse)
    widths = {"broad": 1200.0} if broad else {}
    widths |= {"wide": WIDE.width, "narrow": PHONE.width}
    drawn = {name: partial(draw, width) for name, width in widths.items()}
    return _at_widths(drawn, [mark.tip for row in rows for mark in row.marks])


def better_right(title: str) -> str:
    """The title of a scale on which better is right."""
    return f"{title}, better {ARROW}"


def icon(ink: str, shape: str, *, hollow: bool = False) -> Markup:
    """A mark alone, for use in text.

    Args:
        ink: the kind of system whose colour it has.
        shape: see :data:`~...plots.colours.KINDS`.
        hollow: whether it is a bound's.
    """
    return ui.icon(_SHAPES[shape], "hollow" if hollow else ink)


def dots(ranking: Ranking, column: Column) -> Markup:
    """One metric of each system with its interval, best on top; bounds below a title."""
    i = ranking.columns.index(column)
    values = ranking.numbers[i].value
    places = np.argsort(-values if column.higher_is_better else values, kind="stable")  # NaN last
    ordered = [ranking.rows[k] for k in places if not np.isnan(ranking.numbers[i].value[k])]
    shown = [row for row in ordered if not _is_bound(row)][:MOST_DOTS]
    shown += [row for row in ordered if _is_bound(row)][:MOST_DOTS]
    chart = rows_picture(
        tuple(_dot_row(row, column, ranking, i) for row in shown),
        better_right(_title(column)),
        logarithmic=column.unit == "perplexity",
        reverse=not column.higher_is_better,
    )
    return join([_families_legend(shown), chart])


def lengths(groups: Mapping[str, Sequence[int]]) -> Markup:
    """Words per sentence: quartiles, 5th and 95th percentile of each group, in the order given."""
    found = {
        name: tuple(float(q) for q in np.percentile(list(words), [5, 25, 50, 75, 95]))
        for name, words in groups.items()
    }
    rows = []
    for name, quantiles in found.items():
        low, lower, median, upper, high = (f"{q:g}" for q in quantiles)
        tip = f"{name}\nmedian {median} words, half have {lower} to {upper}, most {low} to {high}"
        middle = Mark(value=quantiles[2], ink="accent", shape="|", tip=tip)
        rows.append(Row(name=name, marks=(middle,), text=median, quantiles=quantiles))
    return rows_picture(tuple(rows), "words per sentence")


def style_cloud(found: StyleMap) -> Markup:
    """The map of styles: a point for each sentence, which is its tip."""
    looks = dict(zip(dict.fromkeys(found.groups), SERIES, strict=False))
    width, height = 600.0, 420.0
    low, size = found.points.min(axis=0), np.ptp(found.points, axis=0)
    places = 10 + (found.points - low) / size * (width - 20, height - 20)
    marks = [
        (_SHAPES[looks[group][1]], looks[group][0], x, y, shortened(text, _LONGEST_SENTENCE))
        for (x, y), group, text in zip(places, found.groups, found.texts, strict=True)
    ]
    named = [(icon(*look), group) for group, look in looks.items()]
    return join([ui.marks_legend(named), ui.cloud(marks, width, height)])


# -- parts -----------------------------------------------------------------------------------------


def _dot_row(row: Ranked, column: Column, ranking: Ranking, i: int) -> Row:
    cell, bound = row.cells[i], _is_bound(row)
    mark = Mark(
        value=cell.value or 0.0,
        interval=_bounds(cell),
        family=row.entry.facts.family,
        hollow=bound,
        tip=_tip(row, (i,), ranking.columns),
    )
    text = number(mark.value, column.unit)
    return Row(name=row.entry.label, marks=(mark,), text=text, bound=bound)


def _families_legend(rows: Sequence[Ranked]) -> Markup:
    """The kinds of system in a picture, as the page orders them, and what is hollow."""
    found = {row.entry.facts.family for row in rows if not _is_bound(row)}
    items = [(icon(f, kind.marker), kind.title) for f, kind in KINDS.items() if f in found]
    if any(_is_bound(row) for row in rows):
        items.append((icon("unknown", "o", hollow=True), "hollow: bounds, not ranked"))
    return ui.marks_legend(items)


def _axis(column: Column) -> Axis:
    return Axis(
        title=_title(column),
        logarithmic=column.unit == "perplexity",
        higher_is_better=column.higher_is_better,
    )


def _title(column: Column) -> str:
    aspect = ASPECT_TITLES.get(column.aspect, column.aspect)
    study = f" ({column.study})" if column.study else ""
    return f"{aspect}{study}: {column.title} ({unit_text(column.unit)})"


def _is_bound(row: Ranked) -> bool:
    return row.entry.facts.is_bound


def _bounds(cell: Cell) -> tuple[float, float] | None:
    return None if cell.low is None or cell.high is None else (cell.low, cell.high)


def _tip(row: Ranked, which: Sequence[int], columns: Sequence[Column]) -> str:
    lines = [row.entry.label]
    for i in which:
        cell, column = row.cells[i], columns[i]
        if cell.value is None:
            continue
        line = f"{column.title} {number(cell.value, column.unit)}"
        if cell.low is not None and cell.high is not None:
            line += f" ({interval_text(cell.low, cell.high, column.unit)})"
        lines.append(line)
    return "\n".join(lines)
