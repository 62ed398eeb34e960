"""What every table of the page is made of; static/board.js brings them to life.

The browser sorts and filters what is here: every cell carries its value as data, and the server is
not asked again.
"""

from __future__ import annotations

from markupsafe import Markup

from ...pipelines.report import SystemInfo
from .markup import el, join
from .words import FAMILIES, parallel_text

SHOWN = 50  # rows of a long table before "show all"


def sort_header(
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


def system_facts(system: SystemInfo, *more: Markup | None) -> Markup:
    """What stands under a system's name: its kind, its training data, and what is given."""
    title, meaning = FAMILIES[system.family]
    badge = el("span", title, class_=f"badge {system.family}", title=meaning)
    return el("span", badge, _parallel_flag(system.needs_parallel), more, class_="meta")


def parallel_key(system: SystemInfo) -> str:
    """The value that the filter of training data compares with."""
    return {True: "yes", False: "no", None: "unknown"}[system.needs_parallel]


def _parallel_flag(needs_parallel: bool | None) -> Markup | None:
    if needs_parallel is None:
        return None
    mark = "parallel" if needs_parallel else "non-parallel"
    return el("span", mark, class_="flag", title=parallel_text(needs_parallel))


def framed(caption: str, head: Markup, body: Markup, rows: int) -> Markup:
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
