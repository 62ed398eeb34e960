"""The parts of every table of the page; static/js/ adds the behaviour.

The browser sorts and filters: every cell has its value as data. A long table comes with its first
rows alone, and the script asks for the whole one behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from markupsafe import Markup

from ...pipelines.ranked_table import DOUBT
from ...pipelines.report import Report, SystemInfo
from .markup import el, join
from .words import FAMILIES, parallel_text

SHOWN = 50  # rows of a long table before "show all"
Row = TypeVar("Row")


def sort_header(
    title: str,
    key: str,
    kind: str,
    *,
    higher: bool = True,
    small: str | None = None,
    beside: str | None = None,
    hint: str | None = None,
    **attributes: object,
) -> Markup:
    """A header whose button sorts; the script updates ``aria-sort``."""
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
            el("small", beside, class_="people") if beside else None,
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


def system_facts(system: SystemInfo, *more: Markup | None) -> Markup:
    """The line below a system's name: its kind, its training data, and the given text."""
    title, meaning = FAMILIES[system.family]
    badge = el("span", title, class_=f"badge {system.family}", title=meaning)
    origin = el("span", system.origin, class_="origin", title=system.origin)
    return join(
        [
            el("span", badge, _parallel_flag(system), more, class_="meta"),
            origin if system.origin else None,
        ]
    )


def doubt(*reports: Report) -> Markup | None:
    """That something looks wrong with a system's outputs; the pointer shows what."""
    said = "; ".join(warning for report in reports for warning in report.warnings)
    return el("span", f"{DOUBT} careful", class_="flag", title=said) if said else None


def parallel_key(system: SystemInfo) -> str:
    """The value for the filter by training data."""
    if system.is_bound:  # nothing was trained
        return "unknown"
    return {True: "yes", False: "no", None: "unknown"}[system.needs_parallel]


def _parallel_flag(system: SystemInfo) -> Markup | None:
    key = parallel_key(system)
    if key == "unknown":
        return None
    mark = "parallel" if key == "yes" else "non-parallel"
    return el("span", mark, class_="flag", title=parallel_text(system.needs_parallel))


def scrolling(table: Markup, label: str) -> Markup:
    """A table in a box that scrolls sideways, so that the page does not; its edges say so."""
    label = f"{label}. Scrolls sideways."
    box = el("div", table, class_="scroller", tabindex="0", role="region", aria_label=label)
    return el("div", box, class_="edge")


def framed(
    caption: str,
    head: Markup,
    draw: Callable[[int, Row], Markup],
    systems: Sequence[Row],
    bounds: Sequence[Row],
    *,
    width: int,
    whole: bool,
) -> Markup:
    """The table that is sorted and filtered, with what stands below a long or an empty one.

    Args:
        caption: of the table.
        head: its header.
        draw: one row, with its place.
        systems: what is ranked.
        bounds: what stands below it, under a heading of its own.
        width: how many columns there are.
        whole: whether a long table has all its rows; otherwise the script asks for the others.
    """
    first = None if whole else SHOWN
    heading = el(
        "tr",
        el("th", el("span", "Bounds: not ranked"), colspan=width, scope="rowgroup"),
        class_="heading",
    )
    below = [draw(0, row) for row in bounds[:first]]
    table = el(
        "table",
        el("caption", caption, class_="unseen"),
        head,
        el("tbody", [draw(i, row) for i, row in enumerate(systems[:first])]),
        el("tbody", heading, below, class_="bounds") if bounds else None,
        class_="board",
        data_left_out=not whole and max(len(systems), len(bounds)) > SHOWN,
    )
    more = el(
        "button",
        f"Show all {len(systems)} systems",
        type="button",
        class_="quiet more",
        data_action="more",
    )
    nothing = el(
        "p",
        "No system matches. ",
        el("button", "Clear the filters", type="button", class_="link", data_action="clear"),
        class_="nothing",
        hidden=True,
    )
    return join([scrolling(table, caption), nothing, more if len(systems) > SHOWN else None])
