"""The chips above the ranking that show and hide rows and columns, all in the browser."""

from __future__ import annotations

from markupsafe import Markup

from ...metrics.units import DASH
from .controls import copy_link
from .download import download_buttons
from .markup import el
from .ranking import Ranking
from .words import ASPECT_TITLES, FAMILIES


def filters(ranking: Ranking) -> Markup:
    """Family chips, the parallel-data choice, the column menu and the number of rows shown."""
    return el(
        "div",
        _families(ranking),
        _parallel(ranking),
        _columns(ranking),
        _dates(ranking),
        copy_link(),
        download_buttons(),
        el("output", class_="count", role="status", aria_live="polite"),
        class_="filters",
    )


def _families(ranking: Ranking) -> Markup | None:
    present = {row.entry.report.system.family for row in ranking.rows}
    if len(present) < 2:
        return None
    chips = [
        el(
            "button",
            el("span", class_=f"dot {family}"),
            title,
            type="button",
            class_="chip",
            title=meaning,
            aria_pressed="false",
            data_local="family",
            value=family,
        )
        for family, (title, meaning) in FAMILIES.items()
        if family in present
    ]
    return el("div", chips, role="group", aria_label="Only these kinds of system", class_="chips")


def _parallel(ranking: Ranking) -> Markup | None:
    present = {row.entry.report.system.needs_parallel for row in ranking.systems}
    if len(present) < 2:
        return None
    options = [
        el("option", "Any training data", value=""),
        el("option", "No parallel data", value="no"),
        el("option", "Needs parallel data", value="yes"),
    ]
    return el("select", options, data_local="parallel", aria_label="Training data", class_="small")


def _dates(ranking: Ranking) -> Markup | None:
    """From and to, as a year or a month; offered are the dates that occur."""
    present = sorted({d for row in ranking.systems if (d := row.entry.report.system.date)})
    if len(present) < 2:
        return None
    fields = [
        el(
            "input",
            type="text",
            inputmode="numeric",
            pattern=r"\d{4}(-\d{2}){0,2}",
            placeholder=shown,
            size=7,
            maxlength=10,
            list="dates",
            data_local=name,
            aria_label=f"Dated {label}",
            title=f"Only systems dated {label}: a year such as 2018, or a month such as 2018-03",
            autocomplete="off",
        )
        for name, label, shown in (("from", "from", present[0]), ("to", "up to", present[-1]))
    ]
    offered = el("datalist", [el("option", value=date) for date in present], id="dates")
    return el("span", "Dated ", fields[0], DASH, fields[1], offered, class_="dates")


def _columns(ranking: Ranking) -> Markup:
    boxes = [
        el(
            "label",
            el("input", type="checkbox", checked=True, data_local="columns", value=column.key),
            el("span", column.title),
            el("small", column.study or ASPECT_TITLES.get(column.aspect, column.aspect)),
        )
        for column in ranking.columns
    ]
    return el(
        "details",
        el("summary", "Columns"),
        el("div", boxes, class_="menu"),
        class_="columns",
    )
