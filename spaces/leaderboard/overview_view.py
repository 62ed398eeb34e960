"""All directions: the overview with its controls, legend and picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from ...metrics.registry import caution
from ...metrics.units import DASH
from ...pipelines.meta import known as agreement
from .address import missing
from .controls import bar, copy_link, hidden, link, search, select
from .data import Board, dataset_title, direction_title
from .download import download_buttons
from .groups import protocol_key
from .marks import MOST_SERIES, in_series, legend
from .markup import el, join
from .overview import Overview, OverviewColumn, OverviewRow
from .places import bold
from .query import VIEWS, Query
from .ranks import RankCache
from .row_chart import Block, Dot, Line, better_right, row_chart
from .runs import deviation, deviation_text, run_links
from .scales import around
from .scene import View, figure_box, nothing_yet, problems
from .standings import Standings
from .table_parts import SHOWN, doubt, framed, parallel_key, sort_header, system_facts
from .words import BOLD, BOUNDS, metric_title, number, shortened, styles_text, unit_text


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


_LONGEST_NAME = 32


def overview_view(board: Board, query: Query, ranks: RankCache) -> View:
    """All directions: systems x directions, for one metric."""
    overview = ranks.overview(board, query)
    if overview is None:
        return View(nothing_yet(board), VIEWS["overview"])
    standings, pending = ranks.standings(board, overview)
    picture = across_box(overview) if len(overview.columns) > 1 else None
    html = join(
        [
            bar(*_pickers(overview), search("Find a system", "name")),
            _notes(query, overview),
            problems(board),
            el("div", download_buttons(), copy_link(), class_="filters"),
            overview_table(overview, standings, whole=query.rows == "all"),
            _how_to_read(overview, standings, pending=pending),
            picture,
        ]
    )
    title = f"{metric_title(overview.metric)} on all directions"
    return View(html, title, pending=pending)


def _notes(query: Query, overview: Overview) -> list[Markup | None]:
    """What the address asked for and the results do not have."""
    return [
        missing("metric", query.metric, overview.metrics, metric_title(overview.metric)),
        missing("dataset", query.dataset, overview.datasets, "all datasets"),
        missing(
            "way of scoring",
            query.protocol,
            [protocol_key(p) for p in overview.protocols],
            "the one with most results",
        ),
    ]


def _pickers(overview: Overview) -> list[Markup]:
    metrics = [(metric, metric_title(metric)) for metric in overview.metrics]
    found = [select("metric", "Metric", metrics, overview.metric)]
    if len(overview.datasets) > 1:
        datasets = [("", "All datasets"), *((d, dataset_title(d)) for d in overview.datasets)]
        found.append(select("dataset", "Directions of", datasets, overview.dataset))
    key = protocol_key(overview.protocol)
    if len(overview.protocols) > 1:
        labels = _differences(overview.protocols)
        options = [
            (protocol_key(p), label) for p, label in zip(overview.protocols, labels, strict=True)
        ]
        found.append(select("protocol", "Scored with", options, key))
    else:
        found.append(hidden("protocol", key))
    return found


def _differences(protocols: Sequence[str]) -> list[str]:
    """What distinguishes protocols: the fields that not all of them share.

    >>> _differences(["acc|classifier:linear|text:v1", "acc|classifier:roberta|text:v1"])
    ['classifier linear', 'classifier roberta']
    """
    fields = [protocol.split("|")[1:] for protocol in protocols]
    shared = set(fields[0]).intersection(*fields[1:])
    own = [[f.replace(":", " ", 1) for f in some if f not in shared] for some in fields]
    return [", ".join(some) or "the rest" for some in own]


def _how_to_read(overview: Overview, standings: Standings, *, pending: bool) -> Markup:
    """The legend below the table, for what is on the page."""
    count = len(overview.columns)
    lines = [BOLD]
    if pending:
        lines.append("The tests are being computed; bold and intervals appear when they are done.")
    elif not all(standings.tested):
        lines.append("Where the replicates for the test are missing, only the best value is bold.")
    lines.append(
        "Order: by the share of other systems that a system beats (Beats), comparing each two by "
        "their mean rank on the directions that both have; a draw is half a win."
    )
    if overview.why_no_rank is None:
        lines.append(
            f"Mean rank: the mean of a system's ranks on the {count} directions, 1 for the best; "
            "below it, its 95% interval: in each of 1,000 bootstrap replicates the systems are "
            "ranked on every direction anew. A grey one is over the directions that the system "
            "has, and compares with no other."
        )
    lines.append(
        f"No mean is shown: {overview.why_no_mean}."
        if overview.why_no_mean
        else f"Mean: over all {count} directions with equal weight; a system without scores on "
        "all of them has no mean."
    )
    if told := agreement.in_full(overview.metric):
        lines.append(f"{told}.")
    notes = (caution(overview.metric, column.signature) for column in overview.columns)
    lines += (f"† {note}." for note in dict.fromkeys(notes) if note)
    lines += [BOUNDS] if overview.bounds else []
    return el("div", [el("p", line) for line in lines], class_="legend")


def across_box(overview: Overview) -> Markup:
    """The picture with its title and caption."""
    count = len(overview.systems[:MOST_SERIES])
    caption = "The first systems of the table. Hollow marks are bounds, which are not ranked."
    title = f"The best {count} systems, side by side" if count > 1 else "Direction by direction"
    return figure_box("across", title, caption, across_directions(overview))


def across_directions(overview: Overview) -> Markup:
    """One metric of the best systems and of the bounds, on each direction."""
    systems, bounds = overview.systems[:MOST_SERIES], overview.bounds[:MOST_SERIES]
    shown = [
        *((in_series(n, bound=True), row) for n, row in enumerate(bounds)),
        *((in_series(n), row) for n, row in enumerate(systems)),
    ]
    present = [v for _, row in shown for v in row.values if v is not None]
    if not present:
        return el("p", "No system has a score.", class_="quiet-text")
    scale = around(
        present,
        reverse=not overview.higher_is_better,
        logarithmic=overview.unit == "perplexity",
    )
    lines = []
    for i, column in enumerate(overview.columns):
        edition = f" #{column.edition}" if column.edition else ""
        label = f"{direction_title(column.direction)}{edition}"
        items = [
            Dot(value, None, mark, f"{row.system}\n{label}: {number(value, overview.unit)}")
            for mark, row in shown
            if (value := row.values[i]) is not None
        ]
        lines.append(Line(label, items))
    title = f"{metric_title(overview.metric)} ({unit_text(overview.unit)})"
    named = [(mark, shortened(row.system, _LONGEST_NAME)) for mark, row in shown]
    named = [*named[len(bounds) :], *named[: len(bounds)]]
    return join([legend(named), row_chart([Block(lines)], scale, better_right(title))])
