"""Rows for the terminal; plain and tab-separated when piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..console import printable


def foreign(text: str, style: str = "") -> Text:
    """Text by others for rich: it obeys no escapes, no markup and no ``:smile:`` in it."""
    return Text(printable(text, lines=True), style=style)


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below a header: a table in a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(map(printable, row)))  # noqa: T201
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(foreign(name), overflow="fold")
    for row in rows:
        table.add_row(*map(foreign, row))
    Console().print(table)


def print_table(table: Table) -> None:
    """Print a table at full width, even in a narrow terminal or a pipe of 80 columns."""
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    Console(width=max(console.width, needed)).print(table)
