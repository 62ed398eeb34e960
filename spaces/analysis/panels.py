"""Small panels side by side, one for each score, all with the same rows: bars, and histograms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...metrics.units import unit
from ...pipelines.analysis.data import score_of
from ...pipelines.analysis.sentences import DistributionPanel
from ...pipelines.report import Report
from ...pipelines.standings import Column
from ...plots.canvas import name_rows, new_figure, plain, short
from ...plots.colours import KINDS, colour
from ...plots.rows import LONGEST_NAME, above_bounds, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS_A_ROW = 4
_BETWEEN = 0.75  # inches, of two lines of panels
_BAR = 0.68
_BINS = 40
_LONGEST_OF_A_HISTOGRAM = 44
_HIGH = 0.8  # of a row, the tallest bin


def draw_scores(columns: Sequence[Column], reports: Sequence[Report]) -> Figure:
    """Bars of each column, with 95% intervals; a bound's bar is hollow."""
    from matplotlib.ticker import MaxNLocator

    names = [short(r.system.name, LONGEST_NAME) for r in reports]
    titles = [(column.arrow, column.unit) for column in columns]
    grid = _Grid(titles, names, row=0.24, gap=0.16)
    for column, axes in zip(columns, grid.panels(), strict=True):
        for row, report in enumerate(reports):
            score = score_of(report, column)
            if score is None or score.value is None:
                axes.annotate(
                    "\N{EN DASH}", (0.0, row), xycoords=("axes fraction", "data"), xytext=(3, 0),
                    textcoords="offset points", va="center", color=colour("muted"),
                )  # fmt: skip
                continue
            family, bound = report.system.family, report.system.is_bound
            axes.barh(
                row, score.value, height=_BAR, facecolor="none" if bound else colour(family),
                edgecolor=colour("muted") if bound else colour("surface"),
                hatch=None if bound else KINDS[family].hatch or None,
                linewidth=1.0 if bound else 0.4,
            )  # fmt: skip
            if score.interval is not None:
                ends = [score.interval.low, score.interval.high]
                axes.plot(ends, [row, row], color=colour("ink"), lw=1.1, solid_capstyle="butt")
        above_bounds(axes, [r.system.is_bound for r in reports])
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    kinds = [(r.system.family, r.system.is_bound) for r in reports]
    legend_below(grid.figure, kinds, inches=0.3, hatched=True)
    return grid.figure


def draw_distributions(panels: Sequence[DistributionPanel]) -> Figure:
    """A histogram for each system or setting; a bound's is hollow."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    names = list(dict.fromkeys(row.name for panel in panels for row in panel.rows))
    titles = [(panel.title, panel.column.unit) for panel in panels]
    labels = [short(name, _LONGEST_OF_A_HISTOGRAM) for name in names]
    grid = _Grid(titles, labels, row=0.3, gap=0.08, least=4.4)
    for panel, axes in zip(panels, grid.panels(), strict=True):
        logarithm = panel.column.unit == "perplexity"
        placed = [np.log10(row.values) if logarithm else row.values for row in panel.rows]
        every = np.concatenate(placed)
        edges = np.histogram_bin_edges(every, _BINS)
        for row, places in zip(panel.rows, placed, strict=True):
            n = names.index(row.name)
            counts, _ = np.histogram(places, edges)
            axes.stairs(
                n + 0.4 - _HIGH * counts / counts.max(), edges, baseline=n + 0.4,
                fill=not row.bound, color=colour("muted" if row.bound else "fpft"), lw=1.0,
            )  # fmt: skip
            lower, median, upper = np.percentile(places, [25, 50, 75])
            axes.plot([lower, upper], [n + 0.4, n + 0.4], color=colour("prompted"), lw=2.4)
            axes.plot([median, median], [n + 0.4, n - 0.1], color=colour("prompted"), lw=1.8)
        if logarithm:
            low, high = (math.ceil(every.min()), math.floor(every.max()))
            step = 1 + (high - low) // 4
            axes.xaxis.set_major_locator(FixedLocator(range(low, high + 1, step)))
            axes.xaxis.set_major_formatter(lambda x, _: f"{10**x:,.0f}")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    return grid.figure


class _Grid:
    """The figure: four panels in a line, the first of which has the names of the rows."""

    def __init__(
        self,
        titles: Sequence[tuple[str, str]],
        names: Sequence[str],
        *,
        row: float,
        gap: float,
        least: float = 0.0,
    ) -> None:
        """With the title and the unit of each panel; ``row`` and ``least`` width in inches."""
        self._titles, self._names = titles, names
        self._wide = min(len(titles), _PANELS_A_ROW)
        lines, tall = -(-len(titles) // self._wide), row * len(names)
        width = max(least, 1.75 * self._wide)
        self.figure = new_figure(width, lines * tall + (lines - 1) * _BETWEEN)
        grid: Any = self.figure.subplots(lines, self._wide, squeeze=False)
        self._axes: list[Axes] = list(grid.flat)
        for spare in self._axes[len(titles) :]:
            spare.set_axis_off()
        self.figure.subplots_adjust(0, 0, 1, 1, wspace=gap, hspace=_BETWEEN / tall)

    def panels(self) -> Iterator[Axes]:
        """The axes of each panel, to be drawn on."""
        for n, (title, unit_name) in enumerate(self._titles):
            axes = self._axes[n]
            plain(axes, grid="x")
            name_rows(axes, self._names)
            axes.tick_params(axis="x", labelsize=7.5)
            axes.tick_params(axis="y", labelleft=n % self._wide == 0)
            axes.set_title(title, loc="left", pad=5)
            axes.annotate(
                unit(unit_name).label, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 6),
                textcoords="offset points", ha="right", fontsize=7.5, color=colour("muted"),
            )  # fmt: skip
            yield axes
