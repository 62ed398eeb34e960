"""Two scores against each other: better is right and up, the Pareto front is a stepped line."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .canvas import legend_of_kinds, line_key, new_figure, plain, short
from .colours import KINDS, colour
from .label_places import LINE, Box, Place, cross, place_labels, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

_LONGEST_NAME = 26
_WIDTH, _HEIGHT = 6.1, 4.4
_LETTERS_A_LINE = 88
_NARROW = 0.86  # our letters, as a share of those that place_labels counts with
_REACHES = (26, 38, 52, 68, 86)  # how far a name may be from its point, joined by a line
_TURNS = 16
_CURVES = ("--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))


@dataclass(frozen=True, kw_only=True)
class Point:
    """One system in the plane.

    Attributes:
        system: its name.
        family: its kind, see :data:`~.colours.KINDS`.
        bound: whether it does not compete: its mark is hollow.
        x, y: its scores.
        across, up: their 95% intervals.
        on_front: no other system that competes is as good on both and better on one.
    """

    system: str
    family: str
    bound: bool
    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    on_front: bool


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One of the two scores.

    Attributes:
        title: with the unit.
        logarithmic: for perplexity.
        higher_is_better: which way it runs.
    """

    title: str
    logarithmic: bool
    higher_is_better: bool


def draw_plane(
    points: Sequence[Point], across: Axis, up: Axis, curves: Mapping[str, Sequence[str]]
) -> Figure:
    """Marks with both intervals, names where there is room; who has none is said below.

    Args:
        points: the systems.
        across: the score from left to right.
        up: the other one.
        curves: the settings of a system by its name, in order: a line joins them.
    """
    figure = new_figure(_WIDTH, _HEIGHT)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="both")
    _ranges(axes, points)
    _front(axes, points, 1 if across.higher_is_better else -1)
    handles: list[Line2D | Patch] = [line_key("Pareto front", color=colour("ink"), lw=1.1)]
    by_name = {p.system: p for p in points}
    for number, (name, members) in enumerate(curves.items()):
        places = [(by_name[m].x, by_name[m].y) for m in members]
        how = {"color": colour("accent"), "ls": _CURVES[number % len(_CURVES)], "lw": 1.4}
        axes.plot(*zip(*places, strict=True), zorder=2.5, **how)  # type: ignore[arg-type]
        handles.append(line_key(f"settings of {short(name, 20)}", **how))
    for point in points:
        ink = colour(point.family)
        axes.plot(
            point.x, point.y, KINDS[point.family].marker, color=ink,
            ms=8.5 if point.family == "human" else 7, mew=1.2, zorder=3,
            mfc=colour("surface") if point.bound else ink,
        )  # fmt: skip
    _scales(axes, across, up)
    axes.autoscale_view()  # only then are the scales what they will be
    missing = _labels(axes, points, {m for some in curves.values() for m in some})
    handles += legend_of_kinds([(p.family, p.bound) for p in points])
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(-0.06, -0.1), ncols=4, fontsize=8.5
    )
    if missing:
        said = "\n".join(
            textwrap.wrap("No room for the names of: " + ", ".join(missing), _LETTERS_A_LINE)
        )
        rows = -(-len(handles) // 4)
        figure.text(0.012, -0.13 - 0.042 * rows, said, fontsize=8, va="top", color=colour("muted"))
    return figure


def _ranges(axes: Axes, points: Sequence[Point]) -> None:
    for point in points:
        how = {"color": colour(point.family), "lw": 1.0, "alpha": 0.55, "zorder": 2.8}
        if point.across:
            axes.plot(point.across, [point.y, point.y], **how)  # type: ignore[arg-type]
        if point.up:
            axes.plot([point.x, point.x], point.up, **how)  # type: ignore[arg-type]


def _front(axes: Axes, points: Sequence[Point], sign: int) -> None:
    """Steps: what lies below and left of them is beaten by a system on the front."""
    members = sorted((p for p in points if p.on_front), key=lambda p: (sign * p.x, p.system))
    if len(members) > 1:
        axes.step(
            [p.x for p in members], [p.y for p in members], where="pre", color=colour("ink"),
            lw=1.1, zorder=1.9,
        )  # fmt: skip
    for p in members:
        axes.plot(p.x, p.y, "o", ms=13, mfc="none", mec=colour("ink"), mew=0.9, zorder=2.9)


def _scales(axes: Axes, across: Axis, up: Axis) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.margins(0.06)
    for axis, score in ((axes.xaxis, across), (axes.yaxis, up)):
        if score.logarithmic:
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
            axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 3.0, 5.0)))
            axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            axis.set_minor_locator(NullLocator())
        if not score.higher_is_better:
            axis.set_inverted(True)
    axes.set_xlabel(f"{across.title}  \N{RIGHTWARDS ARROW} better", loc="right")
    axes.set_ylabel(f"{up.title}  \N{RIGHTWARDS ARROW} better", loc="top")


def _labels(axes: Axes, points: Sequence[Point], first: set[str]) -> list[str]:
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
