"""The page: a shell, a stage that the views are put on, and the submit view below it."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from ...errors import TSTBenchError
from .controls import notice
from .data import Results
from .markup import el
from .query import Query
from .ranks import RankCache
from .scene import View
from .shell import footer, shell
from .submit_page import Desk, submit_column
from .views import render

_STATIC = Path(__file__).parent / "static"
_LOG = logging.getLogger(__name__)


def build_page(results: Results, desk: Desk | None = None) -> gr.Blocks:
    """The page of a results folder; without a desk it takes no submissions."""
    ranks = RankCache()

    def view(query: Any) -> dict[str, Any]:
        """Called by the script for every view, with the parameters of the link."""
        return _answer(lambda: render(results.board(), Query.parse(query), ranks))

    def style_map(query: Any) -> dict[str, Any]:
        """Called by the script for the one picture that takes seconds."""
        from .picture_view import map_view

        return _answer(lambda: map_view(results.board(), Query.parse(query), ranks))

    gr.set_static_paths([plotly_script()])
    with gr.Blocks(
        title="TSTBench leaderboard", analytics_enabled=False, delete_cache=(3600, 3600)
    ) as page:
        gr.HTML(
            shell(plotly_script()),
            js_on_load=(_STATIC / "board.js").read_text("utf-8"),
            server_functions=[view, style_map],
            apply_default_css=False,
            elem_id="board",
        )
        submit_column(desk)
        gr.HTML(footer(), apply_default_css=False, elem_id="foot")
    return page


def serving_options() -> dict[str, Any]:
    """What ``Blocks.launch`` needs beside an address."""
    return {
        "head": _head(),
        "theme": _theme(),
        "footer_links": [],
        "quiet": True,
        "show_error": False,
        "ssr_mode": False,
    }


def _head() -> str:
    """Meta tags and our style, in the page from its first byte.

    Not as ``css``: Gradio would repeat every rule below a selector of its own, where rules about
    the body match nothing and lose to their neighbours.
    """
    style = (_STATIC / "style.css").read_text("utf-8")
    return f"{(_STATIC / 'head.html').read_text('utf-8')}<style>{style}</style>"


@cache
def plotly_script() -> Path:
    """The plotly.js that belongs to our plotly: no other would draw its figures surely."""
    import importlib.util

    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise TSTBenchError("plotly is not installed: pip install 'tstbench[space]'")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def _answer(make: Any) -> dict[str, Any]:
    """A view as JSON; an error as a view that says so."""
    try:
        view = make()
    except TSTBenchError as error:
        view = View(notice(str(error), kind="warning"), "Error")
    except Exception:
        _LOG.exception("a view failed")
        text = "This view failed with an error of ours; it is in the log. The others still work."
        view = View(notice(el("p", text), kind="warning"), "Error")
    return {
        "html": str(view.html),
        "title": view.title,
        "figures": view.figures,
        "pending": view.pending,
    }


def _theme() -> gr.themes.Base:
    """Gradio's own components in the page's colours; see the variables in style.css."""
    font = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial"]
    mono = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Liberation Mono", "monospace"]
    both = {
        "body_background_fill": "var(--paper)",
        "body_text_color": "var(--ink)",
        "body_text_color_subdued": "var(--muted)",
        "background_fill_primary": "var(--surface)",
        "background_fill_secondary": "var(--surface)",
        "block_background_fill": "var(--surface)",
        "block_border_color": "var(--line)",
        "block_label_background_fill": "var(--surface)",
        "block_label_text_color": "var(--muted)",
        "block_title_text_color": "var(--muted)",
        "border_color_primary": "var(--line)",
        "border_color_accent": "var(--accent)",
        "color_accent_soft": "var(--accent-soft)",
        "input_background_fill": "var(--surface)",
        "input_border_color": "var(--line-strong)",
        "input_border_color_focus": "var(--accent)",
        "input_placeholder_color": "var(--muted)",
        "button_primary_background_fill": "var(--accent)",
        "button_primary_background_fill_hover": "var(--accent-strong)",
        "button_primary_text_color": "var(--on-accent)",
        "button_secondary_background_fill": "var(--surface)",
        "button_secondary_background_fill_hover": "var(--accent-soft)",
        "button_secondary_text_color": "var(--ink)",
        "button_secondary_border_color": "var(--line-strong)",
    }
    values = {**both, **{f"{name}_dark": value for name, value in both.items()}}
    theme = gr.themes.Base(font=font, font_mono=mono, radius_size="sm")
    return theme.set(**values, block_shadow="none", block_border_width="1px")
