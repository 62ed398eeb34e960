"""A ranked table in a terminal: as wide as the terminal, in blocks below one another if need be."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..console import printable
from .tables import BOUNDS_TITLE, Cell, RankedTable, Row, foreign

NARROWEST = 80
_NOTE_WIDTH = 100  # of what is said below, where nothing limits the width
GAP = 2


def width_here() -> int | None:
    """The columns of standard output's terminal, at least 80; ``None``: it is a pipe or a file.

    A pipe has the width that ``COLUMNS`` says, if it says one.
    """
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(NARROWEST, Console().width)
    return None


def print_ranked(table: RankedTable, *, intervals: bool = False) -> None:
    """Print a table on standard output; what cannot be bold there has a star."""
    width, bold = width_here(), Console().color_system is not None
    print_group(terminal_table(table, width=width, bold=bold, intervals=intervals), width)


def plain_table(table: RankedTable, *, width: int | None = None, intervals: bool = False) -> str:
    """A table as text without escapes, with stars for bold."""
    shown = terminal_table(table, width=width, bold=False, intervals=intervals)
    return _text(shown, Console(width=width or _natural(shown), color_system=None))


def print_group(shown: Group, width: int | None) -> None:
    """Print what was made for that width, without spaces at the ends of lines."""
    print(_text(shown, Console(width=width or _natural(shown))))  # noqa: T201


def _text(shown: Group, console: Console) -> str:
    with console.capture() as captured:
        console.print(shown)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def terminal_table(table: RankedTable, *, width: int | None, bold: bool, intervals: bool) -> Group:
    """A table for rich.

    Args:
        table: what to show.
        width: columns that there are; ``None``: as many as needed, in one block.
        bold: whether bold can be seen; otherwise a star takes its place.
        intervals: below each value its 95% interval.
    """
    names = _shortened(table, width)
    shown: list[RenderableType] = [foreign(table.title, "bold" if bold else "")]
    for block in _blocks(table, names, width, intervals=intervals):
        shown += [_block(table, names, block, bold=bold, intervals=intervals), Text("")]
    return Group(*shown, notes(table.below("Bold" if bold else "*", intervals=intervals), width))


def notes(texts: Sequence[str], width: int | None) -> Table:
    """What is said below a table, one paragraph each, wrapped between words."""
    below = Table.grid()
    below.add_column(max_width=min(width or _NOTE_WIDTH, _NOTE_WIDTH))
    for text in texts:
        below.add_row(foreign(text))
    return below


def _natural(shown: Group) -> int:
    """The columns that something takes where nothing limits it."""
    wide = Console(width=10_000)
    return max(wide.measure(one).maximum for one in shown.renderables)


def _all(table: RankedTable) -> tuple[Row, ...]:
    return (*table.rows, *table.bounds)


def _shortened(table: RankedTable, width: int | None) -> dict[str, str]:
    """Each system's name, cut in the middle where it would leave no room for a number."""
    if width is None:
        return {row.system: printable(row.system) + row.mark for row in _all(table)}
    room = max(12, width // 2 - 5)  # beside the rank, half of the width is for numbers
    return {row.system: _cut(printable(row.system), room) + row.mark for row in _all(table)}


def _cut(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    last = room // 3
    tail = set_cell_size(name[::-1], last)[::-1]
    return f"{set_cell_size(name, room - last - 1)}…{tail}"


def _blocks(
    table: RankedTable, names: dict[str, str], width: int | None, *, intervals: bool
) -> list[list[int]]:
    """The columns of each block."""
    labels = [*names.values(), BOUNDS_TITLE if table.bounds else "system"]
    fixed = max(map(cell_len, labels)) + (GAP + 5) * table.has_ranks
    needed = []
    for i, title in enumerate(table.titles):
        texts = [f"{row.cells[i].text}*" for row in _all(table)]
        if intervals:
            texts += [f"{row.cells[i].interval} " for row in _all(table)]
        needed.append(max(map(cell_len, [*title.split("\n"), *texts])))
    return fitting(needed, fixed, width)


def fitting(needed: Sequence[int], fixed: int, width: int | None) -> list[list[int]]:
    """Columns by block: as many as fit beside the fixed ones, and at least one.

    Args:
        needed: width of each column.
        fixed: width of what is repeated in each block.
        width: of the terminal; ``None``: one block.

    >>> fitting([10, 10, 10], 20, 50), fitting([10, 10, 10], 20, None)
    ([[0, 1], [2]], [[0, 1, 2]])
    """
    blocks: list[list[int]] = [[]]
    used = fixed
    for i, columns in enumerate(needed):
        if blocks[-1] and width is not None and used + GAP + columns > width:
            blocks.append([])
            used = fixed
        blocks[-1].append(i)
        used += GAP + columns
    return blocks


def columns_table() -> Table:
    """An empty table in the style of the house: a line below the header, two spaces apart."""
    return Table(
        box=box.SIMPLE_HEAD,  # between two columns: its divider and one space of padding
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )


def _block(
    table: RankedTable, names: dict[str, str], block: Sequence[int], *, bold: bool, intervals: bool
) -> Table:
    shown = columns_table()
    for key in table.keys:
        shown.add_column(key, justify="right" if key == "rank" else "left", no_wrap=True)
    for i in block:
        shown.add_column(foreign(table.titles[i]), justify="right", no_wrap=True)

    def add(row: Row) -> None:
        cells = [_cell(row.cells[i], bold=bold, intervals=intervals) for i in block]
        shown.add_row(*[row.rank] * table.has_ranks, Text(names[row.system]), *cells)

    for row in table.rows:
        add(row)
    if table.bounds:
        if table.rows:
            shown.add_section()
        shown.add_row(*[""] * table.has_ranks, Text(BOUNDS_TITLE, style="italic"))
        for row in table.bounds:
            add(row)
    return shown


def _cell(cell: Cell, *, bold: bool, intervals: bool) -> Text:
    if cell.bold:
        text = Text(f"{cell.text} ", "bold") if bold else Text(f"{cell.text}*")
    else:
        text = Text(f"{cell.text} ")
    if intervals and cell.interval:
        text.append(f"\n{cell.interval} ", "dim not bold")
    return text
