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
    from ..metrics.statistics import Interval
    from .evaluate import Evaluation
    from .ranking import Rank

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


def ranking_table(evaluation: Evaluation) -> Table:
    """Systems x metrics, best first by the last metric that ranks them all.

    The best value of a column is bold; ``=`` marks values that a paired bootstrap cannot tell from
    it. Rank ranges are those of the metric in the table's caption.
    """
    ranks = evaluation.ranks
    chosen = ranking_metric(evaluation)
    order = [r.system for r in ranks.get(chosen, [])]
    order += [s.info.name for s in evaluation.systems if s.info.name not in order]
    places = {metric: {r.system: r for r in some} for metric, some in ranks.items()}
    intervals = {
        (system.info.name, measured.metric): measured.interval()
        for system in evaluation.systems
        for measured in evaluation.measurements(system)
    }
    table = Table(
        title=f"{evaluation.test_set.direction} · {len(evaluation.test_set)} sentences · "
        f"profile {evaluation.profile.name}",
        caption=f"ranked by {METRICS[chosen].title}; below each value its 95% interval; bold: best, "
        "=: not significantly different from it (paired bootstrap, p >= 0.05)",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("rank", justify="right")
    table.add_column("system", no_wrap=True)
    for metric in evaluation.metrics:
        arrow = "↑" if METRICS[metric].higher_is_better else "↓"
        table.add_column(f"{METRICS[metric].title} {arrow}", justify="right")
    for name in order:
        place = places.get(chosen, {}).get(name)
        cells = [
            _cell(metric, places.get(metric, {}).get(name), intervals.get((name, metric)))
            for metric in evaluation.metrics
        ]
        table.add_row(_range(place.low, place.high) if place else "–", escape(name), *cells)
    return table


def ranking_metric(evaluation: Evaluation) -> str:
    """The metric that orders the table: Joint where it was computed, else the first."""
    ranks: Mapping[str, object] = evaluation.ranks
    return "joint" if "joint" in ranks else next(iter(ranks), evaluation.metrics[0])


def _cell(metric: str, place: Rank | None, interval: Interval | None) -> str:
    """Value and mark, and below them the interval."""
    if place is None:
        return "–"
    decimals = DECIMALS[METRICS[metric].unit]
    text = f"{place.value:.{decimals}f}"
    if place.low == 1 and place.p_best == 1.0:
        text = f"[bold]{text}[/bold] "
    else:
        text += "=" if place.ties_best else " "
    if interval is None:
        return text
    return f"{text}\n[dim]{interval.low:.{decimals}f}–{interval.high:.{decimals}f}[/dim] "


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"
