"""The page's form controls: native elements, which all browsers and screen readers support.

``data-param`` names the query parameter that a control sets on the server; ``data-local`` one
that only the browser uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from urllib.parse import urlencode

from markupsafe import Markup

from ...datasets_scripts.directions import Direction
from .data import dataset_title, direction_title
from .markup import Child, el


def select(param: str, label: str, options: Iterable[tuple[str, str]], chosen: str) -> Markup:
    """A labelled choice of (value, text)."""
    return _field(label, [_option(value, text, chosen) for value, text in options], param)


def direction_select(directions: Sequence[Direction], chosen: Direction) -> Markup:
    """All directions, by dataset."""
    groups = [
        el(
            "optgroup",
            [_option(d.name, direction_title(d), chosen.name) for d in some],
            label=dataset_title(dataset),
        )
        for dataset, some in groupby(directions, key=lambda d: d.dataset)
    ]
    return _field("Direction", groups, "direction")


def search(label: str, placeholder: str, *, param: str | None = None, value: str = "") -> Markup:
    """A search field: searches on the server with ``param``, otherwise in the rows on the page."""
    return el(
        "label",
        el("span", label),
        el(
            "input",
            type="search",
            placeholder=placeholder,
            value=value or None,
            data_param=param,
            data_local=None if param else "q",
            autocomplete="off",
            spellcheck="false",
            maxlength=200,
        ),
        class_="field search",
    )


def hidden(param: str, value: str) -> Markup:
    """A choice that has no alternative now: a copied link names it, in case one comes."""
    return el("input", type="hidden", data_param=param, value=value)


def copy_link() -> Markup:
    """The button that copies an address which names everything that is shown."""
    return el("button", "Copy link", type="button", class_="quiet", data_action="copy")


def link(text: Child, **query: str) -> Markup:
    """A link to another state of the page; the script follows it without a reload."""
    return el("a", text, href="?" + urlencode(query), data_link=True)


def bar(*children: Child) -> Markup:
    """A row of controls."""
    fold = el(
        "button",
        "Filters",
        type="button",
        class_="quiet fold",
        data_action="fold",
        aria_expanded="false",
    )
    return el("div", children, fold, class_="controls")


def notice(*children: Child, kind: str = "note") -> Markup:
    """A box with a message for the reader."""
    return el("div", children, class_=f"notice {kind}", role="note")


def empty(title: str, *children: Child) -> Markup:
    """The placeholder for an empty view."""
    return el("div", el("h2", title), [el("p", child) for child in children], class_="empty")


def _field(label: str, options: Child, param: str) -> Markup:
    return el(
        "label",
        el("span", label),
        el("select", options, data_param=param),
        class_="field",
    )


def _option(value: str, text: str, chosen: str) -> Markup:
    return el("option", text, value=value, selected=value == chosen)
