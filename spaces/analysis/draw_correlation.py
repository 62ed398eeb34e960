"""A heat map of correlations: numbers in cells, hatched where the interval has 0 in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pipelines.analysis.correlation import CorrelationMatrix
from .canvas import new_figure
from .palette import colour, heat, on_heat

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
