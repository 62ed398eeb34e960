"""Correlations as an item: of the systems or sentences of one direction, or of all directions."""

from __future__ import annotations

from ...pipelines.analysis.correlation import Correlation, CorrelationMatrix
from ...pipelines.analysis.data_table import DataTable, csv_text
from .draw_correlation import draw_correlations
from .items import Item, of_table

_TITLES = {
    "systems": ("correlation-systems", "Correlations over systems"),
    "sentences": ("correlation-sentences", "Correlations over sentences"),
    "directions": ("correlation-directions", "Correlations over systems of all directions"),
}
_SAYS = {
    "systems": (
        "Do metrics order systems alike? One point is a system's corpus score. The interval is "
        "Fisher's; with few systems it is wide."
    ),
    "sentences": (
        "Do metrics agree on single outputs? One point is one output of one system; the interval "
        "is a bootstrap over source sentences."
    ),
    "directions": (
        "As within a direction, with every score standardised in its own direction: numbers of "
        "different directions are never compared as they are."
    ),
}


def correlation_item(matrix: CorrelationMatrix, where: str) -> Item | None:
    """The heat map with its data; ``None`` if no pair has a value."""
    if not matrix.says_something:
        return None
    name, title = _TITLES[matrix.level]
    pairs = [(i, j) for i in range(len(matrix.titles)) for j in range(i)]
    data = []
    for i, j in pairs:
        cell = matrix.cells[i][j]
        data.append(
            (where, matrix.level, matrix.titles[j], matrix.titles[i], cell.value, cell.low,
             cell.high, cell.points)
        )  # fmt: skip
    rows = tuple(
        (matrix.titles[i], *(_text(matrix.cells[i][j]) if j < i else "" for j in range(i + 1)),
         *[""] * (len(matrix.titles) - i - 2))
        for i in range(1, len(matrix.titles))
    )  # fmt: skip
    rows = tuple(row[: len(matrix.titles)] for row in rows)
    table = DataTable(
        name=f"{name} {where}",
        title=f"Pearson correlations over {matrix.unit}, {where}",
        header=("", *matrix.titles[:-1]),
        rows=rows,
        notes=("In brackets the 95% interval; ln: a logarithm. No bounds.",),
    )
    header = ("direction", "level", "one", "other", "pearson", "low", "high", "points")
    return of_table(
        table,
        name=name,
        title=title,
        says=(
            f"Pearson's r. {_SAYS[matrix.level]} Hatched cells: the 95% interval has 0 in it. Of "
            "perplexity, lower is better, so agreement with it is negative."
        ),
        alt=f"Heat map of the correlations of {', '.join(matrix.titles)}.",
        csv=csv_text(header, data),
        draw=lambda: draw_correlations(matrix),
    )


def _text(cell: Correlation) -> str:
    if cell.value is None:
        return "\N{EN DASH}"
    if cell.low is None or cell.high is None:
        return _signed(cell.value)
    return f"{_signed(cell.value)} [{_signed(cell.low)}, {_signed(cell.high)}]"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
