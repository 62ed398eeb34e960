"""A table in Markdown, as GitHub and model cards show it."""

from __future__ import annotations

from collections.abc import Sequence

from ..ranked_table import BOUNDS_TITLE, Cell, RankedTable, Row

_ESCAPES = str.maketrans({c: f"\\{c}" for c in "\\|*_`<[]~&$"})


def markdown(table: RankedTable, *, intervals: bool = False) -> str:
    """The title, the table, and what is said below it.

    Args:
        table: what to write down.
        intervals: beside each value its 95% interval.
    """
    ranks = table.has_ranks
    rows = [_row(row, ranks=ranks, intervals=intervals) for row in table.rows]
    if table.bounds:
        rows.append([*[""] * ranks, f"*{BOUNDS_TITLE}*", *[""] * len(table.titles)])
        rows += [_row(row, ranks=ranks, intervals=intervals) for row in table.bounds]
    rule = [*["---:"] * ranks, "---", *["---:"] * len(table.titles)]
    header = [*table.keys, *(escaped(title).replace("\n", "<br>") for title in table.titles)]
    lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
    below = [escaped(note) for note in table.below("Bold", intervals=intervals)]
    return "\n\n".join([escaped(table.title), "\n".join(lines), *below]) + "\n"


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return text.translate(_ESCAPES)


def _row(row: Row, *, ranks: bool, intervals: bool) -> Sequence[str]:
    cells = (_cell(cell, intervals=intervals) for cell in row.cells)
    return [*map(escaped, row.beginning(ranks=ranks)), *cells]


def _cell(cell: Cell, *, intervals: bool) -> str:
    text = f"**{cell.text}**" if cell.bold else cell.text
    return f"{text} ({cell.interval})" if intervals and cell.interval else text
