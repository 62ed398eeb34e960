"""The picture of all directions: the best systems side by side, bounds told apart."""

from __future__ import annotations

from markupsafe import Markup

from .data import direction_title
from .marks import MOST_SERIES, in_series, legend
from .markup import el, join
from .overview import Overview
from .row_chart import Block, Dot, Line, better_right, row_chart
from .scales import around
from .scene import figure_box
from .words import metric_title, number, shortened, unit_text

_LONGEST_NAME = 32


def across_box(overview: Overview) -> Markup:
    """The picture with its title and caption."""
    count = len(overview.systems[:MOST_SERIES])
    caption = "The first systems of the table. Hollow marks are bounds, which are not ranked."
    title = f"The best {count} systems, side by side" if count > 1 else "Direction by direction"
    return figure_box("across", title, caption, across_directions(overview))


def across_directions(overview: Overview) -> Markup:
    """One metric of the best systems and of the bounds, on each direction."""
    systems, bounds = overview.systems[:MOST_SERIES], overview.bounds[:MOST_SERIES]
    shown = [
        *((in_series(n, bound=True), row) for n, row in enumerate(bounds)),
        *((in_series(n), row) for n, row in enumerate(systems)),
    ]
    present = [v for _, row in shown for v in row.values if v is not None]
    if not present:
        return el("p", "No system has a score.", class_="quiet-text")
    scale = around(
        present,
        reverse=not overview.higher_is_better,
        logarithmic=overview.unit == "perplexity",
    )
    lines = []
    for i, column in enumerate(overview.columns):
        edition = f" #{column.edition}" if column.edition else ""
        label = f"{direction_title(column.direction)}{edition}"
        items = [
            Dot(value, None, mark, f"{row.system}\n{label}: {number(value, overview.unit)}")
            for mark, row in shown
            if (value := row.values[i]) is not None
        ]
        lines.append(Line(label, items))
    title = f"{metric_title(overview.metric)} ({unit_text(overview.unit)})"
    named = [(mark, shortened(row.system, _LONGEST_NAME)) for mark, row in shown]
    named = [*named[len(bounds) :], *named[: len(bounds)]]
    return join([legend(named), row_chart([Block(lines)], scale, better_right(title))])
