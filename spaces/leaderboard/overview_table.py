"""The overview as an HTML table: systems x directions, for one metric."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from ...metrics.units import DASH
from .controls import link
from .data import dataset_title
from .markup import el
from .overview import Overview, OverviewColumn, OverviewRow
from .places import bold
from .runs import deviation, deviation_text, run_links
from .standings import Standings
from .table_parts import SHOWN, doubt, framed, parallel_key, sort_header, system_facts
from .words import metric_title, number, styles_text


def overview_table(overview: Overview, standings: Standings, *, whole: bool = True) -> Markup:
    """Systems x directions, for one metric; bounds below."""
    columns = overview.columns
    groups = [
        el(
            "th",
            dataset_title(dataset),
            colspan=len(list(some)),
            scope="colgroup",
            class_="group dataset",
        )
        for dataset, some in groupby(columns, key=lambda c: c.direction.dataset)
    ]
    summaries = _summary_headers(overview)
    head = el(
        "thead",
        el("tr", el("td", class_="corner"), [el("td") for _ in summaries], groups, class_="groups"),
        el(
            "tr",
            sort_header("System", "system", "text", class_="system"),
            summaries,
            [_direction_header(i, column, overview) for i, column in enumerate(columns)],
        ),
    )
    return framed(
        f"{metric_title(overview.metric)} of each system on each direction",
        head,
        lambda i, row: _overview_row(i, row, overview, standings),
        overview.systems,
        overview.bounds,
        width=1 + len(summaries) + len(columns),
        whole=whole,
    )


def _summary_headers(overview: Overview) -> list[Markup]:
    count = len(overview.columns)
    found = []
    if overview.why_no_rank is None:
        found.append(
            sort_header(
                "Beats",
                "won",
                "number",
                small="% of others \N{UPWARDS ARROW}",
                hint="The share of the other systems that it beats: of each two, the one with the "
                "better mean rank on the directions that both have wins",
                class_="value mean",
            )
        )
        found.append(
            sort_header(
                "Mean rank",
                "rank",
                "number",
                higher=False,
                small=f"of {count} \N{DOWNWARDS ARROW}",
                hint=f"The mean of a system's ranks on the {count} directions",
                class_="value mean",
            )
        )
    if overview.why_no_mean is None:
        found.append(
            sort_header(
                "Mean",
                "mean",
                "number",
                higher=overview.higher_is_better,
                small=f"of {count}",
                hint=f"The mean of the {count} directions, each with equal weight",
                class_="value mean",
            )
        )
    return found


def _direction_header(index: int, column: OverviewColumn, overview: Overview) -> Markup:
    title = styles_text(column.direction).replace("→ ", "→\N{NO-BREAK SPACE}")
    return sort_header(
        f"{title} #{column.edition}" if column.edition else title,
        f"{column.direction.name}{'#' + column.edition if column.edition else ''}",
        "number",
        higher=overview.higher_is_better,
        hint=f"{metric_title(overview.metric)} on {column.direction.name}",
        class_="value styles",
        data_column=index,
        data_signature=column.signature,
    )


def _overview_row(index: int, row: OverviewRow, overview: Overview, standings: Standings) -> Markup:
    entry = next(entry for entry in row.entries if entry is not None)
    system = entry.report.system
    cells = []
    if overview.why_no_rank is None:
        won = el("span", DASH if row.is_bound else f"{row.won:.0%}".rstrip("%"))
        value = None if row.is_bound else row.won
        cells += [el("td", won, class_="value mean", data_value=value), _rank_cell(row, standings)]
    if overview.why_no_mean is None:
        cells.append(_mean_cell(row, overview.unit))
    cells += (_value_cell(i, row, overview, standings) for i in range(len(row.values)))
    return el(
        "tr",
        el(
            "th",
            el(
                "span",
                link(row.system, view="system", system=system.name),
                class_="name",
                title=system.origin,
            ),
            system_facts(
                system, run_links(entry.runs), doubt(*(e.report for e in row.entries if e))
            ),
            scope="row",
            class_="system",
        ),
        cells,
        data_name=row.system.casefold(),
        data_family=system.family,
        data_parallel=parallel_key(system),
        data_bound=row.is_bound,
        data_place=index,
        hidden=index >= SHOWN,
    )


def _value_cell(i: int, row: OverviewRow, overview: Overview, standings: Standings) -> Markup:
    value = row.values[i]
    if value is None:
        return el("td", el("span", DASH, class_="none"), class_="value")
    places = standings.places[i] if standings.places else {}
    best = bold(places.get(row.system), len(places))
    shown = el("b" if best else "span", number(value, overview.unit))
    entry = row.entries[i]
    spread = deviation(entry.report.scores[0]) if entry else None
    behind = deviation_text(spread, overview.unit)
    return el("td", shown, behind, class_="value", data_value=f"{value:.6g}")


def _rank_cell(row: OverviewRow, standings: Standings) -> Markup:
    if row.mean_rank is None:
        return el("td", el("span", DASH, class_="none"), class_="value mean")
    shown = f"{row.mean_rank:.2f}"
    if row.covered < len(row.values):
        hint = (
            "Over some of the directions, where others competed: not comparable with the mean "
            "ranks of other systems."
        )
        return el(
            "td",
            el("span", shown, title=hint, class_="none"),
            el("small", f"{row.covered} of {len(row.values)}"),
            class_="value mean",
        )
    interval = standings.mean_ranks.get(row.system)
    bounds = el("small", f"{interval[0]:.2f}{DASH}{interval[1]:.2f}") if interval else None
    return el(
        "td", el("span", shown), bounds, class_="value mean", data_value=f"{row.mean_rank:.6g}"
    )


def _mean_cell(row: OverviewRow, unit: str) -> Markup:
    if row.mean is None:
        note = f"{row.covered} of {len(row.values)}"
        hint = "No mean: a mean over only some of the directions would not be comparable."
        return el("td", el("span", note, class_="none", title=hint), class_="value mean")
    shown = el("span", number(row.mean, unit))
    return el("td", shown, class_="value mean", data_value=f"{row.mean:.6g}")
