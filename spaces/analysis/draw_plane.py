"""Two scores against each other: better is right and up, the Pareto front is a stepped line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...metrics.units import unit
from ...pipelines.analysis.trade_off import TradeOff, TradeOffPoint
from ...pipelines.standings import Column
from ..leaderboard.label_places import LINE, Box, Place, cross, place_labels, width_of
from ..leaderboard.words import FAMILIES as FAMILY_TITLES
from .canvas import new_figure, plain, short
from .palette import FAMILIES, MARKERS, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST_NAME = 26
_WIDTH, _HEIGHT = 6.1, 4.4
_LETTERS_A_LINE = 88
_NARROW = 0.86  # our letters, as a share of those that place_labels counts with
_REACHES = (26, 38, 52, 68, 86)  # how far a name may be from its point, joined by a line
_TURNS = 16
_CURVES = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))


def draw_trade_off(plane: TradeOff) -> Figure:
    """Marks with both intervals, names where there is room; who has none is said below."""
    from matplotlib.lines import Line2D

    figure = new_figure(_WIDTH, _HEIGHT)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="both")
    _ranges(axes, plane)
    _front(axes, plane)
    handles = [Line2D([], [], color=colour("ink"), lw=1.1, label="Pareto front")]
    by_name = {p.system: p for p in plane.points}
    for number, (name, members) in enumerate(plane.curves.items()):
        places = [(by_name[m].x, by_name[m].y) for m in members]
        style = _CURVES[number % len(_CURVES)]
        axes.plot(*zip(*places, strict=True), ls=style, color=colour("accent"), lw=1.4, zorder=2.5)
        handles.append(
            Line2D(
                [],
                [],
                color=colour("accent"),
                ls=style,
                lw=1.4,
                label=f"settings of {short(name, 20)}",
            )
        )
    for point in plane.points:
        ink = colour(point.family)
        axes.plot(
            point.x, point.y, MARKERS[point.family], color=ink,
            ms=8.5 if point.family == "human" else 7, mew=1.2, zorder=3,
            mfc=colour("surface") if point.bound else ink,
        )  # fmt: skip
    _scales(axes, plane)
    axes.autoscale_view()  # only then are the scales what they will be
    missing = _labels(axes, plane.points, {m for some in plane.curves.values() for m in some})
    found = {p.family for p in plane.points if not p.bound}
    for family in FAMILIES:
        if family in found:
            title = FAMILY_TITLES[family][0]
            handles.append(
                Line2D([], [], color=colour(family), marker=MARKERS[family], ls="", label=title)
            )
    if any(p.bound for p in plane.points):
        handles.append(
            Line2D(
                [],
                [],
                color=colour("muted"),
                marker="o",
                mfc="none",
                ls="",
                label="hollow: bound, not ranked",
            )
        )
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(-0.06, -0.1), ncols=4, fontsize=8.5
    )
    if missing:
        said = _lines("No room for the names of: " + ", ".join(missing))
        rows = -(-len(handles) // 4)
        figure.text(0.012, -0.13 - 0.042 * rows, said, fontsize=8, va="top", color=colour("muted"))
    return figure


def _ranges(axes: Axes, plane: TradeOff) -> None:
    for point in plane.points:
        how = {"color": colour(point.family), "lw": 1.0, "alpha": 0.55, "zorder": 2.8}
        if point.across:
            axes.plot(point.across, [point.y, point.y], **how)  # type: ignore[arg-type]
        if point.up:
            axes.plot([point.x, point.x], point.up, **how)  # type: ignore[arg-type]


def _front(axes: Axes, plane: TradeOff) -> None:
    """Steps: what lies below and left of them is beaten by a system on the front."""
    by_name = {p.system: p for p in plane.points}
    members = [by_name[name] for name in plane.front]
    sign = 1 if plane.across.higher_is_better else -1
    members.sort(key=lambda p: sign * p.x)
    if len(members) > 1:
        axes.step(
            [p.x for p in members], [p.y for p in members], where="pre", color=colour("ink"),
            lw=1.1, zorder=1.9,
        )  # fmt: skip
    for p in members:
        axes.plot(p.x, p.y, "o", ms=13, mfc="none", mec=colour("ink"), mew=0.9, zorder=2.9)


def _scales(axes: Axes, plane: TradeOff) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.margins(0.06)
    for axis, column in ((axes.xaxis, plane.across), (axes.yaxis, plane.up)):
        if column.unit == "perplexity":
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
            axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 3.0, 5.0)))
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            axis.set_minor_locator(NullLocator())
        if not column.higher_is_better:
            axis.set_inverted(True)
    axes.set_xlabel(f"{_title(plane.across)}  \N{RIGHTWARDS ARROW} better", loc="right")
    axes.set_ylabel(f"{_title(plane.up)}  \N{RIGHTWARDS ARROW} better", loc="top")


def _labels(axes: Axes, points: Sequence[TradeOffPoint], first: set[str]) -> list[str]:
    """Write the names; those on the front choose their places first."""
    order = sorted(points, key=lambda p: (not p.on_front, p.system not in first, p.bound))
    height = _HEIGHT * 72
    where = [axes.transData.transform((p.x, p.y)) for p in order]
    places = [(float(x), height - float(y)) for x, y in where]
    names = [short(p.system, _LONGEST_NAME) for p in order]
    frame = Box(4, 4, _WIDTH * 72 - 4, height - 4)
    narrow = [name[: max(1, round(len(name) * _NARROW) + 1)] for name in names]  # 8.5 points

    def ends(ways: Sequence[tuple[float, float]], axis: int) -> list[float]:
        return [float(axes.transData.transform(way)[axis]) for way in ways]

    lines = []
    for p, middle in zip(order, places, strict=True):
        across = ends([(x, p.y) for x in p.across or ()], 0)
        up = [height - y for y in ends([(p.x, y) for y in p.up or ()], 1)]
        lines += cross(middle, across, up)
    found = place_labels(places, narrow, frame, lines)
    taken = [place.box for place in found if place is not None]
    taken += [Box(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    missing = []
    for point, name, (x, y), near in zip(order, names, places, found, strict=True):
        place = near or _further(x, y, name, taken, frame)
        if place is None:
            missing.append(name)
            continue
        far = {"arrowstyle": "-", "color": colour("line-strong"), "lw": 0.7, "shrinkB": 4}
        axes.annotate(
            name, (point.x, point.y), xytext=(place.x - x, y - place.y), fontsize=8.5,
            textcoords="offset points", color=colour(point.family), zorder=2.7,
            ha={"start": "left", "end": "right", "middle": "center"}[place.anchor],
            bbox={"facecolor": colour("surface"), "alpha": 0.8, "edgecolor": "none", "pad": 0.4},
            arrowprops=None if near else far,
        )  # fmt: skip
    return missing


def _further(x: float, y: float, name: str, taken: list[Box], frame: Box) -> Place | None:
    """The nearest free place around a point where there is none beside it; it is then taken."""
    wide = width_of(name) * _NARROW
    for reach in _REACHES:
        for turn in range(_TURNS):
            angle = 2 * math.pi * turn / _TURNS
            middle, base = x + reach * 1.5 * math.cos(angle), y - reach * math.sin(angle)
            left, top = middle - wide / 2, base - LINE / 2
            box = Box(left, top, left + wide, top + LINE)
            if box.inside(frame) and not any(box.meets(other) for other in taken):
                taken.append(box)
                return Place(middle, base + 4, "middle", box)
    return None


def _lines(text: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, _LETTERS_A_LINE))


def _title(column: Column) -> str:
    label = unit(column.unit).label
    return f"{column.title} ({label})" if label else column.title
