"""Tables as things of their own, and how they are written: in Markdown, LaTeX, HTML and CSV.

A :class:`RankedTable` has systems and numbers, some of them bold, and bounds below; a
:class:`DataTable` has text alone. :mod:`.terminal_table` prints the first.
"""

from __future__ import annotations

import csv
import html
import io
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..console import printable
from ..metrics.units import DASH

MEANING = (
    "best, or not significantly different from the best (paired bootstrap, p >= 0.05), among the "
    "ranked systems"
)
BOUNDS_TITLE = "bounds: not ranked"


@dataclass(frozen=True)
class Cell:
    """One number as it is shown, and its 95% interval, empty if there is none."""

    text: str = DASH
    interval: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Row:
    """One system; ``rank`` is a range, empty where the table has none; ``mark`` shows a doubt."""

    system: str
    rank: str
    cells: tuple[Cell, ...]
    mark: str = ""

    def beginning(self, *, ranks: bool) -> list[str]:
        """What stands before the numbers: the rank, in a table that has ranks, and the system."""
        return [*([self.rank] if ranks else []), self.system + self.mark]


@dataclass(frozen=True)
class RankedTable:
    """A title, columns of comparable numbers, the ranked systems, and the bounds below them.

    Attributes:
        name: of the direction or metric that the table is about.
        title: what a caption says.
        titles: of the columns, after that of the system; a line break may be in them.
        rows: the ranked systems, best first.
        bounds: what is not ranked, see :attr:`.report.SystemInfo.is_bound`.
        order: how the rows are ordered.
        notes: further sentences to be said below.
    """

    name: str
    title: str
    titles: tuple[str, ...]
    rows: tuple[Row, ...]
    bounds: tuple[Row, ...]
    order: str
    notes: tuple[str, ...]

    @property
    def has_ranks(self) -> bool:
        """Whether there is a column of ranks."""
        return any(row.rank for row in self.rows)

    @property
    def keys(self) -> list[str]:
        """The titles of the columns before the numbers."""
        return ["rank", "system"] if self.has_ranks else ["system"]

    def below(self, mark: str, *, intervals: bool = False) -> list[str]:
        """What is said below the table: its order, what ``mark`` means, and the notes."""
        said = [self.order] if self.order else []
        if any(cell.bold for row in self.rows for cell in row.cells):
            said.append(f"{mark}: {MEANING}.")
        if intervals and any(c.interval for row in (*self.rows, *self.bounds) for c in row.cells):
            said.append("The range beside or below a value is its 95% interval.")
        return [" ".join(said), *self.notes] if said else list(self.notes)


@dataclass(frozen=True, kw_only=True)
class DataTable:
    """A table of text, as it is read.

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


# -- rows, for the terminal or a pipe --------------------------------------------------------------


def foreign(text: str, style: str = "") -> Text:
    """Text by others for rich: it obeys no escapes, no markup and no ``:smile:`` in it."""
    return Text(printable(text, lines=True), style=style)


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows below a header: a table in a terminal, tab-separated lines in a pipe.

    In a terminal, what all rows share is said once above the table, so that the rest fits.
    """
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(map(printable, row)))  # noqa: T201
        return
    differ = len({tuple(row) for row in rows}) > 1
    shared = [differ and len({row[i] for row in rows}) == 1 for i in range(len(header))]
    said = [f"{header[i]}: {rows[0][i]}" for i, same in enumerate(shared) if same and rows[0][i]]
    table = Table(box=None, header_style="bold", pad_edge=False)
    columns = [i for i, same in enumerate(shared) if not same]
    console = Console()
    for i in columns:  # the first has names, to be copied: whole, where they leave room for others
        whole = i == columns[0] and all(len(row[i]) <= console.width * 2 // 3 for row in rows)
        table.add_column(foreign(header[i]), overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(foreign(row[i]) for i in columns))
    if said:
        console.print(foreign(", ".join(said)))
    console.print(table)


def print_table(table: Table) -> None:
    """Print a table at full width, even in a narrow terminal or a pipe of 80 columns."""
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    Console(width=max(console.width, needed)).print(table)


# -- Markdown, as GitHub and model cards show it ---------------------------------------------------

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\|*_`<[]~&$"})


def to_markdown(table: RankedTable | DataTable, *, intervals: bool = False) -> str:
    """The title, the table, and what is said below it.

    Args:
        table: what to write down.
        intervals: beside each value its 95% interval.
    """
    if isinstance(table, DataTable):
        rule = ["---" if n == 0 or n in table.texts else "---:" for n in range(len(table.header))]
        header, *rows = (
            [escaped(" ".join(cell.split())) for cell in row] for row in (table.header, *table.rows)
        )
        below = table.notes
    else:
        ranks, below = table.has_ranks, tuple(table.below("Bold", intervals=intervals))
        rule = [*["---:"] * ranks, "---", *["---:"] * len(table.titles)]
        header = [*table.keys, *(escaped(t).replace("\n", "<br>") for t in table.titles)]
        rows = [_markdown_row(row, ranks, intervals) for row in table.rows]
        if table.bounds:
            rows.append([*[""] * ranks, f"*{BOUNDS_TITLE}*", *[""] * len(table.titles)])
            rows += [_markdown_row(row, ranks, intervals) for row in table.bounds]
    lines = markdown_lines([header, *rows], rule)
    return "\n\n".join([escaped(table.title), lines, *map(escaped, below)]) + "\n"


def markdown_lines(rows: Sequence[Sequence[str]], rule: Sequence[str] = ()) -> str:
    """A table of escaped cells, the header first; behind the first column stand numbers."""
    header, *body = rows
    rule = rule or ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *body))


def escaped(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return text.translate(_MARKDOWN)


def _markdown_row(row: Row, ranks: bool, intervals: bool) -> list[str]:
    cells = list(map(escaped, row.beginning(ranks=ranks)))
    for cell in row.cells:
        text = f"**{cell.text}**" if cell.bold else cell.text
        cells.append(f"{text} ({cell.interval})" if intervals and cell.interval else text)
    return cells


# -- LaTeX, to be read with \input -----------------------------------------------------------------

_WIDE = 6  # columns; a table with more takes both columns of a page
PREAMBLE = "% Needs \\usepackage{booktabs,graphicx} in the preamble.\n"
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "`": r"\textasciigrave{}",
        # After \\ of the row before, these two would be its arguments.
        "[": "{[}",
        "*": "{*}",
        "±": r"$\pm$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "†": r"$^\dagger$",
        "§": r"\textsuperscript{\S}",
        "\N{EN DASH}": r"\textendash{}",
    }
)


def to_latex(
    table: RankedTable | DataTable, *, intervals: bool = False, picture: str | None = None
) -> str:
    r"""A floating table with caption and label ``tab:<name>``; it needs booktabs and graphicx.

    Args:
        table: what to write down.
        intervals: beside each value its 95% interval.
        picture: file name of a picture beside the ``.tex`` file, which becomes a figure.
    """
    resized = True
    if isinstance(table, DataTable):
        header = " & ".join(map(latex_escaped, table.header))
        rows = [rf"{' & '.join(map(latex_escaped, row))} \\" for row in table.rows]
        share = 0.7 / max(1, len(table.texts))
        columns = "".join(
            rf"p{{{share:.2f}\linewidth}}" if n in table.texts else "r" if n else "l"
            for n in range(len(table.header))
        )
        wide, resized = len(table.header) > _WIDE or bool(table.texts), not table.texts
        said = [table.title, *table.notes]
    else:
        ranks, width = table.has_ranks, len(table.titles)
        rows = [_latex_row(row, ranks, intervals) for row in table.rows]
        if table.bounds:
            title = rf"\multicolumn{{{1 + width}}}{{l}}{{\emph{{{BOUNDS_TITLE}}}}} \\"
            rows += [*([r"\midrule"] if rows else []), f"{'& ' * ranks}{title}"]
            rows += [_latex_row(row, ranks, intervals) for row in table.bounds]
        header = " & ".join([*table.keys, *map(_stacked, table.titles)])
        columns = f"{'r' * ranks}l{'r' * width}"
        wide = 1 + width > _WIDE or intervals
        said = [f"{table.title}.", *table.below("Bold", intervals=intervals)]
    label = re.sub("[^A-Za-z0-9]+", "-", table.name).strip("-").lower()
    size = [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"] if resized else []
    environment = "table*" if wide else "table"
    lines = [
        rf"\begin{{{environment}}}[tp]",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{' '.join(_sentence(latex_escaped(text)) for text in said)}}}",
        rf"\label{{tab:{label}}}",
        *size,
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}" + "}" * resized,
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


def latex_escaped(text: str) -> str:
    r"""Text in which no character means anything to LaTeX.

    >>> print(latex_escaped("50% of a_b & more, p >= 0.05"))
    50\% of a\_b \& more, p $\geq$ 0.05
    """
    text = re.sub("-(?=-)", "-{}", text.translate(_LATEX))  # else two hyphens become a dash
    return text.replace(r"\textgreater{}=", r"$\geq$")


def _stacked(title: str) -> str:
    lines = [latex_escaped(line) for line in title.split("\n")]
    stack = r"\\".join(lines)
    return stack if len(lines) == 1 else rf"\shortstack[r]{{{stack}}}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _latex_row(row: Row, ranks: bool, intervals: bool) -> str:
    cells = list(map(latex_escaped, row.beginning(ranks=ranks)))
    for cell in row.cells:
        text = latex_escaped(cell.text)
        text = rf"\textbf{{{text}}}" if cell.bold else text
        if intervals and cell.interval:
            text += rf" {{\scriptsize {latex_escaped(cell.interval)}}}"
        cells.append(text)
    return " & ".join(cells) + r" \\"


# -- HTML: one table for a notebook, or all as a page that stands alone ----------------------------

GENERATOR = '<meta name="generator" content="tstbench">'
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
figure { margin: 0 0 3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { font-weight: 600; padding: .5rem 0; text-align: left; }
caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 2rem); }
th, td { padding: .3rem .7rem; text-align: right; white-space: nowrap; }
th.system { text-align: left; position: sticky; left: 0; background: Canvas; }
thead th { border-bottom: 1px solid; font-weight: 500; }
tbody th { font-weight: 400; max-width: min(40rem, 50vw); }
tbody th { overflow: hidden; text-overflow: ellipsis; }
tbody + tbody tr:first-child > * { border-top: 1px solid; font-style: italic; }
td b { font-weight: 700; }
small { display: block; opacity: .75; }
p { font-size: .9rem; margin: .4rem 0; max-width: 48rem; opacity: .85; }
"""


def page(tables: Sequence[RankedTable], *, intervals: bool = False) -> str:
    """A page of its own, which asks no other machine for anything.

    Args:
        tables: what to write down.
        intervals: below each value its 95% interval.
    """
    title = html.escape(tables[0].title if len(tables) == 1 else "Text style transfer: results")
    figures = "".join(
        f"<figure><div class='wide'>{_html_table(table, intervals=intervals)}</div>"
        f"{_below(table, intervals=intervals)}</figure>\n"
        for table in tables
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{GENERATOR}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{figures}</body>\n"
        "</html>\n"
    )


def fragment(table: RankedTable) -> str:
    """A table for a notebook; its intervals are tooltips."""
    return _html_table(table, intervals=False) + _below(table, intervals=False)


def _html_table(table: RankedTable, *, intervals: bool) -> str:
    titles = (html.escape(title).replace("\n", "<br>") for title in table.titles)
    rank = "<th scope='col'>rank</th>" if table.has_ranks else ""
    head = rank + "<th scope='col' class='system'>system</th>"
    head += "".join(f"<th scope='col'>{title}</th>" for title in titles)
    ranks = table.has_ranks
    ranked = "".join(_html_row(row, ranks=ranks, intervals=intervals) for row in table.rows)
    bounds = "".join(_html_row(row, ranks=ranks, intervals=intervals) for row in table.bounds)
    if bounds:
        over = f"<th scope='rowgroup' class='system'>{BOUNDS_TITLE}</th>"
        over = f"{'<td></td>' * ranks}{over}<td colspan='{len(table.titles)}'></td>"
        bounds = f"<tbody><tr>{over}</tr>{bounds}</tbody>"
    return (
        f"<table><caption><span>{html.escape(table.title)}</span></caption>"
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{ranked}</tbody>{bounds}</table>"
    )


def _below(table: RankedTable, *, intervals: bool) -> str:
    notes = table.below("Bold", intervals=intervals)
    return "".join(f"<p>{html.escape(note)}</p>" for note in notes)


def _html_row(row: Row, *, ranks: bool, intervals: bool) -> str:
    rank = f"<td>{row.rank}</td>" if ranks else ""
    cells = "".join(_html_cell(cell, intervals=intervals) for cell in row.cells)
    name = html.escape(row.system + row.mark)
    return f"<tr>{rank}<th scope='row' class='system'>{name}</th>{cells}</tr>"


def _html_cell(cell: Cell, *, intervals: bool) -> str:
    text = f"<b>{cell.text}</b>" if cell.bold else cell.text
    if not cell.interval:
        return f"<td>{text}</td>"
    if intervals:
        return f"<td>{text}<small>{cell.interval}</small></td>"
    return f"<td title='95% interval {cell.interval}'>{text}</td>"


# -- CSV -------------------------------------------------------------------------------------------

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes a cell that begins so


def csv_text(
    header: Iterable[str], rows: Iterable[Iterable[object]], digits: int | None = 9
) -> str:
    """Rows as CSV: nothing for ``None``, no cell that is a formula.

    Args:
        header: titles of the columns.
        rows: cells.
        digits: of numbers, beyond which processors differ; ``None`` for all.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        short = (
            float(f"{cell:.{digits}g}") if digits and isinstance(cell, float) else cell
            for cell in row
        )
        writer.writerow(map(safe_cell, short))
    return text.getvalue()


def safe_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula; ``yes`` and ``no`` for truth values."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
