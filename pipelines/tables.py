"""Rows for the terminal; plain and tab-separated when piped."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below a header: a table in a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(row))  # noqa: T201
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)


def print_table(table: Table) -> None:
    """Print a table at full width, even in a narrow terminal or a pipe of 80 columns."""
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    Console(width=max(console.width, needed)).print(table)
