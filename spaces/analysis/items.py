"""One item of an analysis: what it shows, its data, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...pipelines.tables import DataTable, to_latex, to_markdown
from ..leaderboard.markup import el

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item, before it is drawn.

    Attributes:
        name: of its files, without an ending.
        title: short.
        says: one or two sentences: what is to be seen and how to read it.
        alt: what the picture shows, for who does not see it.
        csv: the data.
        markdown, latex: the table, in full.
        table: the table in the page.
        draw: makes the picture; ``None`` if there is none.
        below: further markup of the page, such as texts.
    """

    name: str
    title: str
    says: str
    alt: str
    csv: str
    markdown: str
    latex: str
    table: Markup
    draw: Callable[[], Figure] | None = None
    below: Markup = field(default_factory=Markup)


def of_table(
    table: DataTable,
    *,
    name: str,
    title: str,
    says: str,
    alt: str,
    csv: str,
    draw: Callable[[], Figure] | None = None,
    below: Markup = Markup(""),  # noqa: B008 (immutable)
) -> Item:
    """An item whose table is a :class:`DataTable`."""
    return Item(
        name=name,
        title=title,
        says=says,
        alt=alt,
        csv=csv,
        markdown=to_markdown(table),
        latex=to_latex(table, picture=f"{name}.png" if draw else None),
        table=html_table(table),
        draw=draw,
        below=below,
    )


def html_table(table: DataTable) -> Markup:
    """The table, every text escaped."""
    head = el("tr", [el("th", title, scope="col") for title in table.header])
    rows = [
        el(
            "tr",
            [
                el("th", cell, scope="row")
                if n == 0
                else el("td", cell, class_="text" if n in table.texts else None)
                for n, cell in enumerate(row)
            ],
        )
        for row in table.rows
    ]
    notes = [el("p", note) for note in table.notes]
    return el(
        "div", el("table", el("thead", head), el("tbody", rows)), notes, class_="wide", tabindex="0"
    )
