"""Learning curves as an SVG that stands alone, in the reader's light or dark colours.

For each system two panels: its losses, and its validation scores with the step that was chosen.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .curve_series import LearningCurve, Series

_LEFT, _TOP, _WIDTH, _HEIGHT = 52, 44, 380, 170  # of a panel's plot, in pixels
_PANEL = (_LEFT + _WIDTH + 18, 0)
_LEGEND = 17  # pixels a line
_PER_LINE = 2  # names in a line of the legend
_COLOURS = 8
_STYLE = """
svg { --ink:#1f2328; --soft:#59636e; --grid:#d8dee4; --paper:#ffffff;
 --c0:#0b6bcb; --c1:#bc4c00; --c2:#1a7f37; --c3:#8250df; --c4:#bf3989; --c5:#9a6700;
 --c6:#0a7ea4; --c7:#6e7781; }
@media (prefers-color-scheme: dark) { svg { --ink:#e6edf3; --soft:#9198a1; --grid:#30363d;
 --paper:#0d1117; --c0:#58a6ff; --c1:#ffa657; --c2:#56d364; --c3:#d2a8ff; --c4:#ff7bc0;
 --c5:#e3b341; --c6:#76e3ea; --c7:#b1bac4; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.title { font-weight: 600; font-size: 13px; } .tick { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.chosen { stroke: var(--soft); stroke-dasharray: 4 3; }
"""


@dataclass(frozen=True)
class _Axis:
    """From values to pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (self._shape(x) for x in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def _shape(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value

    @property
    def ticks(self) -> list[float]:
        """Round values, about four."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            decades = [10.0**n for n in range(first, last + 1)]
            return decades if len(decades) > 1 else [self.low, *decades, self.high]
        step = _round_step((self.high - self.low) / 4)
        first = math.ceil(self.low / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def curve_picture(curves: Sequence[LearningCurve]) -> str:
    """The picture, a whole SVG document.

    Args:
        curves: one row of panels each, in this order.
    """
    parts: list[str] = []
    top = 0.0
    for curve in curves:
        losses = {name: series.smooth for name, series in curve.losses.items()}
        names = max(len(losses), len(curve.scores))
        height = _TOP + _HEIGHT + 34 + _LEGEND * -(-names // _PER_LINE)
        title = html.escape(curve.name)
        parts.append(_panel(curve, losses, f"{title}: losses", 0, top, losses=True))
        if curve.scores:
            scores = f"{title}: validation"
            parts.append(_panel(curve, _shares(curve), scores, _PANEL[0], top, losses=False))
        top += height + 8
    width = 2 * _PANEL[0]
    named = html.escape(", ".join(curve.name for curve in curves))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top:.0f}" '
        f'width="{width}" height="{top:.0f}" role="img" aria-label="Learning curves: {named}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="var(--paper)"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _shares(curve: LearningCurve) -> Mapping[str, Series]:
    """The scores between 0 and 1, if there are any: what is of another size would flatten them."""
    shares = {
        name: series
        for name, series in curve.scores.items()
        if min(series.values) >= 0 and max(series.values) <= 1
    }
    return shares or curve.scores


def _panel(
    curve: LearningCurve,
    shown: Mapping[str, Series],
    title: str,
    left: float,
    top: float,
    *,
    losses: bool,
) -> str:
    values = [v for series in shown.values() for v in series.values] or [0.0, 1.0]
    low, high = (min(values), max(values)) if losses else _range(values)
    logarithmic = losses and low > 0 and high > 20 * low
    low = low if logarithmic or not losses else min(0.0, low)
    x = _Axis(0, curve.steps, left + _LEFT, left + _LEFT + _WIDTH)
    y = _Axis(low, high, top + _TOP + _HEIGHT, top + _TOP, logarithmic)
    parts = [f'<text class="title" x="{left + _LEFT}" y="{top + 24}">{title}</text>']
    for tick in y.ticks:
        parts.append(
            f'<path class="grid" d="M{x.start} {y(tick):.1f}H{x.end}"/><text class="tick" '
            f'text-anchor="end" x="{x.start - 6}" y="{y(tick) + 4:.1f}">{tick:.3g}</text>'
        )
    for tick in x.ticks:
        parts.append(
            f'<text class="tick" text-anchor="middle" x="{x(tick):.1f}" y="{y.start + 16}">'
            f"{tick:,.0f}</text>"
        )
    if curve.chosen is not None:
        place = f"{x(curve.chosen):.1f}"
        text = f"chosen: step {curve.chosen:,}"
        beyond = x(curve.chosen) > x.end - 130
        anchor = 'text-anchor="end" ' if beyond else ""
        parts.append(
            f'<path class="chosen" d="M{place} {y.end}V{y.start}"/><text class="tick" {anchor}'
            f'x="{x(curve.chosen) + (-4 if beyond else 4):.1f}" y="{y.end - 5}">{text}</text>'
        )
    for number, (name, series) in enumerate(shown.items()):
        points = zip(series.steps, series.values, strict=True)
        path = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points)
        colour = f"var(--c{number % _COLOURS})"
        dashed = ' stroke-dasharray="6 3"' if number >= _COLOURS else ""
        parts.append(
            f'<polyline class="line" stroke="{colour}"{dashed} points="{path}">'
            f"<title>{html.escape(name)}</title></polyline>"
        )
        if len(series.steps) == 1:  # one point is no line
            parts.append(
                f'<circle cx="{path.split(",")[0]}" cy="{path.split(",")[1]}" r="3" '
                f'fill="{colour}"/>'
            )
        line, place_in = divmod(number, _PER_LINE)
        at = x.start + place_in * _WIDTH / _PER_LINE
        under = y.start + 36 + line * _LEGEND
        parts.append(
            f'<path class="line" stroke="{colour}"{dashed} d="M{at:.0f} {under - 4}h14"/>'
            f'<text x="{at + 18:.0f}" y="{under}">{html.escape(name)}</text>'
        )
    return "\n".join(parts)


def _round_step(width: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that is not below a width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= width * (1 - 1e-9))


def _range(scores: Sequence[float]) -> tuple[float, float]:
    """From 0 to 1 if the scores are shares, else as far as they go."""
    low, high = min(scores), max(scores)
    return (0.0, max(1.0, high)) if low >= 0 else (low, max(0.0, high))
