r"""A table in LaTeX, to be read with ``\input``; it needs booktabs and graphicx."""

from __future__ import annotations

import re

from ..ranked_table import BOUNDS_TITLE, Cell, RankedTable, Row

PREAMBLE = "% Needs \\usepackage{booktabs,graphicx} in the preamble.\n"
_WIDE = 6  # columns of numbers; from here on a table takes both columns of a two-column page
_ESCAPES = str.maketrans(
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


def latex(table: RankedTable, *, intervals: bool = False) -> str:
    """A floating table with caption and label ``tab:<direction or metric>``.

    Args:
        table: what to write down.
        intervals: beside each value its 95% interval.
    """
    ranks, width = table.has_ranks, len(table.titles)
    rows = [_row(row, ranks=ranks, intervals=intervals) for row in table.rows]
    if table.bounds:
        title = rf"{'& ' * ranks}\multicolumn{{{1 + width}}}{{l}}{{\emph{{{BOUNDS_TITLE}}}}} \\"
        rows += [*([r"\midrule"] if rows else []), title]
        rows += [_row(row, ranks=ranks, intervals=intervals) for row in table.bounds]
    header = " & ".join([*table.keys, *(_header(title) for title in table.titles)])
    below = table.below("Bold", intervals=intervals)
    caption = " ".join([f"{escaped(table.title)}.", *(_sentence(escaped(note)) for note in below)])
    environment = "table*" if 1 + width > _WIDE or intervals else "table"
    lines = [
        rf"\begin{{{environment}}}[tp]",
        r"\centering",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', table.name).strip('-').lower()}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{'r' * ranks}l{'r' * width}}}",
        r"\toprule",
        rf"{header} \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text in which no character means anything to LaTeX.

    >>> print(escaped("50% of a_b & more, p >= 0.05"))
    50\% of a\_b \& more, p $\geq$ 0.05
    """
    text = re.sub("-(?=-)", "-{}", text.translate(_ESCAPES))  # else two hyphens become a dash
    return text.replace(r"\textgreater{}=", r"$\geq$")


def _header(title: str) -> str:
    lines = [escaped(line) for line in title.split("\n")]
    stack = r"\\".join(lines)
    return stack if len(lines) == 1 else rf"\shortstack[r]{{{stack}}}"


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _row(row: Row, *, ranks: bool, intervals: bool) -> str:
    cells = (_cell(cell, intervals=intervals) for cell in row.cells)
    return " & ".join([*map(escaped, row.beginning(ranks=ranks)), *cells]) + r" \\"


def _cell(cell: Cell, *, intervals: bool) -> str:
    text = escaped(cell.text)
    text = rf"\textbf{{{text}}}" if cell.bold else text
    if intervals and cell.interval:
        text += rf" {{\scriptsize {escaped(cell.interval)}}}"
    return text
