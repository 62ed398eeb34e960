"""Learning curves as a picture: SVG without a library, one small panel for each loss and score.

The same rows give the same bytes, on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from statistics import fmean

_COLUMNS = 3
_WIDTH, _HEIGHT = 272.0, 148.0  # of a panel, with its title and its room
_LEFT, _TOP, _RIGHT, _BOTTOM = 46.0, 30.0, 12.0, 22.0  # inside a panel, around the drawing
_POINTS = 120  # of a loss: each is the mean of as many steps
_PREFIX = "validation/"
_CHOSEN = f"{_PREFIX}selection"
# The picture has its own ground, so that it is legible on any page; dark where the reader's is.
_STYLE = """\
text{font:11px system-ui,sans-serif;fill:#5c646d}.name{font-size:12px;font-weight:600;fill:#1c2126}
.ground{fill:#fbfaf7}.room{fill:#fff;stroke:#e3e1d9}.line{fill:none;stroke-width:1.5}
.loss{stroke:#2d6bb0}.score{stroke:#1d6360}.kept{stroke:#9c2f2a;stroke-dasharray:3 3}
.dot{fill:#9c2f2a}
@media(prefers-color-scheme:dark){text{fill:#a3abb3}.name{fill:#e8e9e6}.ground{fill:#14171a}
.room{fill:#1b1f23;stroke:#2e343a}.loss{stroke:#86b6ec}.score{stroke:#74c7bd}
.kept{stroke:#f0a19a}.dot{fill:#f0a19a}}"""

Row = Mapping[str, float | int | str]


@dataclass(frozen=True)
class Series:
    """One loss or score, by step."""

    name: str
    points: tuple[tuple[int, float], ...]

    @property
    def is_score(self) -> bool:
        """Whether it was measured on validation data."""
        return self.name.startswith(_PREFIX)


def series_of(rows: Iterable[Row]) -> list[Series]:
    """All values by name: validation scores first, then losses, both as they first appeared."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for name, value in row.items():
            if name != "step" and isinstance(value, int | float) and math.isfinite(value):
                found.setdefault(name, []).append((int(row["step"]), float(value)))
    every = [Series(name, tuple(points)) for name, points in found.items()]
    return sorted(every, key=lambda one: (not one.is_score, one.name != _CHOSEN))


def kept_step(every: Iterable[Series]) -> int | None:
    """The step whose weights were kept: the first with the highest validation score.

    >>> kept_step(series_of([{"step": n, "validation/selection": v} for n, v in ((5, 1), (9, 1))]))
    5
    """
    chosen = next((one.points for one in every if one.name == _CHOSEN), ())
    return max(chosen, key=lambda point: (point[1], -point[0]))[0] if chosen else None


def smoothed(points: Sequence[tuple[int, float]], most: int = _POINTS) -> list[tuple[float, float]]:
    """At most so many points: each the mean of consecutive ones, as equal in number as they get.

    >>> smoothed([(1, 4.0), (2, 2.0), (3, 1.0), (4, 0.0)], most=2)
    [(1.5, 3.0), (3.5, 0.5)]
    """
    count = min(most, len(points))
    cuts = [len(points) * i // count for i in range(count + 1)] if count else [0]
    groups = [points[start:end] for start, end in pairwise(cuts)]
    return [(fmean(step for step, _ in g), fmean(value for _, value in g)) for g in groups]


def curve_picture(rows: Iterable[Row], title: str) -> str:
    """The picture, as SVG.

    Args:
        rows: of ``curve.jsonl``: ``step``, and losses and ``validation/...`` scores by name.
        title: for people who hear it instead.
    """
    every = series_of(rows)
    last = max((step for one in every for step, _ in one.points), default=0)
    kept = kept_step(every)
    lines = max(1, math.ceil(len(every) / _COLUMNS))
    width, height = _COLUMNS * _WIDTH, lines * _HEIGHT + 28
    note = f"{last:,} steps; losses are means over neighbouring steps"
    if kept is not None:
        note += f"; dashed: step {kept:,}, whose weights were kept"
    panels = [
        _panel(one, last, kept, (i % _COLUMNS) * _WIDTH, (i // _COLUMNS) * _HEIGHT)
        for i, one in enumerate(every)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect class="ground" width="{width:.0f}" height="{height:.0f}"/>',
            *panels,
            f'<text x="12" y="{height - 10:.0f}">{escape(note)}</text>',
            "</svg>\n",
        ]
    )


def _panel(one: Series, last: int, kept: int | None, x: float, y: float) -> str:
    points = list(one.points) if one.is_score else smoothed(one.points)
    values = [value for _, value in points]
    low, high = min(values), max(values)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(step: float, value: float) -> tuple[float, float]:
        across = x + _LEFT + inner_width * step / max(last, 1)
        return across, y + _TOP + inner_height * (high - value) / (high - low)

    drawn = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
    kind = "score" if one.is_score else "loss"
    marks = [
        f'<text class="name" x="{x + _LEFT:.0f}" y="{y + 20:.0f}">{escape(one.name)}</text>',
        f'<rect class="room" x="{x + _LEFT:.0f}" y="{y + _TOP:.0f}" width="{inner_width:.0f}" '
        f'height="{inner_height:.0f}"/>',
        _label(x + _LEFT - 4, y + _TOP + 9, "end", _short(high)),
        _label(x + _LEFT - 4, y + _TOP + inner_height, "end", _short(low)),
        _label(x + _LEFT, y + _HEIGHT - 8, "start", "0"),
        _label(x + _WIDTH - _RIGHT, y + _HEIGHT - 8, "end", f"{last:,}"),
        f'<polyline class="line {kind}" points="{drawn}"/>',
    ]
    if len(points) == 1:
        across, down = place(*points[0])
        marks.append(f'<circle class="dot" cx="{across:.1f}" cy="{down:.1f}" r="2.5"/>')
    if kept is not None and one.is_score:
        across, _ = place(kept, low)
        marks.append(
            f'<line class="line kept" x1="{across:.1f}" x2="{across:.1f}" y1="{y + _TOP:.0f}" '
            f'y2="{y + _TOP + inner_height:.0f}"/>'
        )
    return "\n".join(marks)


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(value: float) -> str:
    """A number of a few signs: 0.123, 12.3, 1234.

    >>> [_short(v) for v in (0.12345, 12.345, 1234.5, 1e-5)]
    ['0.123', '12.3', '1234', '1e-05']
    """
    if value and abs(value) < 0.001:
        return f"{value:.0e}"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
