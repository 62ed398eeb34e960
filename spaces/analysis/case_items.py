"""The sentences to read first: texts are escaped, and those of a licensed corpus not written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...pipelines.analysis.data import DirectionResults, HumanAspect
from ...pipelines.analysis.sentences import (
    MetricCase,
    SystemCase,
    metric_cases,
    reference_cases,
    system_cases,
)
from ...pipelines.tables import DataTable, csv_text
from ...plots.canvas import name_rows, new_figure, plain, short
from ...plots.colours import colour
from .items import Case, Item

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MEASURE = 32  # letters of a metric's title
_SENTENCE = 48  # letters of one that names a row
_HIDDEN = "The corpus is licensed: its sentences are not written anywhere, only their ids."


def system_case_item(results: DirectionResults) -> Item | None:
    """Where systems disagree most."""
    cases = system_cases(results)
    if not cases:
        return None
    shows = results.shows_texts
    data = [
        (results.name, n, case.id, case.spread, one.system, one.place,
         case.source if shows else None, one.text if shows else None)
        for n, case in enumerate(cases, 1)
        for one in case.rewrites
    ]  # fmt: skip
    rows = []
    for n, case in enumerate(cases, 1):
        best, worst = case.rewrites[0], case.rewrites[-1]
        texts = (case.source, *(f"{one.system}: {one.text}" for one in (best, worst)))
        rows.append((f"{n}. {case.id}", *(texts if shows else ("", best.system, worst.system))))
    table = DataTable(
        name=f"system disagreements {results.name}",
        title=f"Where systems disagree most on {results.name}",
        header=("sentence", "source", "best", "worst"),
        rows=tuple(rows),
        texts=frozenset({1, 2, 3}) if shows else frozenset(),
        notes=() if shows else (_HIDDEN,),
    )
    header = ("direction", "case", "id", "spread", "system", "place", "source", "output")
    return Item(
        table=table,
        name="disagreement-systems",
        title="Where systems disagree most",
        says=(
            "Sources whose rewrites are furthest apart. An output's place is the share of all "
            "outputs that are worse, mean over aspects."
        ),
        alt=f"For {len(cases)} sources the places of all systems, best and worst named.",
        csv=csv_text(header, data),
        draw=lambda: draw_system_cases(cases, texts=shows),
        cases=tuple(_system_case(n, c) for n, c in enumerate(cases, 1) if shows),
    )


def metric_case_item(results: DirectionResults, aspects: Sequence[HumanAspect]) -> Item | None:
    """Where metrics of one aspect, or a metric and people, disagree most."""
    return _cases(
        results,
        metric_cases(results, aspects),
        "disagreement-metrics",
        "Where metrics disagree most",
        "Outputs that one measure of an aspect finds good and another of the same aspect bad, one "
        "for each source.",
    )


def reference_case_item(results: DirectionResults) -> Item | None:
    """Where outputs and people's rewrites of the same source are scored most differently."""
    return _cases(
        results,
        reference_cases(results),
        "disagreement-references",
        "Where outputs are furthest from people's rewrites",
        "Outputs whose score by a metric is far above or below that of people's rewrite of the "
        "same source: three of each metric.",
    )


def _cases(
    results: DirectionResults, cases: Sequence[MetricCase], name: str, title: str, says: str
) -> Item | None:
    if not cases:
        return None
    shows = results.shows_texts
    data = [
        (results.name, n, c.id, c.system, c.aspect, c.high, c.high_score, c.high_place, c.low,
         c.low_score, c.low_place, c.source if shows else None, c.prediction if shows else None)
        for n, c in enumerate(cases, 1)
    ]  # fmt: skip
    rows = tuple(
        (
            f"{n}. {c.system}",
            f"{c.high} {c.high_score:.4g}",
            f"{c.low} {c.low_score:.4g}",
            *((c.source, c.prediction) if shows else ("", c.id)),
        )
        for n, c in enumerate(cases, 1)
    )
    table = DataTable(
        name=f"{name} {results.name}",
        title=f"{title}, {results.name}",
        header=("output of", "high", "low", "source", "output"),
        rows=rows,
        texts=frozenset({3, 4}) if shows else frozenset(),
        notes=() if shows else (_HIDDEN,),
    )
    header = ("direction", "case", "id", "system", "aspect", "high", "high_score", "high_place",
              "low", "low_score", "low_place", "source", "output")  # fmt: skip
    return Item(
        table=table,
        name=name,
        title=title,
        says=says,
        alt=f"For {len(cases)} outputs their places by two measures.",
        csv=csv_text(header, data),
        draw=lambda: draw_metric_cases(cases, texts=shows),
        cases=tuple(_metric_case(n, c) for n, c in enumerate(cases, 1) if shows),
    )


def _system_case(number: int, case: SystemCase) -> Case:
    outputs = [(one.system, one.text, False, f"{one.place:.2f}") for one in case.rewrites]
    return Case(
        title=f"{number}. {case.source}", rows=(*_given(case.source, case.references), *outputs)
    )


def _metric_case(number: int, case: MetricCase) -> Case:
    scored = [
        (title, f"{score:.4g}, better than {100 * place:.0f}% of all", False, "")
        for title, score, place in (
            (case.high, case.high_score, case.high_place),
            (case.low, case.low_score, case.low_place),
        )
    ]
    output = (case.system, case.prediction, False, "")
    return Case(
        title=f"{number}. {case.prediction or 'empty'}",
        rows=(*_given(case.source, case.references), output, *scored),
    )


def _given(source: str, references: Sequence[str]) -> list[tuple[str, str, bool, str]]:
    return [("source", source, True, ""), *(("reference", text, True, "") for text in references)]


def draw_system_cases(cases: Sequence[SystemCase], *, texts: bool) -> Figure:
    """For each case a row: every system's place among all outputs, best and worst named.

    Args:
        cases: the rows.
        texts: whether rows are named by the source, else by its id.
    """
    figure = new_figure(6.0, 0.36 * len(cases))
    axes = _places(figure, [case.source if texts else case.id for case in cases], 0.32)
    for n, case in enumerate(cases):
        places = [rewrite.place for rewrite in case.rewrites]
        axes.plot([min(places), max(places)], [n, n], color=colour("line-strong"), lw=1.0)
        axes.plot(places, [n] * len(places), "o", color=colour("fpft"), ms=6, alpha=0.75, ls="")
        for one, side in ((case.rewrites[-1], -1), (case.rewrites[0], 1)):
            _beside(axes, short(one.system, 22), one.place, n, side)
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
    axes = _places(figure, [c.prediction if texts else f"{c.system} {c.id}" for c in cases], room)
    for n, case in enumerate(cases):
        axes.plot([case.low_place, case.high_place], [n, n], color=colour("line-strong"), lw=1.4)
        for place, title, score, mark, side in (
            (case.low_place, case.low, case.low_score, "s", -1),
            (case.high_place, case.high, case.high_score, "o", 1),
        ):
            axes.plot(place, n, mark, color=colour("fpft" if side > 0 else "prompted"), ms=7)
            _beside(axes, f"{short(title, _MEASURE)} {score:.4g}", place, n, side)
    axes.set_xlabel("share of all outputs that are worse by the measure")
    return figure


def _places(figure: Figure, names: Sequence[str], room: float) -> Axes:
    """Axes from 0 to 1 with numbered rows, and room for names on both sides."""
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    plain(axes, grid="x")
    name_rows(axes, [f"{n}. {short(name, _SENTENCE)}" for n, name in enumerate(names, 1)])
    axes.set_xlim(-room, 1 + room)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    return axes


def _beside(axes: Axes, name: str, place: float, row: int, side: int) -> None:
    axes.annotate(
        name, (place, row), xytext=(9 * side, 0), va="center", textcoords="offset points",
        ha="left" if side > 0 else "right", fontsize=8,
    )  # fmt: skip
