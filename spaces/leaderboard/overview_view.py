"""All directions: the overview with its controls, legend and picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from ...metrics.registry import caution
from ...pipelines.meta import known as agreement
from ...plots.rows import Mark, Row
from .address import missing
from .data import Board, Entry, dataset_title, direction_title
from .figures import SERIES, better_right, icon, rows_picture
from .groups import protocol_key
from .markup import join, render, ui
from .overview import Overview, OverviewRow
from .places import MOST_TESTED, bold
from .query import VIEWS, Query
from .ranks import RankCache
from .runs import deviation
from .scene import View
from .standings import Standings
from .window import LONG, Window, window
from .words import BOLD, BOUNDS, metric_title, number, shortened, unit_text

_LONGEST_NAME = 32


def overview_view(board: Board, query: Query, ranks: RankCache) -> View:
    """All directions: systems x directions, for one metric."""
    overview, pending = ranks.overview_soon(board, query)
    if pending:
        return View(ui.notice("The table is being made."), VIEWS["overview"], pending=True)
    if overview is None:
        return View(ui.nothing_yet(board), VIEWS["overview"])
    standings, pending = ranks.standings(board, overview)
    groups = groupby(overview.columns, key=lambda c: c.direction.dataset)
    html = render(
        "overview.html",
        board=board,
        bold=bold,
        columns=overview.columns,
        deviation=deviation,
        groups=[(dataset_title(dataset), len([*some])) for dataset, some in groups],
        lines=_how_to_read(overview, standings, pending=pending),
        notes=_notes(query, overview),
        overview=overview,
        pickers=_pickers(overview),
        picture=across_box(overview) if len(overview.columns) > 1 else "",
        standings=standings,
        title=metric_title(overview.metric),
        whole=query.rows == "all",
        window=_window(overview, query) if len(overview.systems) > LONG else None,
    )
    title = f"{metric_title(overview.metric)} on all directions"
    return View(html, title, pending=pending)


def _window(overview: Overview, query: Query) -> Window[OverviewRow]:
    """The rows of a long table as the link sorts and searches them; without a choice, by wins."""
    key, worst = query.sort.removeprefix("-"), query.sort.startswith("-")
    columns = [column.key for column in overview.columns]
    higher = {"system": False, "rank": False, "mean": overview.higher_is_better}
    higher |= dict.fromkeys(columns, overview.higher_is_better)
    place = {row.system: -i for i, row in enumerate(overview.rows)}

    def value(row: OverviewRow) -> float | str | None:
        if key in columns:
            return row.values[columns.index(key)]
        if key == "rank":
            return row.mean_rank if row.covered == len(row.values) else None
        named = {"system": row.system.casefold(), "mean": row.mean}
        return named[key] if key in named else place[row.system]

    def about(row: OverviewRow) -> tuple[str, Entry]:
        return row.system, next(entry for entry in row.entries if entry is not None)

    descending = higher.get(key, True) != worst
    return window(overview.systems, overview.bounds, query, about, value, descending=descending)


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
    found = [ui.select("metric", "Metric", metrics, overview.metric)]
    if len(overview.datasets) > 1:
        datasets = [("", "All datasets"), *((d, dataset_title(d)) for d in overview.datasets)]
        found.append(ui.select("dataset", "Directions of", datasets, overview.dataset))
    key = protocol_key(overview.protocol)
    if len(overview.protocols) > 1:
        labels = _differences(overview.protocols)
        options = [
            (protocol_key(p), label) for p, label in zip(overview.protocols, labels, strict=True)
        ]
        found.append(ui.select("protocol", "Scored with", options, key))
    else:
        found.append(ui.hidden("protocol", key))
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


def _how_to_read(overview: Overview, standings: Standings, *, pending: bool) -> list[str]:
    """The legend below the table, for what is on the page."""
    count = len(overview.columns)
    lines = [BOLD]
    if pending:
        lines.append("The tests are being computed; bold and intervals appear when they are done.")
    elif not all(standings.tested):
        lines.append(
            f"Where the replicates for the test are missing, or more than {MOST_TESTED} systems "
            "would be compared, only the best value is bold."
        )
    lines.append(
        "Order: by the share of other systems that a system beats (Beats), comparing each two by "
        "their mean rank on the directions that both have; a draw is half a win."
    )
    if overview.why_no_rank is None:
        lines.append(
            f"Mean rank: the mean of a system's ranks on the {count} directions, 1 for the best. "
            "Below it, where they were tested, is its 95% interval: in each of 1,000 bootstrap "
            "replicates the systems are ranked on every direction anew. A grey one is over the "
            "directions that the system has, and compares with no other."
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
    return [*lines, BOUNDS] if overview.bounds else lines


def across_box(overview: Overview) -> Markup:
    """The picture with its title and caption."""
    count = len(overview.systems[: len(SERIES)])
    caption = "The first systems of the table. Hollow marks are bounds, which are not ranked."
    title = f"The best {count} systems, side by side" if count > 1 else "Direction by direction"
    return ui.figure("across", title, caption, across_directions(overview))


def across_directions(overview: Overview) -> Markup:
    """One metric of the best systems and of the bounds, on each direction."""
    systems, bounds = overview.systems[: len(SERIES)], overview.bounds[: len(SERIES)]
    shown = [
        *((*look, True, row) for look, row in zip(SERIES, bounds, strict=False)),
        *((*look, False, row) for look, row in zip(SERIES, systems, strict=False)),
    ]
    if all(v is None for *_, row in shown for v in row.values):
        return ui.quiet("No system has a score.")
    rows = []
    for i, column in enumerate(overview.columns):
        edition = f" #{column.edition}" if column.edition else ""
        name = f"{direction_title(column.direction)}{edition}"
        marks = [
            Mark(
                value=value,
                ink=ink,
                shape=shape,
                hollow=hollow,
                tip=f"{row.system}\n{name}: {number(value, overview.unit)}",
            )
            for ink, shape, hollow, row in shown
            if (value := row.values[i]) is not None
        ]
        rows.append(Row(name=name, marks=tuple(marks)))
    title = f"{metric_title(overview.metric)} ({unit_text(overview.unit)})"
    named = [
        (icon(ink, shape, hollow=hollow), shortened(row.system, _LONGEST_NAME))
        for ink, shape, hollow, row in (*shown[len(bounds) :], *shown[: len(bounds)])
    ]
    picture = rows_picture(
        tuple(rows),
        better_right(title),
        logarithmic=overview.unit == "perplexity",
        reverse=not overview.higher_is_better,
        broad=True,
    )
    return join([ui.marks_legend(named), picture])
