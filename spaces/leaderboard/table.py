"""The ranking as an HTML table: systems x metrics of one direction, in one setting."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from .data import Entry
from .markup import el, https_link
from .ranking import Cell, Column, Ranking, Row
from .table_parts import SHOWN, framed, parallel_key, sort_header, system_facts
from .words import ASPECT_TITLES, interval_text, number, rank_text, unit_text


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
            sort_header("System", "system", "text", class_="system"),
            [_metric_header(i, column) for i, column in enumerate(columns)],
            sort_header("Date", "date", "text", class_="date"),
        ),
    )
    body = el("tbody", [_ranking_row(i, row, columns) for i, row in enumerate(ranking.rows)])
    return framed("Systems by metric, best first", head, body, len(ranking.rows))


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
    return sort_header(
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
        data_parallel=parallel_key(system),
        data_origin=system.origin,
        data_outputs=report.outputs_sha256[:16],
        data_profile=report.profile,
        data_version=report.tstbench,
        data_sentences=report.data.sentences,
        hidden=index >= SHOWN,
    )


def _system_cell(entry: Entry) -> Markup:
    system = entry.report.system
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
        system_facts(system, outputs),
        scope="row",
        class_="system",
    )


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
