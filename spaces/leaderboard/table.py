"""The ranking and the overview as HTML tables: pure functions from rows to markup.

The browser sorts and filters what is here (static/board.js): every cell carries its value and its
rank as data, and the server is not asked again.
"""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from .data import Entry, dataset_title
from .markup import el, https_link, join
from .overview import Overview, OverviewColumn, OverviewRow
from .ranking import Cell, Column, Ranking, Row
from .words import (
    ASPECT_TITLES,
    FAMILIES,
    interval_text,
    metric_title,
    number,
    parallel_text,
    rank_text,
    styles_text,
    unit_text,
)

SHOWN = 50  # rows of a long table before "show all"


def ranking_table(ranking: Ranking) -> Markup:
    """Systems x metrics, the first column's order."""
    columns = ranking.columns
    groups = [
        el("th", _group_title(title, list(some)), colspan=size, scope="colgroup", class_="group")
        for title, some, size in _groups(columns)
    ]
    head = el(
        "thead",
        el("tr", el("td", colspan=2, class_="corner"), groups, el("td"), class_="groups"),
        el(
            "tr",
            el("th", "Rank", el("small", data_ranked_by=True), scope="col", class_="rank"),
            _sort_header("System", "system", "text", class_="system"),
            [_metric_header(i, column) for i, column in enumerate(columns)],
            _sort_header("Date", "date", "text", class_="date"),
        ),
    )
    body = el("tbody", [_ranking_row(i, row, columns) for i, row in enumerate(ranking.rows)])
    return _framed("Systems by metric, best first", head, body, len(ranking.rows))


def overview_table(overview: Overview) -> Markup:
    """Systems x directions, for one metric."""
    columns = overview.columns
    groups = [
        el("th", dataset_title(dataset), colspan=len(list(some)), scope="colgroup", class_="group")
        for dataset, some in groupby(columns, key=lambda c: c.direction.dataset)
    ]
    mean = overview.why_no_mean is None
    mean_header = _sort_header(
        f"Mean of {len(columns)}",
        "mean",
        "number",
        higher=overview.higher_is_better,
        class_="value mean",
    )
    head = el(
        "thead",
        el("tr", el("td", class_="corner"), el("td") if mean else None, groups, class_="groups"),
        el(
            "tr",
            _sort_header("System", "system", "text", class_="system"),
            mean_header if mean else None,
            [_direction_header(i, column, overview) for i, column in enumerate(columns)],
        ),
    )
    best = [_best(overview, i) for i in range(len(columns))]
    body = el(
        "tbody", [_overview_row(i, row, overview, best) for i, row in enumerate(overview.rows)]
    )
    caption = f"{metric_title(overview.metric)} of each system on each direction"
    return _framed(caption, head, body, len(overview.rows))


# -- the ranking -----------------------------------------------------------------------------------


def _groups(columns: tuple[Column, ...]) -> list[tuple[str, list[Column], int]]:
    """Runs of columns of one aspect; human scores by study."""
    runs = []
    for (aspect, study), some in groupby(columns, key=lambda c: (c.aspect, c.study)):
        run = list(some)
        title = ASPECT_TITLES.get(aspect, aspect)
        runs.append((f"{title}: {study}" if study else title, run, len(run)))
    return runs


def _group_title(title: str, columns: list[Column]) -> Markup:
    return el("span", title, class_="study" if columns[0].human else None)


def _metric_header(index: int, column: Column) -> Markup:
    return _sort_header(
        column.title,
        column.key,
        "number",
        higher=column.higher_is_better,
        small=f"{unit_text(column.unit)} {'↑' if column.higher_is_better else '↓'}",
        hint=f"{column.title}: {column.meaning}",
        class_="value human" if column.human else "value",
        data_column=index,
        data_tested=column.tested,
        data_signature=column.signature,
        data_meaning=column.meaning,
    )


def _sort_header(
    title: str,
    key: str,
    kind: str,
    *,
    higher: bool = True,
    small: str | None = None,
    hint: str | None = None,
    **attributes: object,
) -> Markup:
    """A header whose button sorts; ``aria-sort`` is kept by the script."""
    signature = attributes.get("data_signature")
    details = el(
        "button",
        "i",
        type="button",
        class_="info",
        data_action="signature",
        aria_label=f"What {title} depends on: its signature",
    )
    return el(
        "th",
        el(
            "button",
            el("span", title),
            el("small", small) if small else None,
            type="button",
            class_="sort",
            data_action="sort",
            title=hint,
        ),
        details if signature else None,
        scope="col",
        data_key=key,
        data_kind=kind,
        data_higher="1" if higher else "0",
        **attributes,
    )


def _ranking_row(index: int, row: Row, columns: tuple[Column, ...]) -> Markup:
    report = row.entry.report
    system = report.system
    first = row.cells[0].ranks if row.cells else None
    return el(
        "tr",
        el("td", rank_text(first) if first else "\N{EN DASH}", class_="rank"),
        _system_cell(row.entry),
        [_value_cell(cell, column) for cell, column in zip(row.cells, columns, strict=True)],
        el("td", system.date or "\N{EN DASH}", class_="date", data_value=system.date),
        data_name=row.entry.label.casefold(),
        data_family=system.family,
        data_parallel={True: "yes", False: "no", None: "unknown"}[system.needs_parallel],
        data_origin=system.origin,
        data_outputs=report.outputs_sha256[:16],
        data_profile=report.profile,
        data_version=report.tstbench,
        data_sentences=report.data.sentences,
        hidden=index >= SHOWN,
    )


def _system_cell(entry: Entry) -> Markup:
    system = entry.report.system
    title, meaning = FAMILIES[system.family]
    outputs = https_link(
        system.outputs_url,
        "\N{NORTH EAST ARROW}",
        class_="out",
        title="outputs",
        aria_label=f"Outputs of {entry.label}",
    )
    return el(
        "th",
        el("button", entry.label, type="button", class_="name", data_action="system"),
        el(
            "span",
            el("span", title, class_=f"badge {system.family}", title=meaning),
            _parallel_flag(system.needs_parallel),
            outputs,
            class_="meta",
        ),
        scope="row",
        class_="system",
    )


def _parallel_flag(needs_parallel: bool | None) -> Markup | None:
    if needs_parallel is None:
        return None
    mark = "parallel" if needs_parallel else "non-parallel"
    return el("span", mark, class_="flag", title=parallel_text(needs_parallel))


def _value_cell(cell: Cell, column: Column) -> Markup:
    if cell.value is None:
        return el("td", el("span", "\N{EN DASH}", title=cell.note, class_="none"), class_="value")
    bounds = None
    if cell.low is not None and cell.high is not None:
        bounds = el("small", interval_text(cell.low, cell.high, column.unit))
    return el(
        "td",
        el("b" if cell.best else "span", number(cell.value, column.unit)),
        bounds,
        class_="value human" if column.human else "value",
        data_value=f"{cell.value:.6g}",
        data_rank=rank_text(cell.ranks) if cell.ranks else None,
        title=cell.note,
        style=_bar(cell, column),
    )


def _bar(cell: Cell, column: Column) -> str | None:
    """The interval as shares of the column's range, for the style sheet to draw as a line."""
    width = column.high - column.low
    if cell.low is None or cell.high is None or width <= 0:
        return None
    start, part = (cell.low - column.low) / width, (cell.high - cell.low) / width
    return f"--from:{start:.2f};--part:{part:.2f}"


# -- the overview ----------------------------------------------------------------------------------


def _direction_header(index: int, column: OverviewColumn, overview: Overview) -> Markup:
    title = styles_text(column.direction).replace("→ ", "→\N{NO-BREAK SPACE}")
    return _sort_header(
        f"{title} #{column.edition}" if column.edition else title,
        f"{column.direction.name}{'#' + column.edition if column.edition else ''}",
        "number",
        higher=overview.higher_is_better,
        hint=f"{metric_title(overview.metric)} on {column.direction.name}",
        class_="value styles",
        data_column=index,
        data_signature=column.signature,
    )


def _best(overview: Overview, i: int) -> float | None:
    values = [row.values[i] for row in overview.rows]
    present = [value for value in values if value is not None]
    if not present:
        return None
    return max(present) if overview.higher_is_better else min(present)


def _overview_row(
    index: int, row: OverviewRow, overview: Overview, best: list[float | None]
) -> Markup:
    entry = next(entry for entry in row.entries if entry is not None)
    system = entry.report.system
    present = sum(value is not None for value in row.values)
    cells = [_mean_cell(row, overview.unit, present)] if overview.why_no_mean is None else []
    for value, top in zip(row.values, best, strict=True):
        if value is None:
            cells.append(el("td", el("span", "\N{EN DASH}", class_="none"), class_="value"))
            continue
        shown = el("b" if value == top else "span", number(value, overview.unit))
        cells.append(el("td", shown, class_="value", data_value=f"{value:.6g}"))
    title, meaning = FAMILIES[system.family]
    return el(
        "tr",
        el(
            "th",
            el("span", row.system, class_="name"),
            el(
                "span",
                el("span", title, class_=f"badge {system.family}", title=meaning),
                _parallel_flag(system.needs_parallel),
                class_="meta",
            ),
            scope="row",
            class_="system",
        ),
        cells,
        data_name=row.system.casefold(),
        data_family=system.family,
        data_parallel={True: "yes", False: "no", None: "unknown"}[system.needs_parallel],
        hidden=index >= SHOWN,
    )


def _mean_cell(row: OverviewRow, unit: str, present: int) -> Markup:
    if row.mean is None:
        note = f"{present} of {len(row.values)}"
        hint = "No mean: a mean over some of the directions would not compare."
        return el("td", el("span", note, class_="none", title=hint), class_="value mean")
    shown = el("span", number(row.mean, unit))
    return el("td", shown, class_="value mean", data_value=f"{row.mean:.6g}")


# -- both ------------------------------------------------------------------------------------------


def _framed(caption: str, head: Markup, body: Markup, rows: int) -> Markup:
    """A table in a box that scrolls sideways, so that the page never does."""
    table = el("table", el("caption", caption, class_="unseen"), head, body, class_="board")
    more = el(
        "button",
        f"Show all {rows} systems",
        type="button",
        class_="quiet more",
        data_action="more",
    )
    frame = el(
        "div",
        table,
        class_="scroller",
        tabindex="0",
        role="region",
        aria_label=f"{caption}. Scrolls sideways.",
    )
    nothing = el(
        "p",
        "No system matches. ",
        el("button", "Clear the filters", type="button", class_="link", data_action="clear"),
        class_="nothing",
        hidden=True,
    )
    return join([frame, nothing, more if rows > SHOWN else None])
