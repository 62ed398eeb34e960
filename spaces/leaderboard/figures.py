"""The pictures: from rankings, texts and correlations to HTML and SVG.

They are made on the server and need no script to be seen; the style sheet gives them the colours of
light and dark. static/js/pictures.js tells what a mark is, by pointer and by keyboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial

import numpy as np
from markupsafe import Markup

from ...pipelines.analysis.trade_off import pareto_front
from ...plots.canvas import page_svg
from ...plots.plane import PHONE, WIDE, Axis, Point, draw_plane
from .correlation import Correlation, Correlations
from .marks import in_series, legend, of_family
from .markup import el, join
from .ranking import Cell, Column, Ranking, Row
from .row_chart import Block, Box, Dot, Line, better_right, row_chart
from .scales import Scale, around
from .scatter import cloud
from .style_map import StyleMap
from .words import (
    ASPECT_TITLES,
    FAMILIES,
    interval_text,
    number,
    shortened,
    unit_text,
)

BOUNDS = "Bounds: not ranked"
MOST_DOTS = 25
_LONGEST_NAME = 32
_LONGEST_SENTENCE = 400


def trade_off(ranking: Ranking, across: Column, up: Column) -> Markup:
    """Two metrics against each other, with both intervals; better is right and up."""
    i, j = ranking.columns.index(across), ranking.columns.index(up)
    rows = [
        r for r in ranking.rows if r.cells[i].value is not None and r.cells[j].value is not None
    ]
    if not rows:
        return el("p", "No system has both scores.", class_="quiet-text")
    signs = [1 if column.higher_is_better else -1 for column in (across, up)]
    places = {
        str(n): (signs[0] * (row.cells[i].value or 0.0), signs[1] * (row.cells[j].value or 0.0))
        for n, row in enumerate(rows)
        if not _is_bound(row)
    }
    front = pareto_front(places)
    points = tuple(
        Point(
            system=row.entry.label,
            family=row.entry.report.system.family,
            bound=_is_bound(row),
            x=row.cells[i].value or 0.0,
            y=row.cells[j].value or 0.0,
            across=_bounds(row.cells[i]),
            up=_bounds(row.cells[j]),
            on_front=str(n) in front,
            tip=_tip(row, (j, i), ranking.columns),
        )
        for n, row in enumerate(rows)
    )
    return join([_families_legend(rows), _plane(points, _axis(across), _axis(up))])


@lru_cache(maxsize=64)
def _plane(points: tuple[Point, ...], across: Axis, up: Axis) -> Markup:
    """Drawn for wide and for narrow places: the style sheet shows the one that fits."""
    tips = [point.tip for point in points]
    drawn = (
        page_svg(partial(draw_plane, points, across, up, {}, size), tips, class_)
        for size, class_ in ((WIDE, "wide"), (PHONE, "narrow"))
    )
    return el("div", [Markup(svg) for svg in drawn], class_="scatter")  # noqa: S704 (escaped there)


def dots(ranking: Ranking, column: Column) -> Markup:
    """One metric of each system with its interval, best on top; bounds in a block of their own."""
    i = ranking.columns.index(column)
    sign = -1 if column.higher_is_better else 1
    rows = [row for row in ranking.rows if row.cells[i].value is not None]
    rows.sort(key=lambda row: sign * (row.cells[i].value or 0.0))
    systems = [row for row in rows if not _is_bound(row)][:MOST_DOTS]
    bounds = [row for row in rows if _is_bound(row)]
    scale = _scale(column, [*systems, *bounds], i)
    blocks = [
        Block([_dot_line(row, column, ranking, i) for row in systems]),
        Block([_dot_line(row, column, ranking, i) for row in bounds], BOUNDS if bounds else ""),
    ]
    chart = row_chart(blocks, scale, better_right(_title(column)))
    return join([_families_legend([*systems, *bounds]), chart])


def heat_map(correlations: Correlations) -> Markup:
    """Spearman correlation of each metric with each human aspect over systems: a table."""
    head = el(
        "tr",
        el("td"),
        [el("th", aspect, scope="col") for aspect in correlations.aspects],
    )
    body = [
        el("tr", el("th", metric, scope="row"), [_heat_cell(cell) for cell in cells])
        for metric, cells in zip(correlations.metrics, correlations.cells, strict=True)
    ]
    table = el("table", el("thead", head), el("tbody", body), class_="heat")
    return el("div", table, class_="heat-frame", tabindex="0", role="group", aria_label="Table")


def lengths(groups: Mapping[str, Sequence[int]]) -> Markup:
    """Words per sentence: quartiles, 5th and 95th percentile of each group, in the order given."""
    found = {
        name: tuple(float(q) for q in np.percentile(list(words), [5, 25, 50, 75, 95]))
        for name, words in groups.items()
    }
    lines = []
    for name, quantiles in found.items():
        low, lower, median, upper, high = (f"{q:g}" for q in quantiles)
        tip = f"{name}\nmedian {median} words, half have {lower} to {upper}, most {low} to {high}"
        box = Box((quantiles[0], quantiles[1], quantiles[2], quantiles[3], quantiles[4]), tip)
        lines.append(Line(name, [box], text=median))
    scale = around([0.0, *(q for quantiles in found.values() for q in quantiles)])
    return row_chart([Block(lines)], scale, "words per sentence")


def style_cloud(found: StyleMap) -> Markup:
    """The map of styles: a point for each sentence, which is its tip."""
    groups = list(dict.fromkeys(found.groups))
    marks = {group: in_series(n) for n, group in enumerate(groups)}
    points = [
        (x, y, marks[group], shortened(text, _LONGEST_SENTENCE))
        for (x, y), group, text in zip(found.points, found.groups, found.texts, strict=True)
    ]
    return join([legend((marks[group], group) for group in groups), cloud(points)])


# -- parts -----------------------------------------------------------------------------------------


def _dot_line(row: Row, column: Column, ranking: Ranking, i: int) -> Line:
    cell = row.cells[i]
    value = cell.value or 0.0
    mark = of_family(row.entry.report.system.family, bound=_is_bound(row))
    return Line(
        shortened(row.entry.label, _LONGEST_NAME),
        [Dot(value, _bounds(cell), mark, _tip(row, (i,), ranking.columns))],
        text=number(value, column.unit),
        reference=value if _is_bound(row) else None,
    )


def _heat_cell(cell: Correlation) -> Markup:
    if cell.value is None or cell.low is None or cell.high is None:
        few = f"{cell.systems} systems"
        return el("td", el("b", "\N{EN DASH}"), el("small", few), class_="unsaid")
    return el(
        "td",
        el("b", _signed(cell.value)),
        el("small", f"{_signed(cell.low)} to {_signed(cell.high)}"),
        el("small", f"{cell.systems} systems"),
        class_=("agrees" if cell.value > 0 else "disagrees") if cell.shown else "unclear",
        style=f"--strength:{abs(cell.value):.2f}",
    )


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def _families_legend(rows: Sequence[Row]) -> Markup:
    """The kinds of system in a picture, as the page orders them, and what is hollow."""
    found = {row.entry.report.system.family for row in rows if not _is_bound(row)}
    items = [(of_family(f), title) for f, (title, _) in FAMILIES.items() if f in found]
    if any(_is_bound(row) for row in rows):
        items.append((in_series(0, bound=True), "hollow: bounds, not ranked"))
    return legend(items)


def _axis(column: Column) -> Axis:
    return Axis(
        title=_title(column),
        logarithmic=column.unit == "perplexity",
        higher_is_better=column.higher_is_better,
    )


def _scale(column: Column, rows: Sequence[Row], i: int) -> Scale:
    cells = [row.cells[i] for row in rows]
    values = [v for c in cells for v in (c.value, c.low, c.high) if v is not None]
    logarithmic = column.unit == "perplexity"
    return around(values, reverse=not column.higher_is_better, logarithmic=logarithmic)


def _title(column: Column) -> str:
    aspect = ASPECT_TITLES.get(column.aspect, column.aspect)
    study = f" ({column.study})" if column.study else ""
    return f"{aspect}{study}: {column.title} ({unit_text(column.unit)})"


def _is_bound(row: Row) -> bool:
    return row.entry.report.system.is_bound


def _bounds(cell: Cell) -> tuple[float, float] | None:
    return None if cell.low is None or cell.high is None else (cell.low, cell.high)


def _tip(row: Row, which: Sequence[int], columns: Sequence[Column]) -> str:
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
