"""One stylesheet per page, assembled at startup, so that a page loads no second file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DESIGN = Path(__file__).parent
TOKENS = DESIGN / "tokens.css"
GRADIO = DESIGN / "gradio.css"


def stylesheet(own: Iterable[Path], *, gradio: bool = False) -> str:
    """The tokens, followed by a page's own files in the given order.

    Args:
        own: CSS files.
        gradio: whether Gradio's script, and so its class for dark mode, is on the page.
    """
    shared = (TOKENS, GRADIO) if gradio else (TOKENS,)
    return "\n".join(file.read_text(encoding="utf-8") for file in (*shared, *own))
