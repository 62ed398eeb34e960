"""The overview as an HTML table: systems x directions, for one metric."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from .data import dataset_title
from .markup import el
from .overview import Overview, OverviewColumn, OverviewRow
from .table_parts import SHOWN, framed, parallel_key, sort_header, system_facts
from .words import metric_title, number, styles_text


def overview_table(overview: Overview) -> Markup:
    """Systems x directions, for one metric."""
    columns = overview.columns
    groups = [
        el("th", dataset_title(dataset), colspan=len(list(some)), scope="colgroup", class_="group")
        for dataset, some in groupby(columns, key=lambda c: c.direction.dataset)
    ]
    mean = overview.why_no_mean is None
    mean_header = sort_header(
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
            sort_header("System", "system", "text", class_="system"),
            mean_header if mean else None,
            [_direction_header(i, column, overview) for i, column in enumerate(columns)],
        ),
    )
    best = [_best(overview, i) for i in range(len(columns))]
    body = el(
        "tbody", [_overview_row(i, row, overview, best) for i, row in enumerate(overview.rows)]
    )
    caption = f"{metric_title(overview.metric)} of each system on each direction"
    return framed(caption, head, body, len(overview.rows))


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
    return el(
        "tr",
        el(
            "th",
            el("span", row.system, class_="name"),
            system_facts(system),
            scope="row",
            class_="system",
        ),
        cells,
        data_name=row.system.casefold(),
        data_family=system.family,
        data_parallel=parallel_key(system),
        hidden=index >= SHOWN,
    )


def _mean_cell(row: OverviewRow, unit: str, present: int) -> Markup:
    if row.mean is None:
        note = f"{present} of {len(row.values)}"
        hint = "No mean: a mean over some of the directions would not compare."
        return el("td", el("span", note, class_="none", title=hint), class_="value mean")
    shown = el("span", number(row.mean, unit))
    return el("td", shown, class_="value mean", data_value=f"{row.mean:.6g}")
