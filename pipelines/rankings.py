"""Rankings in every format: for the terminal, for a paper, for a page, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from ..console import show_data
from ..errors import InputError
from ..files import write_bytes
from .ranked_table import COLUMNS, csv_values, direction_table, is_ours, metric_tables
from .standings import Standings
from .tables import GENERATOR, PREAMBLE, RankedTable, page, to_latex, to_markdown
from .terminal_table import plain_table, print_ranked

Form = Literal["table", "markdown", "latex", "html", "csv"]
Layout = Literal["directions", "metrics"]
FORMS: tuple[Form, ...] = ("table", "markdown", "latex", "html", "csv")
FileForm = Form | Literal["parquet"]
ENDINGS: Mapping[str, FileForm] = {
    ".tex": "latex", ".md": "markdown", ".html": "html", ".csv": "csv", ".txt": "table",
    ".parquet": "parquet",
}  # fmt: skip

_BY = "Written by tstbench report"
_FIRST: Mapping[Form, str] = {
    "table": f"{_BY}\n\n",
    "markdown": f"<!-- {_BY} -->\n\n",
    "latex": f"% {_BY}\n{PREAMBLE}",
    "html": "",  # has its generator
    "csv": "",  # has its header
}


def print_standings(
    standings: Sequence[Standings],
    form: Form,
    *,
    layout: Layout = "directions",
    intervals: bool = False,
) -> None:
    """Print tables on standard output; see :func:`standings_text`."""
    if form != "table":
        text = standings_text(standings, form, layout=layout, intervals=intervals)
        show_data(text, end="\n" if form == "markdown" else "")
        return
    for table in tables_of(standings, layout):
        print_ranked(table, intervals=intervals)
        print()  # noqa: T201


def standings_text(
    standings: Sequence[Standings],
    form: Form,
    *,
    layout: Layout = "directions",
    intervals: bool = False,
) -> str:
    """Tables as text.

    Args:
        standings: one per direction.
        form: the format. ``csv`` has no tables but one line per number, with its signature.
        layout: one table per direction (systems x metrics), or per metric (systems x directions).
        intervals: show the 95% intervals too; ``csv`` always has them.
    """
    if form == "csv":
        return csv_values(standings)
    tables = tables_of(standings, layout)
    if form == "html":
        return page(tables, intervals=intervals)
    if form == "table":
        return "\n\n".join(plain_table(table, intervals=intervals) for table in tables) + "\n"
    write = to_markdown if form == "markdown" else to_latex
    return "\n".join(write(table, intervals=intervals) for table in tables)


def tables_of(standings: Sequence[Standings], layout: Layout) -> list[RankedTable]:
    """One table per direction or per metric."""
    if layout == "metrics":
        return metric_tables(standings)
    return [direction_table(one) for one in standings]


def write_standings(path: Path, content: str | bytes, form: Form = "table") -> None:
    """Write :func:`standings_text`, or the bytes of a Parquet file, whole or not at all.

    Raises:
        InputError: the file exists and is not one that this function wrote.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder, but must be a file")
    if path.exists() and not _is_ours(path.read_bytes()):
        raise InputError(
            f"{path} was not written by 'tstbench report': it is left unchanged. Write to another "
            "file, or move this one away"
        )
    whole = content if isinstance(content, bytes) else f"{_FIRST[form]}{content}".encode()
    write_bytes(path, whole)


def _is_ours(content: bytes) -> bool:
    """Whether a file begins as one of ours, in any format; an empty one may be replaced too."""
    if content.startswith(b"PAR1"):
        return is_ours(content)
    text = content[:400].decode("utf-8", errors="replace")
    first = text.partition("\n")[0].removesuffix("\r")
    return not text or _BY in first or GENERATOR in text or first == ",".join(COLUMNS)
