"""Points on two axes, as SVG: drawn once for wide and once for narrow places.

The style sheet shows the one that fits, so that letters have the same size on a phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ...plots.label_places import Box, cross, place_labels
from .marks import Mark
from .markup import el
from .scales import Scale, tick_text
from .words import ARROW, shortened

_SIZES = {"wide": (600.0, 400.0), "narrow": (330.0, 360.0)}
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 10.0, 26.0, 44.0
_LONGEST = {"wide": 26, "narrow": 18}  # characters of a name


@dataclass(frozen=True)
class Point:
    """One point with its name.

    Attributes:
        x, y: its values.
        across, up: its intervals; ``None`` if it has none.
        tip: what is said of it: on hover, on focus, to a screen reader.
    """

    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    name: str
    tip: str
    mark: Mark


@dataclass(frozen=True)
class Axis:
    """A scale with its title."""

    title: str
    scale: Scale


def scatter(points: Sequence[Point], across: Axis, up: Axis) -> Markup:
    """The picture, without its legend; points given first are named first."""
    return el("div", [_drawn(points, across, up, size) for size in _SIZES], class_="scatter")


def cloud(points: Sequence[Point]) -> Markup:
    """Many points on axes without meaning: they have no names, and their tips no interval."""
    width, height = 600.0, 420.0
    xs, ys = [p.x for p in points], [p.y for p in points]
    across, up = Scale(min(xs), max(xs)), Scale(min(ys), max(ys))
    marks = [
        p.mark.path(
            transform=f"translate({10 + across(p.x) * (width - 20):.0f} "
            f"{10 + up(p.y) * (height - 20):.0f}) scale(.7)",
            data_tip=p.tip,
        )
        for p in points
    ]
    return el("svg", marks, viewBox=f"0 0 {width:.0f} {height:.0f}", class_="cloud")


@dataclass(frozen=True)
class _Canvas:
    """A frame on which values have places."""

    frame: Box
    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        return self.frame.left + self.across.scale(value) * (self.frame.right - self.frame.left)

    def y(self, value: float) -> float:
        return self.frame.bottom - self.up.scale(value) * (self.frame.bottom - self.frame.top)


def _drawn(points: Sequence[Point], across: Axis, up: Axis, size: str) -> Markup:
    width, height = _SIZES[size]
    canvas = _Canvas(Box(_LEFT, _TOP, width - _RIGHT, height - _BOTTOM), across, up)
    return el(
        "svg",
        el("g", _axes(canvas), class_="axes", aria_hidden="true"),
        el("g", _names(points, canvas, _LONGEST[size]), class_="names", aria_hidden="true"),
        el("g", [_ranges(p, canvas) for p in points], class_="ranges", aria_hidden="true"),
        el("g", [_mark(p, canvas, first=p is points[0]) for p in points]),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        class_=size,
    )


def _mark(point: Point, canvas: _Canvas, *, first: bool) -> Markup:
    return el(
        "g",
        el("circle", r=11, class_="target"),
        point.mark.path(),
        transform=f"translate({canvas.x(point.x):.1f} {canvas.y(point.y):.1f})",
        role="img",
        aria_label=point.tip,
        tabindex="0" if first else "-1",
        data_tip=point.tip,
    )


def _names(points: Sequence[Point], canvas: _Canvas, longest: int) -> list[Markup]:
    names = [shortened(point.name, longest) for point in points]
    middles = [(canvas.x(p.x), canvas.y(p.y)) for p in points]
    lines = [
        cross(middle, [canvas.x(v) for v in p.across or ()], [canvas.y(v) for v in p.up or ()])
        for p, middle in zip(points, middles, strict=True)
    ]
    places = place_labels(middles, names, canvas.frame, [box for some in lines for box in some])
    return [
        el(
            "text",
            name,
            x=f"{place.x:.1f}",
            y=f"{place.y:.1f}",
            text_anchor=place.anchor,
            class_=point.mark.class_,
        )
        for point, name, place in zip(points, names, places, strict=True)
        if place is not None
    ]


def _ranges(point: Point, canvas: _Canvas) -> list[Markup]:
    x, y, found = canvas.x(point.x), canvas.y(point.y), []
    if point.across is not None:
        low, high = point.across
        found.append(_line(canvas.x(low), y, canvas.x(high), y, point.mark.class_))
    if point.up is not None:
        low, high = point.up
        found.append(_line(x, canvas.y(low), x, canvas.y(high), point.mark.class_))
    return found


def _axes(canvas: _Canvas) -> list[Markup]:
    frame, found = canvas.frame, []
    for value in canvas.across.scale.ticks(6):
        x = canvas.x(value)
        found.append(_line(x, frame.top, x, frame.bottom))
        found.append(_text(tick_text(value), x, frame.bottom + 16, "middle"))
    for value in canvas.up.scale.ticks(6):
        y = canvas.y(value)
        found.append(_line(frame.left, y, frame.right, y))
        found.append(_text(tick_text(value), frame.left - 7, y + 4, "end"))
    up = f"\N{UPWARDS ARROW} {canvas.up.title}"
    across = f"{canvas.across.title} {ARROW}"
    found.append(_text(up, 2, 14, "start", class_="title"))
    found.append(_text(across, frame.right, frame.bottom + 38, "end", class_="title"))
    return found


def _line(x1: float, y1: float, x2: float, y2: float, class_: str | None = None) -> Markup:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return el("line", class_=class_, **{key: f"{value:.1f}" for key, value in ends.items()})


def _text(text: str, x: float, y: float, anchor: str, class_: str | None = None) -> Markup:
    return el("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=class_)
