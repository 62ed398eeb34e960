"""The items of one direction: everything its results allow, in the order of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from ...console import say
from ...errors import TSTBenchError, UnknownNameError
from ...metrics.units import between, number, unit
from ...pipelines.analysis.correlation import over_sentences, over_systems
from ...pipelines.analysis.data import DirectionResults, HumanAspect, score_of
from ...pipelines.analysis.sentences import (
    DistributionPanel,
    by_setting,
    by_system,
)
from ...pipelines.analysis.style_space import style_space
from ...pipelines.analysis.trade_off import (
    Axis,
    TradeOff,
    axis_named,
    axis_of,
    named_axes,
    trade_off,
)
from ...pipelines.meta.known import in_full
from ...pipelines.ranked_table import direction_table
from ...pipelines.rankings import standings_text
from ...pipelines.report import Report
from ...pipelines.standings import Column
from ...pipelines.tables import DataTable, csv_text, fragment
from ...plots import plane as drawn_plane
from ...plots.rows import Mark, Row, draw_rows
from .case_items import metric_case_item, reference_case_item, system_case_item
from .correlation_items import correlation_item
from .items import Item, WrittenTable
from .lengths import lengths_item
from .panels import draw_distributions, draw_scores
from .space_items import SOURCES_AND_REFERENCES, space_item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONTENT = ("multi_bleu", "r_bleu", "s_bleu")  # the first that is there is the content of a plane
FLUENCY = ("ppl", "cola")


def direction_items(
    results: DirectionResults,
    aspects: Sequence[HumanAspect],
    joined: Mapping[str, Sequence[str]],
    *,
    classifier: str | None = None,
    style_map: bool = True,
    planes: Sequence[tuple[str, str]] = (),
    raw_ppl: bool = False,
) -> tuple[list[Item], list[str]]:
    """The items, and what could not be made and why.

    Args:
        results: of one direction.
        aspects: what people judged of it.
        joined: see :func:`~...pipelines.analysis.trade_off.trade_off`.
        classifier: see :func:`~...pipelines.analysis.style_space.style_space`.
        style_map: whether to lay out the space of styles, which takes seconds.
        planes: names of two axes each, see :func:`~...pipelines.analysis.trade_off.named_axes`.
        raw_ppl: whether perplexity enters correlations as it is, not as its logarithm.
    """
    first = results.ranking
    items, missing = [_ranking(results, first)], []

    def add(item: Item | None, why_not: str) -> None:
        if item is None:
            missing.append(why_not)
        else:
            items.append(item)

    style = results.column(aspect="style")
    for name, other in (
        ("content", results.column(CONTENT, "content")),
        ("fluency", results.column(FLUENCY, "fluency")),
    ):
        two = (axis_of(results, style), axis_of(results, other)) if style and other else None
        title = f"Style against {name}"
        add(
            _plane(results, *two, f"trade-off-{name}", title, joined) if two else None,
            f"trade-off of style and {name}: no system has scores of both",
        )
    axes = named_axes(results, aspects)
    for x, y in planes:
        try:
            across, up = axis_named(x, axes), axis_named(y, axes)
        except UnknownNameError:
            item = None
        else:
            slug = re.sub("[^a-z0-9_]+", "-", f"plane-{x}-{y}".lower()).rstrip("-")
            title = f"{across.column.title} and {up.column.title}"
            item = _plane(results, across, up, slug, title, joined)
        add(item, f"plane of {x} and {y}: no system has both")
    items.append(_scores(results, first))
    add(
        correlation_item(over_systems(results, aspects, raw_ppl=raw_ppl), results.name),
        "correlations over systems: they need 4 systems that compete, and 2 scores",
    )
    if not results.samples:
        missing.append("everything about sentences: the results have no samples.jsonl")
        return items, missing
    add(
        correlation_item(over_sentences(results, aspects, raw_ppl=raw_ppl), results.name),
        "correlations over sentences: they need 2 scores of single sentences",
    )
    panels = by_system(results)
    if panels:
        items.append(
            _distributions(
                results, panels, "distributions", "Scores of single sentences",
                "How the scores of single sentences are distributed; the tick is the median, the "
                "bar the middle half. Metrics that only say yes or no are left out.",
            )
        )  # fmt: skip
    for panel in by_setting(results):
        items.append(
            _distributions(
                results, [panel], f"settings-{panel.column.metric}",
                f"{panel.title} by setting",
                "The same outputs, scored with several settings of the metric: those of all "
                "systems that have every setting. The tick is the median.",
            )
        )  # fmt: skip
    items.append(lengths_item(results))
    if style_map:
        say(f"{results.name}: laying out the space of styles (t-SNE, some seconds)")
        try:
            space = style_space(results, classifier)
            items.append(space_item(SOURCES_AND_REFERENCES, results.name, space))
        except TSTBenchError as error:
            if classifier:
                raise
            missing.append(f"space of styles: {error}")
    add(
        system_case_item(results),
        "where systems disagree: it needs two systems with sentences",
    )
    add(
        metric_case_item(results, aspects),
        "where metrics disagree: it needs two scores of single sentences of one aspect",
    )
    add(
        reference_case_item(results),
        "where outputs and people's rewrites differ: it needs scores of the baseline reference-1",
    )
    return items, missing


def _scores(results: DirectionResults, by: Column) -> Item:
    reports = _in_order(results, by)
    standings = [results.standings]
    shown = fragment(direction_table(results.standings))
    return Item(
        name="scores",
        title="Scores",
        says=(
            "Each system by each metric, ordered by "
            f"{by.title}; lines are 95% intervals. The arrow says which way is better. Only "
            "numbers with one signature share a panel."
        ),
        alt=f"Bars of {', '.join(c.title for c in results.columns)} for {len(reports)} systems.",
        csv=standings_text(standings, "csv"),
        table=WrittenTable(
            markdown=standings_text(standings, "markdown", intervals=True),
            latex=standings_text(standings, "latex", intervals=True),
            html=Markup(shown),  # noqa: S704 (escaped there)
        ),
        draw=lambda: draw_scores(results.columns, reports),
    )


def _ranking(results: DirectionResults, column: Column) -> Item:
    """The systems by what ranks them, the one rule for boards and tables."""
    reports = _in_order(results, column)
    ranks = {r.system: (r.low, r.high) for r in results.standings.ranks.get(column.signature, ())}
    rows, data, marks = [], [], []
    for report in reports:
        score, system = score_of(report, column), report.system
        if score is None or score.value is None:
            continue
        bounds, place = score.interval, ranks.get(system.name)
        low, high = (bounds.low, bounds.high) if bounds else (None, None)
        first, last = place or (None, None)
        text = number(score.value, column.unit)
        marks.append(
            Row(
                name=system.name,
                text=text,
                bound=system.is_bound,
                marks=(
                    Mark(
                        value=score.value,
                        interval=(bounds.low, bounds.high) if bounds else None,
                        family=system.family,
                        hollow=system.is_bound,
                    ),
                ),
            )
        )
        data.append(
            (results.name, system.name, system.is_bound, score.value, low, high,
             first, last, column.signature)
        )  # fmt: skip
        rank = "" if place is None else str(first) if first == last else f"{first}\N{EN DASH}{last}"
        rows.append(
            (
                system.name,
                text,
                between(low, high, column.unit) if low is not None and high is not None else "",
                "bound" if system.is_bound else rank,
            )
        )
    table = DataTable(
        name=f"ranking {results.name}",
        title=f"Ranking by {column.title} on {results.name}",
        header=("system", column.arrow, "95% interval", "rank"),
        rows=tuple(rows),
        notes=("Ranks that a paired bootstrap cannot exclude (p >= 0.05); bounds have none.",),
    )
    label = unit(column.unit).label
    title = f"{column.arrow} ({label})" if label else column.arrow
    header = ("direction", "system", "bound", "value", "low", "high", "rank_low", "rank_high",
              "signature")  # fmt: skip
    return Item(
        table=table,
        name="ranking",
        title=f"The result: systems by {column.title}",
        says=(
            f"{_people(column)}The interval says what other test sentences could change. Intervals "
            "that overlap are no test: systems are compared on the same sentences, and the ranks "
            "in the table say what that shows."
        ),
        alt=f"{column.title} of {len(rows)} systems, each a mark on its 95% interval.",
        csv=csv_text(header, data),
        draw=lambda: draw_rows(marks, title, logarithmic=column.unit == "perplexity"),
    )


def _in_order(results: DirectionResults, column: Column) -> list[Report]:
    """The systems, best first by a column; those without a score follow, and then the bounds."""

    def place(report: Report) -> tuple[bool, bool, float, str]:
        score = score_of(report, column)
        value = 0.0 if score is None or score.value is None else score.value
        better = -value if column.higher_is_better else value
        return report.system.is_bound, score is None, better, report.system.name

    return sorted(results.reports, key=place)


def _people(column: Column) -> str:
    told = in_full(column.metric, column.signature)
    return f"{told}. " if told else "How far people agree with it was not measured on this task. "


def _plane(
    results: DirectionResults,
    across: Axis,
    up: Axis,
    name: str,
    title: str,
    joined: Mapping[str, Sequence[str]],
) -> Item | None:
    plane = trade_off(results, across, up, joined)
    if plane is None:
        return None
    style, other = across.column, up.column
    curve_of = {m: c for c, members in plane.curves.items() for m in members}
    data, rows = [], []
    for p in sorted(plane.points, key=lambda p: (p.bound, not p.on_front, p.system)):
        wide, high = p.across or (None, None), p.up or (None, None)
        data.append(
            (results.name, p.system, p.bound, p.x, *wide, p.y, *high, p.on_front,
             curve_of.get(p.system, ""))
        )  # fmt: skip
        front = "bound" if p.bound else "yes" if p.on_front else ""
        rows.append((p.system, number(p.x, style.unit), number(p.y, other.unit), front))
    table = DataTable(
        name=f"{name} {results.name}",
        title=f"{style.title} and {other.title} on {results.name}",
        header=("system", style.arrow, other.arrow, "Pareto front"),
        rows=tuple(rows),
        notes=(
            "On the Pareto front: no other system is as good by both and better by one; bounds do "
            "not compete.",
        ),
    )
    x, y = style.metric, other.metric
    header = ("direction", "system", "bound", x, f"{x}_low", f"{x}_high", y, f"{y}_low",
              f"{y}_high", "pareto_front", "curve")  # fmt: skip
    joins = " A line joins the settings of one system." if plane.curves else ""
    return Item(
        table=table,
        name=name,
        title=title,
        says=(
            "Better is right and up. Crosses are 95% intervals; systems with a ring are on the "
            f"Pareto front, and what lies left of and below its line is beaten.{joins}"
        ),
        alt=f"{style.title} against {other.title} for {len(rows)} systems. Pareto front: "
        + (", ".join(plane.front) or "none"),
        csv=csv_text(header, data),
        draw=lambda: _drawn(plane),
    )


def _drawn(plane: TradeOff) -> Figure:
    across, up = (
        drawn_plane.Axis(
            title=f"{c.title} ({unit(c.unit).label})" if unit(c.unit).label else c.title,
            logarithmic=c.unit == "perplexity",
            higher_is_better=c.higher_is_better,
        )
        for c in (plane.across, plane.up)
    )
    return drawn_plane.draw_plane(plane.points, across, up, plane.curves)


def _distributions(
    results: DirectionResults,
    panels: Sequence[DistributionPanel],
    name: str,
    title: str,
    says: str,
) -> Item:
    header = ("direction", "metric", "name", "bound", "sentences", "mean", "p5", "p25", "p50",
              "p75", "p95", "signature")  # fmt: skip
    data, rows = [], []
    for panel in panels:
        column = panel.column
        for r in panel.rows:
            mean, quantiles = float(r.values.mean()), r.quantiles
            data.append(
                (results.name, column.metric, r.name, r.bound, len(r.values), mean, *quantiles,
                 r.signature)
            )  # fmt: skip
            shown = (number(v, column.unit) for v in (mean, *quantiles))
            rows.append((f"{panel.title}: {r.name}", str(len(r.values)), *shown))
    table = DataTable(
        name=f"{name} {results.name}",
        title=f"{title} on {results.name}",
        header=("", "sentences", "mean", "5%", "25%", "median", "75%", "95%"),
        rows=tuple(rows),
        notes=("Percentiles of the scores of single sentences; their mean is no corpus score.",),
    )
    return Item(
        table=table,
        name=name,
        title=title,
        says=says,
        alt=f"Histograms of {', '.join(p.title for p in panels)}, {len(rows)} in all.",
        csv=csv_text(header, data),
        draw=lambda: draw_distributions(panels),
    )
