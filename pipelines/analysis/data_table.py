"""A table of data: in full as CSV, and as it is read, in Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..formats.latex import escaped as latex_escaped
from ..formats.markdown import escaped as markdown_escaped
from ..formats.values import safe_cell

_WIDE = 7  # columns from which a LaTeX table takes both columns of a page


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table to be read.

    Attributes:
        name: for a LaTeX label.
        title: what the caption says.
        header: titles of the columns.
        rows: text, as it is shown.
        texts: columns whose cells are sentences, which need lines of their own.
        notes: sentences below it.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()


def csv_text(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows as CSV: numbers in full, nothing for ``None``, no cell that is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([safe_cell(_number(cell)) for cell in row])
    return text.getvalue()


def markdown_text(table: DataTable) -> str:
    """The title, the table, the notes."""
    rule = ["---" if n == 0 or n in table.texts else "---:" for n in range(len(table.header))]
    rows = [[_one_line(cell) for cell in row] for row in table.rows]
    header = [_one_line(cell) for cell in table.header]
    lines = [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]
    notes = [markdown_escaped(note) for note in table.notes]
    return "\n\n".join([markdown_escaped(table.title), "\n".join(lines), *notes]) + "\n"


def latex_text(table: DataTable, picture: str | None = None) -> str:
    r"""A floating table, and a figure with its picture: for ``\input``; needs booktabs, graphicx.

    Args:
        table: what to write down.
        picture: file name of the picture beside the ``.tex`` file.
    """
    caption = " ".join(_sentence(latex_escaped(t)) for t in (table.title, *table.notes))
    label = re.sub("[^A-Za-z0-9]+", "-", table.name).strip("-").lower()
    wide = len(table.header) >= _WIDE or bool(table.texts)
    environment = "table*" if wide else "table"
    share = 0.7 / max(1, len(table.texts))
    columns = "".join(
        rf"p{{{share:.2f}\linewidth}}" if n in table.texts else "r" if n else "l"
        for n in range(len(table.header))
    )
    tabular = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"{' & '.join(latex_escaped(cell) for cell in table.header)} \\",
        r"\midrule",
        *(rf"{' & '.join(latex_escaped(cell) for cell in row)} \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if not table.texts:
        size = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
        tabular = [size, *tabular[:-1], tabular[-1] + "}"]
    lines = [
        rf"\begin{{{environment}}}[tp]",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{label}}}",
        *tabular,
        rf"\end{{{environment}}}",
    ]
    if picture is not None:
        lines += [
            "",
            r"\begin{figure}[tp]",
            r"\centering",
            rf"\includegraphics[width=\linewidth]{{{picture}}}",
            rf"\caption{{{_sentence(latex_escaped(table.title))}}}",
            rf"\label{{fig:{label}}}",
            r"\end{figure}",
        ]
    return "\n".join(lines) + "\n"


def _number(cell: object) -> object:
    """Numbers to nine digits: beyond that, processors differ."""
    return float(f"{cell:.9g}") if isinstance(cell, float) else cell


def _one_line(text: str) -> str:
    return markdown_escaped(" ".join(text.split()))


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
