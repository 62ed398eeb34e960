"""Lengths and copies of every system, and the sentences in the space of styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...pipelines.analysis.sentences import MetricCase, SystemCase, TextStatistics
from ...pipelines.analysis.style_space import StyleSpace
from .canvas import new_figure, plain, short
from .draw_scores import LONGEST_NAME
from .palette import colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW = 0.27
_MEASURE = 32
_SENTENCE = 48  # letters of one that names a row


def draw_lengths(rows: Sequence[TextStatistics]) -> Figure:
    """Quartiles and mean of the number of words, and beside them the share of copies."""
    figure = new_figure(6.6, _ROW * len(rows))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.6, 1))
    plain(left, grid="x")
    plain(right, grid="x")
    people = [r.words.value for r in rows if r.kind == "references"]
    if people:
        left.axvline(people[0], color=colour("accent"), lw=1.1, ls="--", zorder=1)
    for n, row in enumerate(rows):
        ink = colour("fpft") if row.kind == "system" else colour("muted")
        low, lower, median, upper, high = row.quartiles
        left.plot([low, high], [n, n], color=ink, lw=1.0)
        left.barh(
            n, upper - lower, left=lower, height=0.52, color=colour("surface"), ec=ink, lw=1.2
        )
        left.plot([median, median], [n - 0.26, n + 0.26], color=ink, lw=2.2)
        left.plot(row.words.value, n, "D", color=colour("prompted"), ms=5, zorder=3)
        if row.kind in ("source", "references"):
            continue
        right.barh(
            n, row.copied.value, height=0.52, color=ink if row.kind == "system" else "none",
            ec=ink, hatch=None,
        )  # fmt: skip
        if row.copied.low is not None:
            right.plot([row.copied.low, row.copied.high], [n, n], color=colour("ink"), lw=1.1)
        right.annotate(
            f"{row.copied.value:.1f}", (1.0, n), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize=8,
        )  # fmt: skip
    left.set_ylim(len(rows) - 0.4, -0.6)
    left.set_xlim(left=0)
    outputs = [r for r in rows if r.kind not in ("source", "references")]
    right.set_xlim(0, max(5.0, *(r.copied.high or r.copied.value for r in outputs), 0.0) * 1.05)
    left.set_yticks(range(len(rows)), [short(r.name, LONGEST_NAME) for r in rows])
    left.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)
    right.tick_params(labelleft=False)
    left.set_title("Words per sentence", loc="left")
    right.set_title("Copies of the source (%)", loc="left")
    figure.subplots_adjust(0, 0, 1, 1, wspace=0.06)
    said = "box: middle half of the sentences, with the median; whiskers: 5th and 95th percentile"
    said += "\ndiamond: mean" + ("; dashed: mean of the references" if people else "")
    left.annotate(
        said, (0, 0), xycoords="axes fraction", xytext=(0, -24), textcoords="offset points",
        fontsize=8, color=colour("muted"), va="top",
    )  # fmt: skip
    return figure


def draw_style_space(space: StyleSpace) -> Figure:
    """A point for each sentence; the axes of t-SNE have no meaning, so there are none."""
    figure = new_figure(6.4, 4.6)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color(colour("line"))
    marks = (("fpft", "o", True), ("prompted", "^", False))
    for group, (name, mark, filled) in zip(dict.fromkeys(space.groups), marks, strict=True):
        chosen = [n for n, g in enumerate(space.groups) if g == group]
        axes.plot(
            space.points[chosen, 0], space.points[chosen, 1], mark, ls="", ms=4.4, mew=0.9,
            color=colour(name), mfc=colour(name) if filled else colour("surface"),
            label=f"{group} ({len(chosen)})",
        )  # fmt: skip
    figure.legend(loc="upper left", bbox_to_anchor=(0.0, -0.01), ncols=2, fontsize=9)
    axes.annotate(
        f"separation {100 * space.separation:.0f}% (chance: 50%)", (1.0, 0.0),
        xycoords="axes fraction", xytext=(0, -10), textcoords="offset points", ha="right",
        va="top", fontsize=9, color=colour("muted"),
    )  # fmt: skip
    return figure


def draw_system_cases(cases: Sequence[SystemCase], *, texts: bool) -> Figure:
    """For each case a row: every system's place among all outputs, best and worst named.

    Args:
        cases: the rows.
        texts: whether rows are named by the source, else by its id.
    """
    figure = new_figure(6.0, 0.36 * len(cases))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    for n, case in enumerate(cases):
        places = [rewrite.place for rewrite in case.rewrites]
        axes.plot([min(places), max(places)], [n, n], color=colour("line-strong"), lw=1.0)
        axes.plot(places, [n] * len(places), "o", color=colour("fpft"), ms=6, alpha=0.75, ls="")
        for one, side in ((case.rewrites[-1], -1), (case.rewrites[0], 1)):
            axes.annotate(
                short(one.system, 22), (one.place, n), xytext=(9 * side, 0), va="center",
                textcoords="offset points", ha="left" if side > 0 else "right", fontsize=8,
            )  # fmt: skip
    labels = [
        f"{n}. {short(case.source, _SENTENCE) if texts else case.id}"
        for n, case in enumerate(cases, 1)
    ]
    axes.set_yticks(range(len(cases)), labels)
    axes.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.set_xlim(-0.32, 1.32)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of all outputs that are worse, mean over aspects")
    return figure


def draw_metric_cases(cases: Sequence[MetricCase], *, texts: bool) -> Figure:
    """For each case a row: the two places, with the names of the measures.

    Args:
        cases: the rows.
        texts: whether rows are named by the output, else by its system and id.
    """
    longest = max(len(short(t, _MEASURE)) for c in cases for t in (c.high, c.low))
    room = 0.02 * (longest + 7)  # a letter, and a score
    figure = new_figure(3.4 * (1 + 2 * room), 0.36 * len(cases))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    for n, case in enumerate(cases):
        axes.plot([case.low_place, case.high_place], [n, n], color=colour("line-strong"), lw=1.4)
        for place, title, score, mark, side in (
            (case.low_place, case.low, case.low_score, "s", -1),
            (case.high_place, case.high, case.high_score, "o", 1),
        ):
            axes.plot(place, n, mark, color=colour("fpft" if side > 0 else "prompted"), ms=7)
            name = short(title, _MEASURE)
            axes.annotate(
                f"{name} {score:.4g}", (place, n), xytext=(9 * side, 0), va="center",
                textcoords="offset points", ha="left" if side > 0 else "right", fontsize=8,
            )  # fmt: skip
    labels = [
        f"{n}. {short(c.prediction if texts else f'{c.system} {c.id}', _SENTENCE)}"
        for n, c in enumerate(cases, 1)
    ]
    axes.set_yticks(range(len(cases)), labels)
    axes.tick_params(axis="y", labelcolor=colour("ink"), labelsize=8.5)
    axes.set_ylim(len(cases) - 0.4, -0.6)
    axes.set_xlim(-room, 1 + room)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("share of all outputs that are worse by the measure")
    return figure
