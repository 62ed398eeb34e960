"""One item of an analysis: what it shows, its data, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...pipelines.tables import DataTable, to_latex, to_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class WrittenTable:
    """A table that is there in every form."""

    markdown: str
    latex: str
    html: Markup


@dataclass(frozen=True, kw_only=True)
class Case:
    """Sentences to read, one below the other.

    Attributes:
        title: of the case.
        rows: who wrote a text, the text, whether it was given and not rewritten, and its place.
    """

    title: str
    rows: tuple[tuple[str, str, bool, str], ...]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item, before it is drawn.

    Attributes:
        name: of its files, without an ending.
        title: short.
        says: one or two sentences: what is to be seen and how to read it.
        alt: what the picture shows, for who does not see it.
        csv: the data.
        table: in full.
        draw: makes the picture.
        cases: below the table, in the page.
    """

    name: str
    title: str
    says: str
    alt: str
    csv: str
    table: DataTable | WrittenTable
    draw: Callable[[], Figure]
    cases: tuple[Case, ...] = ()

    @property
    def markdown(self) -> str:
        """The table in Markdown."""
        table = self.table
        return table.markdown if isinstance(table, WrittenTable) else to_markdown(table)

    @property
    def latex(self) -> str:
        """The table in LaTeX, with the picture unless it is whole without."""
        table, picture = self.table, f"{self.name}.png"
        return table.latex if isinstance(table, WrittenTable) else to_latex(table, picture=picture)
