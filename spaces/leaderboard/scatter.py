"""Many points on axes without meaning, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from .marks import Mark
from .markup import el
from .scales import Scale


def cloud(points: Sequence[tuple[float, float, Mark, str]]) -> Markup:
    """Points have no names, and their tips no interval: a place, a mark and the tip of each."""
    width, height = 600.0, 420.0
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    across, up = Scale(min(xs), max(xs)), Scale(min(ys), max(ys))
    marks = [
        mark.path(
            transform=f"translate({10 + across(x) * (width - 20):.0f} "
            f"{10 + up(y) * (height - 20):.0f}) scale(.7)",
            data_tip=tip,
        )
        for x, y, mark, tip in points
    ]
    return el("svg", marks, viewBox=f"0 0 {width:.0f} {height:.0f}", class_="cloud")
