"""Charts with a line of text and a line of marks for each row, in plain HTML.

Text wraps and keeps its size whatever the width is, which no drawing does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .marks import Mark
from .markup import el
from .scales import Scale, tick_text
from .words import ARROW

_MOST_TICKS = 5  # a phone has room for no more


@dataclass(frozen=True)
class Dot:
    """A value on a row.

    Attributes:
        bounds: its interval; ``None`` if it has none.
        tip: what is said of it: on hover, on focus, to a screen reader.
    """

    value: float
    bounds: tuple[float, float] | None
    mark: Mark
    tip: str


@dataclass(frozen=True)
class Box:
    """A distribution on a row, by five quantiles: two whiskers, two quartiles, the median."""

    quantiles: tuple[float, float, float, float, float]
    tip: str


@dataclass(frozen=True)
class Line:
    """One row.

    Attributes:
        label: its text.
        items: what is drawn on it.
        text: what stands at its end; empty for nothing.
        reference: a value from which a dashed line goes up to the first row.
    """

    label: str
    items: Sequence[Dot | Box]
    text: str = ""
    reference: float | None = None


@dataclass(frozen=True)
class Block:
    """Rows that belong together, below a title; an empty one is not shown."""

    lines: Sequence[Line]
    title: str = ""


def row_chart(blocks: Sequence[Block], scale: Scale, title: str) -> Markup:
    """The chart of some blocks of rows over one scale.

    Args:
        blocks: from top to bottom.
        scale: from values to places.
        title: of the scale; an arrow says that better is right.
    """
    rows: list[Markup] = []
    references: list[Markup] = []
    first = True
    for block in blocks:
        if block.title:
            rows.append(_placed(el("p", block.title), len(rows), "block"))
        for line in block.lines:
            if line.reference is not None:
                references.append(_reference(scale(line.reference), len(rows)))
            items = [_item(item, scale, first=first and not i) for i, item in enumerate(line.items)]
            first = first and not items
            content = [
                el("span", line.label, class_="label"),
                el("span", items, class_="track"),
                el("span", line.text, class_="text-value") if line.text else None,
            ]
            rows.append(_placed(content, len(rows), "line"))
    ticks = scale.ticks(_MOST_TICKS)
    grid = [el("i", style=_left(scale(value))) for value in ticks]
    texts = [el("span", tick_text(value), style=_left(scale(value))) for value in ticks]
    return el(
        "div",
        el("div", grid, class_="grid", style=f"grid-row:1/{len(rows) + 1}", aria_hidden="true"),
        references,
        rows,
        el("div", texts, class_="ticks", style=f"grid-row:{len(rows) + 1}", aria_hidden="true"),
        el("p", title, class_="scale-title", style=f"grid-row:{len(rows) + 2}"),
        class_="rows",
    )


def better_right(title: str) -> str:
    """The title of a scale on which better is right."""
    return f"{title}, better {ARROW}"


def _item(item: Dot | Box, scale: Scale, *, first: bool) -> list[Markup]:
    told = {
        "role": "img",
        "aria_label": item.tip,
        "tabindex": "0" if first else "-1",
        "data_tip": item.tip,
    }
    if isinstance(item, Box):
        low, lower, median, upper, high = item.quantiles
        return [
            el("i", class_="range", style=_span(low, high, scale)),
            el("i", class_="middle", style=_span(lower, upper, scale)),
            el("i", class_="median", style=_left(scale(median))),
            el("span", class_="target", style=_span(low, high, scale), **told),
        ]
    dot = el("span", item.mark.icon(), class_="point", style=_left(scale(item.value)), **told)
    if item.bounds is None:
        return [dot]
    return [el("i", class_=f"range {item.mark.class_}", style=_span(*item.bounds, scale)), dot]


def _reference(place: float, rows: int) -> Markup:
    line = el("i", style=_left(place))
    return el("div", line, class_="reference", style=f"grid-row:1/{rows + 2}", aria_hidden="true")


def _placed(content: object, row: int, class_: str) -> Markup:
    return el("div", content, class_=class_, style=f"grid-row:{row + 1}")


def _left(place: float) -> str:
    return f"left:{100 * place:.2f}%"


def _span(low: float, high: float, scale: Scale) -> str:
    start, end = sorted((scale(low), scale(high)))
    return f"left:{100 * start:.2f}%;width:{100 * (end - start):.2f}%"
