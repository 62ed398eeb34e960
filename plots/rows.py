"""One score of each system as a mark on its interval: a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .canvas import legend_of_kinds, name_rows, new_figure, plain, short
from .colours import KINDS, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 28


@dataclass(frozen=True, kw_only=True)
class Row:
    """A system's score.

    Attributes:
        system: its name.
        family: its kind, see :data:`~.colours.KINDS`.
        bound: whether it does not compete: its mark is hollow.
        value: the score, with its 95% interval if there is one.
        text: the score in words, at the end of the row.
    """

    system: str
    family: str
    bound: bool
    value: float
    interval: tuple[float, float] | None
    text: str


def draw_rows(rows: Sequence[Row], title: str, *, logarithmic: bool = False) -> Figure:
    """The systems, best on top, bounds last.

    Args:
        rows: from top to bottom.
        title: of the axis.
        logarithmic: for perplexity.
    """
    height = 0.27 * len(rows)
    figure = new_figure(4.4, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    for n, row in enumerate(rows):
        ink = colour(row.family)
        if row.interval is not None:
            axes.plot(row.interval, [n, n], color=ink, lw=1.8)
            for end in row.interval:
                axes.plot([end, end], [n - 0.16, n + 0.16], color=ink, lw=1.8)
        face = colour("surface") if row.bound else ink
        axes.plot(row.value, n, KINDS[row.family].marker, color=ink, mfc=face, ms=7, mew=1.3)
        axes.annotate(
            row.text, (1.0, n), xycoords=("axes fraction", "data"), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=8.5,
        )  # fmt: skip
    name_rows(axes, [short(row.system, LONGEST_NAME) for row in rows])
    above_bounds(axes, [row.bound for row in rows])
    axes.set_xlabel(title)
    _scale(axes, logarithmic=logarithmic)
    legend_below(figure, [(row.family, row.bound) for row in rows], inches=0.45)
    return figure


def above_bounds(axes: Axes, bounds: Sequence[bool]) -> None:
    """A line above the rows of bounds, if there are others too."""
    if any(bounds) and not all(bounds):
        axes.axhline(list(bounds).index(True) - 0.5, color=colour("line-strong"), lw=0.8)


def legend_below(
    figure: Figure, kinds: Sequence[tuple[str, bool]], *, inches: float, hatched: bool = False
) -> None:
    """The legend of the kinds of systems, so far below the axes."""
    entries = legend_of_kinds(kinds, hatched=hatched)
    if entries:
        below = -inches / figure.get_figheight()
        figure.legend(
            handles=entries, loc="upper left", bbox_to_anchor=(0.0, below), ncols=4, fontsize=8
        )


def _scale(axes: Axes, *, logarithmic: bool) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

    if logarithmic and axes.get_xlim()[1] > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=4))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
