"""The marks of the pictures: a shape and a colour for each kind of system, and their legend.

Shape and colour say the same, so that neither is needed. A bound is hollow: it is no competitor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from .markup import el

# Around the origin, about 10 wide.
_SHAPES = {
    "circle": "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z",
    "diamond": "M0-5.6L5.6 0L0 5.6L-5.6 0Z",
    "square": "M-4-4H4V4H-4Z",
    "triangle": "M0-5.2L5.2 4H-5.2Z",
    "inverted": "M0 5.2L5.2-4H-5.2Z",
    "star": "M0-6L1.6-2H5.7L2.5.7L3.6 5L0 2.6L-3.6 5L-2.5.7L-5.7-2H-1.6Z",
    "cross": "M-4-4L4 4M4-4L-4 4",
}
_OF_FAMILY = {
    "fpft": "circle",
    "peft": "diamond",
    "prompted": "square",
    "rule": "triangle",
    "human": "star",
    "unknown": "cross",
}
_IN_SERIES = ("circle", "square", "triangle", "diamond", "star", "inverted")
MOST_SERIES = len(_IN_SERIES)


@dataclass(frozen=True)
class Mark:
    """What one mark looks like; static/css/pictures.css gives its class a colour."""

    shape: str
    class_: str

    def path(self, **attributes: object) -> Markup:
        """Its outline, for use inside a picture."""
        return el("path", d=_SHAPES[self.shape], class_=f"mark {self.class_}", **attributes)

    def icon(self, **attributes: object) -> Markup:
        """The mark alone, for use in text."""
        return el("svg", self.path(), viewBox="-7 -7 14 14", class_="icon", **attributes)


def of_family(family: str, *, bound: bool = False) -> Mark:
    """The mark of a kind of system."""
    return Mark(_OF_FAMILY[family], f"{family} hollow" if bound else family)


def in_series(number: int, *, bound: bool = False) -> Mark:
    """The mark of the n-th system of a picture in which every system has its own."""
    shape = _IN_SERIES[number % MOST_SERIES]
    return Mark(shape, "bound hollow" if bound else f"series-{number % MOST_SERIES}")


def legend(items: Iterable[tuple[Mark, str]]) -> Markup:
    """Which mark is what."""
    entries = [el("li", mark.icon(aria_hidden="true"), el("span", text)) for mark, text in items]
    return el("ul", entries, class_="marks-legend")
