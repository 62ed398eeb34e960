"""Values as marks on rows: a system's score on its interval, several systems, or a distribution."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .canvas import legend_of_kinds, name_rows, new_figure, plain, short
from .colours import KINDS, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 28
_LETTER = 6.9  # points, wider than most are in a page, since the reader's font is not known
_ROW, _BELOW = 28.0, 44.0  # points, in a page, where all names have one line
_LABELS = 0.42  # of a page's picture, at most
_GAP = 14.0


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A value on a row.

    Attributes:
        value: a score.
        interval: its 95% interval.
        family: the kind of system, see :data:`~.colours.KINDS`, which gives colour and shape.
        ink, shape: others, where the systems of a row are told apart.
        hollow: of a bound.
        tip: what a page says of it, on hover, on focus and to a screen reader.
    """

    value: float
    interval: tuple[float, float] | None = None
    family: str = "unknown"
    ink: str = ""
    shape: str = ""
    hollow: bool = False
    tip: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row.

    Attributes:
        name: at its beginning.
        marks: on it.
        text: at its end.
        bound: whether it does not compete; such rows are the last.
        quantiles: of a distribution, at 5, 25, 50, 75 and 95 percent; the mark is the median.
    """

    name: str
    marks: tuple[Mark, ...]
    text: str = ""
    bound: bool = False
    quantiles: tuple[float, ...] | None = None


def draw_rows(rows: Sequence[Row], title: str, *, logarithmic: bool = False) -> Figure:
    """The rows on paper, each with one mark: best on top, bounds last.

    Args:
        rows: from top to bottom.
        title: of the axis.
        logarithmic: for perplexity.
    """
    figure = new_figure(4.4, 0.27 * len(rows))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    for n, row in enumerate(rows):
        (mark,) = row.marks
        ink = colour(mark.family)
        for end in mark.interval or ():
            axes.plot([end, end], [n - 0.16, n + 0.16], color=ink, lw=1.8)
        _draw(axes, mark, n, ink=ink, size=7, width=1.8)
        axes.annotate(
            row.text, (1.0, n), xycoords=("axes fraction", "data"), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=8.5,
        )  # fmt: skip
    name_rows(axes, [short(row.name, LONGEST_NAME) for row in rows])
    above_bounds(axes, [row.bound for row in rows])
    axes.set_xlabel(title)
    _scale(axes, logarithmic=logarithmic)
    legend_below(figure, [(r.marks[0].family, r.bound) for r in rows], inches=0.45)
    return figure


def draw_page_rows(
    rows: Sequence[Row],
    title: str,
    bounds: str,
    width: float,
    *,
    logarithmic: bool = False,
    reverse: bool = False,
) -> Figure:
    """The rows for a page, which has the legend beside it: dashed lines lead to the bounds.

    Args:
        rows: from top to bottom.
        title: of the axis.
        bounds: stands above the bounds.
        width: of the picture, in points.
        logarithmic: for perplexity.
        reverse: whether lower is better, which is on the right.
    """
    names, longest = _wrapped([row.name for row in rows], width)
    first = next((n for n, row in enumerate(rows) if row.bound), 0)  # has a line for the title
    if first:  # which no dashed line crosses
        longest = max(longest, _LETTER * len(bounds))
    left, right = longest + _GAP, _GAP + max(_LETTER * len(row.text) for row in rows)
    places = [n + (first > 0 and n >= first) for n in range(len(rows))]
    one = _ROW + 5 * any("\n" in name for name in names)
    tall = one * (places[-1] + 1)
    height = tall + _BELOW
    figure = new_figure(width / 72, height / 72)
    axes = figure.add_axes(
        (left / width, _BELOW / height, (width - left - right) / width, tall / height)
    )
    plain(axes, grid="x")
    tip = 0
    for row, name, place in zip(rows, names, places, strict=True):
        _text(axes, -left, place, name)
        _text(axes, width - left, place, row.text, ha="right", color=colour("muted"))
        if row.bound and first:
            dashed = {"color": colour("line-strong"), "lw": 1.0, "ls": (0, (3, 2)), "zorder": 1.5}
            for mark in row.marks:
                axes.plot([mark.value] * 2, [-0.5, place], **dashed)  # type: ignore[arg-type]
        if row.quantiles:
            _box(axes, row.quantiles, place, 12 / one)
        for mark in row.marks:
            ink = colour("muted" if mark.hollow else mark.ink or mark.family)
            size = 10.5 if "*" in (mark.shape, KINDS[mark.family].marker) else 8.5
            _draw(axes, mark, place, ink=ink, size=size, width=2.0, alpha=0.55, gid=f"tip-{tip}")
            tip += 1
    if first:
        _text(axes, -left, first, bounds, color=colour("muted"), fontweight="semibold", fontsize=12)
    axes.set_ylim(places[-1] + 0.5, -0.5)
    axes.set_yticks([])
    axes.margins(x=0.05)
    if any(row.quantiles for row in rows):
        axes.set_xlim(left=0)
    _scale(axes, logarithmic=logarithmic, page=True)
    axes.xaxis.set_inverted(reverse)
    axes.tick_params(axis="x", labelsize=11.5)
    figure.text(1, 8 / height, title, ha="right", fontsize=12, color=colour("muted"))
    return figure


def above_bounds(axes: Axes, bounds: Sequence[bool]) -> None:
    """A line above the rows of bounds, if there are others too."""
    if any(bounds) and not all(bounds):
        axes.axhline(list(bounds).index(True) - 0.5, color=colour("line-strong"), lw=0.8)


def legend_below(
    figure: Figure, kinds: Sequence[tuple[str, bool]], *, inches: float, hatched: bool = False
) -> None:
    """The legend of the kinds of systems, so far below the axes."""
    entries = legend_of_kinds(kinds, hatched=hatched)
    if entries:
        below = -inches / figure.get_figheight()
        figure.legend(
            handles=entries, loc="upper left", bbox_to_anchor=(0.0, below), ncols=4, fontsize=8
        )


def _draw(
    axes: Axes,
    mark: Mark,
    row: int,
    *,
    ink: str,
    size: float,
    width: float,
    alpha: float | None = None,
    gid: str | None = None,
) -> None:
    if mark.interval is not None:
        axes.plot(mark.interval, [row, row], color=ink, lw=width, alpha=alpha)
    face = colour("surface") if mark.hollow else ink
    shape = mark.shape or KINDS[mark.family].marker
    axes.plot(mark.value, row, shape, color=ink, mfc=face, ms=size, mew=1.3, gid=gid, zorder=2.5)


def _box(axes: Axes, quantiles: Sequence[float], row: int, height: float) -> None:
    low, lower, _, upper, high = quantiles
    axes.plot([low, high], [row, row], color=colour("unknown"), lw=2.0, alpha=0.55)
    axes.barh(
        row, upper - lower, left=lower, height=height, facecolor=colour("accent-soft"),
        edgecolor=colour("accent"), lw=1.0, zorder=2.1,
    )  # fmt: skip


def _wrapped(names: Sequence[str], width: float) -> tuple[list[str], float]:
    """The names in at most two lines each, and how wide they are."""
    letters = int((_LABELS * width - _GAP) / _LETTER)
    lines = [textwrap.wrap(short(name, 2 * letters - 2), letters) or [""] for name in names]
    lines = [some if len(some) < 3 else [short(" ".join(some), letters)] for some in lines]
    return ["\n".join(some) for some in lines], _LETTER * max(
        len(s) for some in lines for s in some
    )


def _text(axes: Axes, x: float, row: int, text: str, **how: Any) -> None:
    """Text on a row, so many points right of the axes' left end."""
    axes.annotate(
        text, (0.0, row), xycoords=("axes fraction", "data"), xytext=(x, 0),
        textcoords="offset points", va="center", **{"fontsize": 13, **how},
    )  # fmt: skip


def _scale(axes: Axes, *, logarithmic: bool, page: bool = False) -> None:
    """Few round ticks: a phone has no room for more."""
    from matplotlib.ticker import (
        FixedLocator,
        LogLocator,
        MaxNLocator,
        NullLocator,
        StrMethodFormatter,
    )

    low, high = axes.get_xlim()
    linear = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10] if page else None)
    if not logarithmic or high <= 0:
        axes.xaxis.set_major_locator(linear)
        return
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    round_ones = [n * 10.0**p for p in powers for n in (1, 2, 5) if low <= n * 10.0**p <= high]
    # Between 100 and 200, say, there is none.
    few = FixedLocator(round_ones[:: math.ceil(len(round_ones) / 4)]) if round_ones[1:] else linear
    axes.xaxis.set_major_locator(few if page else LogLocator(subs=(1.0, 2.0, 5.0), numticks=4))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())
