"""Bars of every score, and Joint with its intervals: one row for each system, best on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...metrics.units import number, unit
from ...pipelines.analysis.data import DirectionResults, score_of
from ...pipelines.report import Report
from ...pipelines.standings import Column
from ..leaderboard.words import FAMILIES as FAMILY_TITLES
from .canvas import new_figure, plain, short
from .palette import FAMILIES, HATCHES, MARKERS, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 28
_PANELS_A_ROW = 4
_ROW = 0.24  # inches
_BETWEEN = 0.75  # two lines of panels
_BAR = 0.68


def in_order(results: DirectionResults, column: Column | None) -> list[Report]:
    """The systems, best first by a column; those without a score follow, and then the bounds."""

    def place(report: Report) -> tuple[bool, bool, float, str]:
        score = score_of(report, column) if column else None
        value = score.value if score is not None and score.value is not None else math.nan
        sign = -1 if column is not None and column.higher_is_better else 1
        missing = math.isnan(value)
        return report.system.is_bound, missing, 0.0 if missing else sign * value, report.system.name

    return sorted(results.reports, key=place)


def draw_scores(results: DirectionResults, reports: Sequence[Report]) -> Figure:
    """Small panels, one for each column, with 95% intervals; a bound's bar is hollow."""
    columns = results.columns
    lines = -(-len(columns) // _PANELS_A_ROW)
    wide = min(len(columns), _PANELS_A_ROW)
    panel = _ROW * len(reports)
    height = lines * panel + (lines - 1) * _BETWEEN
    figure = new_figure(1.75 * wide, height)
    grid: Any = figure.subplots(lines, wide, squeeze=False, sharey=True)
    for n in range(lines * wide):
        axes: Axes = grid[n // wide, n % wide]
        if n >= len(columns):
            axes.set_axis_off()
            continue
        _panel(axes, columns[n], reports)
        if n % wide == 0:
            _names(axes, reports)
        else:
            axes.tick_params(labelleft=False)
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.16, hspace=_BETWEEN / panel)
    _legend(figure, reports, below=-0.3 / height)
    return figure


def draw_intervals(column: Column, reports: Sequence[Report]) -> Figure:
    """One score of each system as a mark on its 95% interval."""
    shown = [r for r in reports if score_of(r, column) is not None]
    height = 0.27 * len(shown)
    figure = new_figure(4.4, height)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    for row, report in enumerate(shown):
        score = score_of(report, column)
        if score is None or score.value is None:
            continue
        family = report.system.family
        ink = colour(family)
        if score.interval is not None:
            axes.plot([score.interval.low, score.interval.high], [row, row], color=ink, lw=1.8)
            for bound in (score.interval.low, score.interval.high):
                axes.plot([bound, bound], [row - 0.16, row + 0.16], color=ink, lw=1.8)
        face = colour("surface") if report.system.is_bound else ink
        axes.plot(score.value, row, MARKERS[family], color=ink, mfc=face, ms=7, mew=1.3)
        axes.annotate(
            number(score.value, column.unit), (1.0, row), xycoords=("axes fraction", "data"),
            xytext=(8, 0), textcoords="offset points", va="center", fontsize=8.5,
        )  # fmt: skip
    _rows(axes, shown)
    _names(axes, shown)
    axes.set_xlabel(_label(column))
    _scale(axes, column)
    _legend(figure, shown, hatched=False, below=-0.45 / height)
    return figure


def family_names(reports: Sequence[Report]) -> list[tuple[str, str]]:
    """The kinds of system that are there, with their titles, as the pages order them."""
    found = {r.system.family for r in reports if not r.system.is_bound}
    return [(f, FAMILY_TITLES[f][0]) for f in FAMILIES if f in found]


def _panel(axes: Axes, column: Column, reports: Sequence[Report]) -> None:
    from matplotlib.ticker import MaxNLocator

    plain(axes, grid="x")
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
            hatch=None if bound else HATCHES[family] or None, linewidth=1.0 if bound else 0.4,
        )  # fmt: skip
        if score.interval is not None:
            ends = [score.interval.low, score.interval.high]
            axes.plot(ends, [row, row], color=colour("ink"), lw=1.1, solid_capstyle="butt")
    _rows(axes, reports)
    axes.set_title(column.arrow, loc="left", pad=5)
    axes.annotate(
        unit(column.unit).label, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 6),
        textcoords="offset points", ha="right", fontsize=7.5, color=colour("muted"),
    )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.tick_params(axis="x", labelsize=7.5)


def _rows(axes: Axes, reports: Sequence[Report]) -> None:
    """Best on top, and a line above the bounds."""
    axes.set_ylim(len(reports) - 0.4, -0.6)
    ranked = sum(not r.system.is_bound for r in reports)
    if 0 < ranked < len(reports):
        axes.axhline(ranked - 0.5, color=colour("line-strong"), lw=0.8)


def _names(axes: Axes, reports: Sequence[Report]) -> None:
    names = [short(r.system.name, LONGEST_NAME) for r in reports]
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)


def _scale(axes: Axes, column: Column) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

    if column.unit == "perplexity" and axes.get_xlim()[1] > 0:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0), numticks=4))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))


def _label(column: Column) -> str:
    label = unit(column.unit).label
    return f"{column.arrow} ({label})" if label else column.arrow


def _legend(
    figure: Figure, reports: Sequence[Report], *, hatched: bool = True, below: float = 0.0
) -> None:
    """Which kind of system a colour and hatch, or mark, stands for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    items: list[Patch | Line2D] = []
    for family, title in family_names(reports):
        if hatched:
            items.append(
                Patch(
                    facecolor=colour(family), edgecolor=colour("surface"),
                    hatch=HATCHES[family] or None, label=title,
                )
            )  # fmt: skip
        else:
            items.append(
                Line2D([], [], color=colour(family), marker=MARKERS[family], ls="", label=title)
            )
    if any(r.system.is_bound for r in reports):
        title = "hollow: bound, not ranked"
        if hatched:
            items.append(Patch(facecolor="none", edgecolor=colour("muted"), label=title))
        else:
            items.append(
                Line2D([], [], color=colour("muted"), marker="o", mfc="none", ls="", label=title)
            )
    if items:
        figure.legend(
            handles=items, loc="upper left", bbox_to_anchor=(0.0, below), ncols=4, fontsize=8
        )
