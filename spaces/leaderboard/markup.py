"""HTML that is safe from injection: text becomes markup only in templates, and in :func:`join`.

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
from ..templates import environment
from .words import (
    ASPECT_TITLES,
    FAMILIES,
    interval_text,
    metric_title,
    number,
    parallel_key,
    parallel_text,
    rank_text,
    styles_text,
    unit_text,
)

SHOWN = 50  # rows of a long table before "show all"

Child = object  # a Markup, a text or number to be escaped, None, or an iterable of these


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
        parallel_key=parallel_key,
        parallel_text=parallel_text,
        rank_text=rank_text,
        styles_text=styles_text,
        unit_text=unit_text,
    )
    return made
