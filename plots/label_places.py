"""Where the names of points go, so that no name covers another name or a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal

LINE = 14.0  # height of a line of text, in the units of the picture
_LETTER = 6.9  # wider than most letters are, since the reader's font is not known
_CLEAR = 7.0  # half the side of the square that a point keeps free
_NEARER = 1.5  # times as far from a name is each other point
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def inside(self, other: Box) -> bool:
        """Whether the other one has all of it."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )

    def away(self, x: float, y: float) -> float:
        """The distance from a point."""
        across = max(self.left - x, 0.0, x - self.right)
        return hypot(across, max(self.top - y, 0.0, y - self.bottom))


@dataclass(frozen=True)
class Place:
    """Where a name is written: its anchor on the base line."""

    x: float
    y: float
    anchor: Anchor
    box: Box


def width_of(text: str) -> float:
    """About how wide a text is; never less than it is in common fonts."""
    return _LETTER * len(text)


def place_labels(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    frame: Box,
    lines: Sequence[Box] = (),
) -> list[Place | None]:
    """A place beside each point, taken in the order given; ``None`` where there is no room.

    A name is nearer to its own point than to any other, or it would be taken for that one's.

    Args:
        points: the middle of each point.
        texts: their names; an empty one needs no place. Earlier ones choose first.
        frame: names stay inside.
        lines: the intervals: of all free places, the one over fewest of them is taken.
    """
    taken = [Box(x - _CLEAR, y - _CLEAR, x + _CLEAR, y + _CLEAR) for x, y in points]
    found: list[Place | None] = []
    for (x, y), text in zip(points, texts, strict=True):
        candidates = _beside(x, y, width_of(text)) if text else []
        free = (
            one
            for one in candidates
            if one.box.inside(frame)
            and not any(one.box.meets(box) for box in taken)
            and all(
                one.box.away(*other) >= _NEARER * one.box.away(x, y)
                for other in points
                if other != (x, y)
            )
        )
        place = min(free, key=lambda p: sum(map(p.box.meets, lines)), default=None)
        if place is not None:
            taken.append(place.box)
        found.append(place)
    return found


def cross(middle: tuple[float, float], across: Sequence[float], up: Sequence[float]) -> list[Box]:
    """The lines of a point's intervals as boxes: across and up are their ends, or empty."""
    x, y = middle
    found = [Box(min(across), y - 1, max(across), y + 1)] if across else []
    return [*found, Box(x - 1, min(up), x + 1, max(up))] if up else found


def _beside(x: float, y: float, width: float) -> list[Place]:
    """Right, left, above and below, then the corners; then the same further away."""
    places = []
    for gap in (_CLEAR + 1, _CLEAR + 9, _CLEAR + 17):
        for dx, dy in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            anchor: Anchor = "middle" if dx == 0 else "start" if dx > 0 else "end"
            at = x + dx * gap
            left = at - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
            middle = y + dy * (gap + LINE / 2 - (4 if dx else 0))
            box = Box(left, middle - LINE / 2, left + width, middle + LINE / 2)
            places.append(Place(at, middle + 4, anchor, box))
    return places
