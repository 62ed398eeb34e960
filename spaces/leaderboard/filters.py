"""The chips above the ranking that show and hide rows and columns; the browser does the work."""

from __future__ import annotations

from markupsafe import Markup

from .markup import el
from .ranking import Ranking
from .words import ASPECT_TITLES, FAMILIES


def filters(ranking: Ranking) -> Markup:
    """Family chips, the parallel-data choice, the column menu, and how many rows are left."""
    return el(
        "div",
        _families(ranking),
        _parallel(ranking),
        _columns(ranking),
        el("button", "Copy link", type="button", class_="quiet", data_action="copy"),
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
    present = {row.entry.report.system.needs_parallel for row in ranking.rows}
    if len(present) < 2:
        return None
    options = [
        el("option", "Any training data", value=""),
        el("option", "No parallel data", value="no"),
        el("option", "Needs parallel data", value="yes"),
    ]
    return el("select", options, data_local="parallel", aria_label="Training data", class_="small")


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
