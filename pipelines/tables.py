"""Tables for people, in the terminal; plain and tab-separated when piped."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..metrics.facts import METRICS

if TYPE_CHECKING:
    from .ranking import Rank
    from .report import Report, Score

DECIMALS = {"percent": 1, "fraction": 3, "perplexity": 1}


def print_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a header: a table in a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in (header, *rows):
            print("\t".join(row))  # noqa: T201
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)


def print_table(table: Table) -> None:
    """Print a table whole: it is not squeezed to a narrow terminal, nor to a pipe's 80 columns."""
    console = Console()
    needed = Console(width=1000).measure(table).maximum
    Console(width=max(console.width, needed)).print(table)


def ranking_table(reports: Sequence[Report], ranks: Mapping[str, Sequence[Rank]]) -> Table:
    """The systems of one direction x their metrics, best first by Joint where there is one.

    Args:
        reports: one a system, of the same direction.
        ranks: the ranking by each metric.

    The best value is bold, or starred where standard output shows no bold (a pipe, a file).
    """
    has_bold = Console().color_system is not None
    metrics = [name for name in METRICS if any(r.score(name) for r in reports)]
    chosen = ranking_metric(ranks)
    places = {metric: {r.system: r for r in some} for metric, some in ranks.items()}
    first = reports[0]
    title = f"{first.direction} · {first.data.sentences} sentences · profile {first.profile}"
    table = Table(
        title=title,
        min_width=len(title),  # a table of one metric would break it in the middle of a word
        caption=f"ranked by {METRICS[chosen].title}; below each value its 95% interval; "
        f"{'bold' if has_bold else '*'}: best, =: not significantly different from it "
        "(paired bootstrap, p >= 0.05)"
        if chosen
        else "no metric has a value here",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("rank", justify="right")
    table.add_column("system", no_wrap=True)
    for metric in metrics:
        arrow = "↑" if METRICS[metric].higher_is_better else "↓"
        table.add_column(f"{METRICS[metric].title} {arrow}", justify="right", no_wrap=True)
    for report in ordered(reports, ranks):
        name = report.system.name
        place = places.get(chosen, {}).get(name)
        cells = [_cell(report.score(m), places.get(m, {}).get(name), has_bold) for m in metrics]
        table.add_row(_range(place.low, place.high) if place else "–", escape(name), *cells)
    return table


def ranking_metric(ranks: Mapping[str, Sequence[Rank]]) -> str:
    """The metric that orders a table: Joint where it ranks, else the first; ``""`` for none."""
    return "joint" if "joint" in ranks else next(iter(ranks), "")


def ordered(reports: Sequence[Report], ranks: Mapping[str, Sequence[Rank]]) -> list[Report]:
    """The reports, best first; those that the metric does not rank come last."""
    order = [r.system for r in ranks.get(ranking_metric(ranks), ())]
    by_name = {report.system.name: report for report in reports}
    return [by_name[n] for n in [*order, *(n for n in by_name if n not in order)]]


def _cell(score: Score | None, place: Rank | None, has_bold: bool) -> str:
    """Value and mark, and below them the interval."""
    if score is None or score.value is None:
        return "–"
    decimals = DECIMALS[score.unit]
    text = f"{score.value:.{decimals}f}"
    if place is not None and place.is_best:
        text = f"[bold]{text}[/bold] " if has_bold else f"{text}*"
    else:
        text += "=" if place is not None and place.ties_best else " "
    if score.interval is None:
        return text
    bounds = f"{score.interval.low:.{decimals}f}–{score.interval.high:.{decimals}f}"
    return f"{text}\n[dim]{bounds}[/dim] "


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
