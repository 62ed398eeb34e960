"""Scores of single sentences: a histogram for each system or setting, one axis for each metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...metrics.units import unit
from ...pipelines.analysis.sentences import DistributionPanel
from .canvas import new_figure, plain, short
from .palette import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS_A_ROW = 4
_ROW = 0.3  # inches
_BETWEEN = 0.75
_BINS = 40
_LONGEST_NAME = 44
_HIGH = 0.8  # of a row, the tallest bin


def draw_distributions(panels: Sequence[DistributionPanel]) -> Figure:
    """Small panels, all with the same rows; a bound's histogram is hollow."""
    names = list(dict.fromkeys(row.name for panel in panels for row in panel.rows))
    wide = min(len(panels), _PANELS_A_ROW)
    lines = -(-len(panels) // wide)
    tall = _ROW * len(names)
    figure = new_figure(max(4.4, 1.75 * wide), lines * tall + (lines - 1) * _BETWEEN)
    grid: Any = figure.subplots(lines, wide, squeeze=False)
    for n in range(lines * wide):
        axes: Axes = grid[n // wide, n % wide]
        if n < len(panels):
            _panel(axes, panels[n], names, named=n % wide == 0)
        else:
            axes.set_axis_off()
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.08, hspace=_BETWEEN / tall)
    return figure


def _panel(axes: Axes, panel: DistributionPanel, names: Sequence[str], *, named: bool) -> None:
    from matplotlib.ticker import FixedLocator, MaxNLocator

    plain(axes, grid="x")
    logarithm = panel.column.unit == "perplexity"
    every = np.concatenate([_placed(row.values, logarithm) for row in panel.rows])
    edges = np.histogram_bin_edges(every, _BINS)
    for row in panel.rows:
        n = names.index(row.name)
        places = _placed(row.values, logarithm)
        counts, _ = np.histogram(places, edges)
        ink = colour("muted" if row.bound else "fpft")
        axes.stairs(
            n + 0.4 - _HIGH * counts / counts.max(), edges, baseline=n + 0.4, fill=not row.bound,
            color=ink, lw=1.0,
        )  # fmt: skip
        _, lower, median, upper, _ = np.percentile(places, [5, 25, 50, 75, 95])
        axes.plot([lower, upper], [n + 0.4, n + 0.4], color=colour("prompted"), lw=2.4)
        axes.plot([median, median], [n + 0.4, n - 0.1], color=colour("prompted"), lw=1.8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_title(panel.title, loc="left", pad=5)
    axes.annotate(
        unit(panel.column.unit).label, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 6),
        textcoords="offset points", ha="right", fontsize=7.5, color=colour("muted"),
    )  # fmt: skip
    axes.set_yticks(range(len(names)), [short(n, _LONGEST_NAME) for n in names] if named else [])
    axes.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)
    if logarithm:
        low, high = (math.ceil(every.min()), math.floor(every.max()))
        step = 1 + (high - low) // 4
        axes.xaxis.set_major_locator(FixedLocator(range(low, high + 1, step)))
        axes.xaxis.set_major_formatter(lambda x, _: f"{10**x:,.0f}")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.tick_params(axis="x", labelsize=7.5)


def _placed(values: np.ndarray, logarithm: bool) -> np.ndarray:
    return np.log10(values) if logarithm else values
