"""Correlations as an item: of the systems or sentences of one direction, or of all directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pipelines.analysis.correlation import Correlation, CorrelationMatrix
from ...pipelines.tables import DataTable, csv_text
from ...plots.canvas import new_figure
from ...plots.colours import colour, heat, on_heat
from .items import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_CELL = 0.58  # inches
_LINE = 14  # letters in a line of a title


def draw_correlations(matrix: CorrelationMatrix) -> Figure:
    """The lower triangle, without the diagonal: each pair once."""
    from matplotlib.patches import Rectangle

    size = len(matrix.titles)
    figure = new_figure(_CELL * (size - 1) + 1.6, _CELL * (size - 1) + 0.9)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    for i in range(1, size):
        axes.text(
            -0.12, i - 0.5, matrix.titles[i], ha="right", va="center", fontsize=9,
            fontweight="bold" if matrix.human[i] else "normal",
        )  # fmt: skip
        for j in range(i):
            cell = matrix.cells[i][j]
            value = cell.value
            ground = colour("surface") if value is None else heat(value)
            unclear = value is not None and not cell.shown
            axes.add_patch(
                Rectangle(
                    (j, i - 1), 1, 1, facecolor=ground, linewidth=1.5,
                    edgecolor=colour("surface"),
                )
            )  # fmt: skip
            if unclear:
                axes.add_patch(
                    Rectangle(
                        (j + 0.04, i - 0.96), 0.92, 0.92, facecolor="none", linewidth=0,
                        edgecolor=colour("muted"), hatch="////",
                    )
                )  # fmt: skip
            text = (
                "\N{EN DASH}" if value is None else f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")
            )
            axes.text(
                j + 0.5, i - 0.5, text, ha="center", va="center", fontsize=8.5,
                color=colour("muted") if value is None else on_heat(value),
                bbox={
                    "boxstyle": "round,pad=0.18", "facecolor": ground, "edgecolor": "none",
                } if unclear else None,
            )  # fmt: skip
    for j in range(size - 1):
        axes.text(
            j + 0.5, size - 0.86, _broken(matrix.titles[j]), ha="right", va="top", fontsize=9,
            rotation=40, rotation_mode="anchor", fontweight="bold" if matrix.human[j] else "normal",
        )  # fmt: skip
    axes.set_xlim(-1.0, size - 1)
    axes.set_ylim(size - 0.2, 0)
    axes.set_aspect("equal")
    return figure


def _broken(title: str) -> str:
    return title if len(title) <= _LINE else title.replace(" (", "\n(", 1)


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
    size = len(matrix.titles)
    data = [
        (where, matrix.level, matrix.titles[j], matrix.titles[i], cell.value, cell.low, cell.high,
         cell.points)
        for i in range(size)
        for j, cell in enumerate(matrix.cells[i][:i])
    ]  # fmt: skip
    rows = tuple(
        (matrix.titles[i], *map(_text, matrix.cells[i][:i]), *[""] * (size - 1 - i))
        for i in range(1, size)
    )
    table = DataTable(
        name=f"{name} {where}",
        title=f"Pearson correlations over {matrix.unit}, {where}",
        header=("", *matrix.titles[:-1]),
        rows=rows,
        notes=("In brackets the 95% interval; ln: a logarithm. No bounds.",),
    )
    header = ("direction", "level", "one", "other", "pearson", "low", "high", "points")
    return Item(
        table=table,
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
