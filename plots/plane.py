"""Two scores against each other: better is right and up, the Pareto front is a stepped line."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .canvas import legend_of_kinds, line_key, new_figure, plain, short
from .colours import KINDS, colour
from .label_places import LINE, Box, Place, cross, place_labels, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

_LETTERS_A_LINE = 88
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
        tip: what a page says of it, on hover, on focus and to a screen reader.
    """

    system: str
    family: str
    bound: bool
    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    on_front: bool
    tip: str = ""


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


@dataclass(frozen=True, kw_only=True)
class Size:
    """For what a plane is drawn.

    Attributes:
        width, height: of the picture, in points.
        page: whether for a page, which has the legend beside it and tells names on hover.
        longest: letters of a name.
        letters: their size, in points.
        mark: the size of a mark, in points.
        narrow: how wide they are, as a share of those that :func:`place_labels` counts with.
    """

    width: float
    height: float
    page: bool
    longest: int
    letters: float
    mark: float
    narrow: float


PAPER = Size(width=439.2, height=316.8, page=False, longest=26, letters=8.5, mark=7, narrow=0.86)
WIDE = Size(width=600, height=400, page=True, longest=26, letters=12, mark=8.5, narrow=1.05)
PHONE = Size(width=330, height=360, page=True, longest=18, letters=12, mark=8.5, narrow=1.05)
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 10, 26, 44  # points around the axes in a page


def draw_plane(
    points: Sequence[Point],
    across: Axis,
    up: Axis,
    curves: Mapping[str, Sequence[str]],
    size: Size = PAPER,
) -> Figure:
    """Marks with both intervals, names where there is room; who has none is said below.

    Args:
        points: the systems.
        across: the score from left to right.
        up: the other one.
        curves: the settings of a system by its name, in order: a line joins them.
        size: for paper or for a page.
    """
    figure = new_figure(size.width / 72, size.height / 72)
    axes = figure.add_axes(_frame(size))
    plain(axes, grid="both")
    _ranges(axes, points, size)
    _front(axes, points, 1 if across.higher_is_better else -1, size)
    handles: list[Line2D | Patch] = [line_key("Pareto front", color=colour("ink"), lw=1.1)]
    by_name = {p.system: p for p in points}
    for number, (name, members) in enumerate(curves.items()):
        places = [(by_name[m].x, by_name[m].y) for m in members]
        how = {"color": colour("accent"), "ls": _CURVES[number % len(_CURVES)], "lw": 1.4}
        axes.plot(*zip(*places, strict=True), zorder=2.5, **how)  # type: ignore[arg-type]
        handles.append(line_key(f"settings of {short(name, 20)}", **how))
    for n, point in enumerate(points):
        ink = _ink(point, size)
        axes.plot(
            point.x, point.y, KINDS[point.family].marker, color=ink,
            ms=size.mark + 1.5 * (point.family == "human"), mew=1.2, zorder=3,
            mfc=colour("surface") if point.bound else ink,
            gid=f"tip-{n}" if size.page else None,
        )  # fmt: skip
    _scales(axes, across, up)
    axes.autoscale_view()  # only then are the scales what they will be
    missing = _labels(axes, points, {m for some in curves.values() for m in some}, size)
    if size.page:
        how = {"fontsize": 12, "color": colour("muted")}
        axes.tick_params(labelsize=11.5)
        _text(figure, size, 2, 14, f"\N{UPWARDS ARROW} {up.title}", **how)
        end = f"{across.title} \N{RIGHTWARDS ARROW}"
        _text(figure, size, size.width - _RIGHT, size.height - 6, end, ha="right", **how)
        return figure
    axes.set_xlabel(f"{across.title}  \N{RIGHTWARDS ARROW} better", loc="right")
    axes.set_ylabel(f"{up.title}  \N{RIGHTWARDS ARROW} better", loc="top")
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


def _ink(point: Point, size: Size) -> str:
    """A page shows bounds in grey; on paper a bound has the colour of its kind."""
    return colour("muted" if size.page and point.bound else point.family)


def _ranges(axes: Axes, points: Sequence[Point], size: Size) -> None:
    from matplotlib.collections import LineCollection

    lines: list[list[tuple[float, float]]] = []
    inks: list[str] = []
    for p in points:
        lines += [[(x, p.y) for x in p.across]] if p.across else []
        lines += [[(p.x, y) for y in p.up]] if p.up else []
        inks += [_ink(p, size)] * (len(lines) - len(inks))
    axes.add_collection(
        LineCollection(lines, colors=inks, lw=1.0, alpha=0.55, zorder=2.8, capstyle="projecting")
    )


def _front(axes: Axes, points: Sequence[Point], sign: int, size: Size) -> None:
    """Steps: what lies below and left of them is beaten by a system on the front."""
    ink = colour("muted" if size.page else "ink")
    members = sorted((p for p in points if p.on_front), key=lambda p: (sign * p.x, p.system))
    if len(members) > 1:
        axes.step(
            [p.x for p in members], [p.y for p in members], where="pre", color=ink,
            lw=1.1, zorder=1.9,
        )  # fmt: skip
    for p in members:
        axes.plot(p.x, p.y, "o", ms=size.mark + 6, mfc="none", mec=ink, mew=0.9, zorder=2.9)


def _scales(axes: Axes, across: Axis, up: Axis) -> None:
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axes.margins(0.06)
    for axis, score in ((axes.xaxis, across), (axes.yaxis, up)):
        if score.logarithmic:
            (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
            axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 3.0, 5.0)))
            axis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
            axis.set_minor_locator(NullLocator())
        if not score.higher_is_better:
            axis.set_inverted(True)


def _frame(size: Size) -> tuple[float, float, float, float]:
    if not size.page:
        return 0.0, 0.0, 1.0, 1.0
    width, height = size.width - _LEFT - _RIGHT, size.height - _TOP - _BOTTOM
    return _LEFT / size.width, _BOTTOM / size.height, width / size.width, height / size.height


def _text(figure: Figure, size: Size, x: float, y: float, text: str, **how: Any) -> None:
    """Text at a place in points, y downwards."""
    figure.text(x / size.width, 1 - y / size.height, text, **how)


def _labels(axes: Axes, points: Sequence[Point], first: set[str], size: Size) -> list[str]:
    """Write the names; those on the front choose their places first."""
    order = sorted(points, key=lambda p: (not p.on_front, p.system not in first, p.bound))
    height = size.height
    where = [axes.transData.transform((p.x, p.y)) for p in order]
    places = [(float(x), height - float(y)) for x, y in where]
    names = [short(p.system, size.longest) for p in order]
    inside = axes.get_window_extent().padded(-4)
    frame = Box(inside.x0, height - inside.y1, inside.x1, height - inside.y0)
    narrow = [name[: max(1, round(len(name) * size.narrow) + 1)] for name in names]

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
    reaches = _REACHES[: 2 if size.page else None]
    missing = []
    for point, name, (x, y), near in zip(order, names, places, found, strict=True):
        place = near or _further(x, y, width_of(name) * size.narrow, reaches, taken, frame)
        if place is None:
            missing.append(name)
            continue
        far = {"arrowstyle": "-", "color": colour("line-strong"), "lw": 0.7, "shrinkB": 4}
        axes.annotate(
            name, (point.x, point.y), xytext=(place.x - x, y - place.y), fontsize=size.letters,
            textcoords="offset points", zorder=2.7,
            color=_ink(point, size) if point.bound or not size.page else colour("ink"),
            fontstyle="italic" if point.bound and size.page else "normal",
            ha={"start": "left", "end": "right", "middle": "center"}[place.anchor],
            bbox={"facecolor": colour("surface"), "alpha": 0.8, "edgecolor": "none", "pad": 0.4},
            arrowprops=None if near else far,
        )  # fmt: skip
    return missing


def _further(
    x: float, y: float, wide: float, reaches: Sequence[int], taken: list[Box], frame: Box
) -> Place | None:
    """The nearest free place around a point where there is none beside it; it is then taken."""
    for reach in reaches:
        for turn in range(_TURNS):
            angle = 2 * math.pi * turn / _TURNS
            middle, base = x + reach * 1.5 * math.cos(angle), y - reach * math.sin(angle)
            left, top = middle - wide / 2, base - LINE / 2
            box = Box(left, top, left + wide, top + LINE)
            if box.inside(frame) and not any(box.meets(other) for other in taken):
                taken.append(box)
                return Place(middle, base + 4, "middle", box)
    return None
