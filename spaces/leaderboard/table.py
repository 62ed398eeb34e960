"""The ranking as an HTML table: systems x metrics of one direction, in one setting."""

from __future__ import annotations

from itertools import groupby
from urllib.parse import urlencode

from markupsafe import Markup

from ...pipelines.meta import in_words as agreement
from .controls import link
from .data import Entry
from .markup import el, https_link
from .ranking import Cell, Column, Ranking, Row
from .runs import deviation_text, run_links
from .table_parts import SHOWN, doubt, framed, parallel_key, sort_header, system_facts
from .words import ASPECT_TITLES, interval_text, number, rank_text, unit_text


def ranking_table(ranking: Ranking, *, whole: bool = True) -> Markup:
    """Systems x metrics, in the order of the first column."""
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
    return framed(
        "Systems by metric, best first",
        head,
        lambda i, row: _ranking_row(i, row, columns),
        ranking.systems,
        ranking.bounds,
        width=3 + len(columns),
        whole=whole,
    )


def _groups(columns: tuple[Column, ...]) -> list[tuple[str, list[Column], int]]:
    """Consecutive columns of one aspect; human scores by study."""
    runs = []
    for (aspect, study), some in groupby(columns, key=lambda c: (c.aspect, c.study)):
        run = list(some)
        title = ASPECT_TITLES.get(aspect, aspect)
        runs.append((f"{title}: {study}" if study else title, run, len(run)))
    return runs


def _group_title(title: str, columns: list[Column]) -> Markup:
    return el("span", title, class_="study" if columns[0].human else None)


def _metric_header(index: int, column: Column) -> Markup:
    told = (column.meaning, column.caution, agreement.in_full(column.key, column.signature or ""))
    meaning = ". ".join(part for part in told if part)
    return sort_header(
        f"{column.title}†" if column.caution else column.title,
        column.key,
        "number",
        higher=column.higher_is_better,
        small=f"{unit_text(column.unit)} {'↑' if column.higher_is_better else '↓'}",
        beside=agreement.beside(column.key, column.signature or "") or None,
        hint=f"{column.title}: {meaning}",
        class_="value human" if column.human else "value",
        data_column=index,
        data_tested=column.tested,
        data_signature=column.signature,
        data_made_with="\n".join(column.made_with) or None,
        data_meaning=meaning,
    )


def _ranking_row(index: int, row: Row, columns: tuple[Column, ...]) -> Markup:
    system = row.entry.report.system
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
        data_bound=system.is_bound,
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
        el("span", link(entry.label, view="system", system=system.name), class_="name"),
        system_facts(system, outputs, run_links(entry.runs) or _versus(entry), doubt(entry.report)),
        scope="row",
        class_="system",
    )


def _versus(entry: Entry) -> Markup:
    return el(
        "a",
        "\N{RIGHTWARDS ARROW OVER LEFTWARDS ARROW}",
        href="?"
        + urlencode({"view": "versus", "direction": entry.direction.name, "first": entry.label}),
        data_link=True,
        class_="out",
        title="head to head",
        aria_label=f"{entry.label} head to head",
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
        deviation_text(cell.deviation, column.unit),
        bounds,
        class_="value human" if column.human else "value",
        data_value=f"{cell.value:.6g}",
        data_rank=rank_text(cell.ranks) if cell.ranks else None,
        title=cell.note,
        style=_bar(cell, column),
    )


def _bar(cell: Cell, column: Column) -> str | None:
    """The interval as fractions of the column's range, drawn as a line by the style sheet."""
    width = column.high - column.low
    if cell.low is None or cell.high is None or width <= 0:
        return None
    start, part = (cell.low - column.low) / width, (cell.high - cell.low) / width
    return f"--from:{start:.2f};--part:{part:.2f}"
