"""HTML from Jinja2 templates: text is escaped, markup that was made by a template is not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


def render(name: str, **values: object) -> Markup:
    """Return what a template makes of the values.

    Args:
        name: of the template, by its path in this folder.
        values: text, which is escaped, ``Markup``, or objects that the template reads.
    """
    return Markup(_environment().get_template(name).render(**values))  # noqa: S704


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = _sentence
    return environment


def _sentence(text: str) -> str:
    """With a capital letter, unless a file's name begins it; a full stop if nothing ends it."""
    if text.partition(" ")[0].isalpha():
        text = f"{text[:1].upper()}{text[1:]}"
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'}"
