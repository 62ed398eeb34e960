"""HTML from Jinja2 templates, and a page's one style sheet.

Text is escaped, markup that a template made is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

DESIGN = Path(__file__).parent / "design"
TOKENS = DESIGN / "tokens.css"
GRADIO = DESIGN / "gradio.css"


def environment(folder: Path) -> Environment:
    """Return what renders the templates of a folder."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["sentence"] = _sentence
    return made


def _sentence(text: str) -> str:
    """With a capital letter, unless a file's name begins it; a full stop if nothing ends it."""
    if text.partition(" ")[0].isalpha():
        text = f"{text[:1].upper()}{text[1:]}"
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'}"


def stylesheet(own: Iterable[Path], *, gradio: bool = False) -> str:
    """The tokens, followed by a page's own files in the given order, so that it loads no second.

    Args:
        own: CSS files.
        gradio: whether Gradio's script, and so its class for dark mode, is on the page.
    """
    shared = (TOKENS, GRADIO) if gradio else (TOKENS,)
    return "\n".join(file.read_text(encoding="utf-8") for file in (*shared, *own))
