"""HTML that is safe from injection: text becomes markup only through :func:`el`.

``markupsafe`` keeps the two apart by type: a ``Markup`` is HTML made here, any other
string is text and is escaped when it is put into markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup, escape

from ...metrics.units import DASH
from ...pipelines.ranked_table import DOUBT
from ...pipelines.report import SystemInfo
from ..templates import environment
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

_VOID = frozenset({"br", "hr", "img", "input", "meta"})

Child = object  # a Markup, a text or number to be escaped, None, or an iterable of these


def el(tag: str, *children: Child, **attributes: object) -> Markup:
    """One element.

    Args:
        tag: the element's name.
        children: what is inside; ``None`` is nothing, iterables are flattened, text is escaped.
        attributes: ``class_`` for ``class``, ``data_x`` for ``data-x``; ``None`` and ``False``
            omit the attribute, ``True`` writes it without a value.

    >>> el("a", "1 < 2", class_="x", data_value=3, hidden=True, title=None)
    Markup('<a class="x" data-value="3" hidden>1 &lt; 2</a>')
    """
    opening = tag
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        opening += f" {name}" if value is True else f' {name}="{escape(value)}"'
    if tag in _VOID:
        return Markup(f"<{opening}>")  # noqa: S704
    pieces: list[str] = []
    _collect(children, pieces)
    return Markup(f"<{opening}>{''.join(pieces)}</{tag}>")  # noqa: S704


def join(children: Iterable[Child]) -> Markup:
    """Escape text, flatten iterables, and concatenate everything."""
    pieces: list[str] = []
    _collect(children, pieces)
    return Markup("".join(pieces))  # noqa: S704


def _collect(children: Iterable[Child], pieces: list[str]) -> None:
    for child in children:
        if type(child) is Markup:
            pieces.append(child)
        elif child is None:
            continue
        elif isinstance(child, str) or not isinstance(child, Iterable):
            pieces.append(escape(child))
        else:
            _collect(child, pieces)


def render(name: str, **values: object) -> Markup:
    """What a template makes of the values: text is escaped, markup is not."""
    return Markup(_environment().get_template(name).render(**values))  # noqa: S704


class _Macros:
    """The macros of macros.html, as functions that return markup."""

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        macro: Callable[..., Markup] = getattr(
            _environment().get_template("macros.html").module, name
        )
        return macro


ui = _Macros()


@cache
def _environment() -> Environment:
    made = environment(Path(__file__).parent / "templates")
    made.globals.update(
        DASH=DASH,
        DOUBT=DOUBT,
        SHOWN=SHOWN,
        aspects=ASPECT_TITLES,
        families=FAMILIES,
        interval_text=interval_text,
        metric_title=metric_title,
        number=number,
        parallel_key=_parallel_key,
        parallel_text=parallel_text,
        rank_text=rank_text,
        styles_text=styles_text,
        unit_text=unit_text,
    )
    return made


def _parallel_key(system: SystemInfo) -> str:
    """The value for the filter by training data."""
    if system.is_bound:  # nothing was trained
        return "unknown"
    return {True: "yes", False: "no", None: "unknown"}[system.needs_parallel]
