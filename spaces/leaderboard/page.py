"""The page: Gradio serves it, its API answers for the views, and its components take submissions.

The shell and the first view are put into the HTML before Gradio's own script has loaded
(prerender.py), so that nobody waits for a table.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from ...errors import TSTBenchError
from .controls import notice
from .data import Results
from .markup import el
from .prerender import Prerender
from .query import Query
from .ranks import RankCache
from .scene import View
from .submit_page import Desk, submit_column
from .theme import theme
from .views import render

_LOG = logging.getLogger(__name__)


class Page:
    """Everything that is served of one results folder.

    Args:
        results: the folder.
        desk: takes submissions; without one, the page says how to go without.
    """

    def __init__(self, results: Results, desk: Desk | None = None) -> None:
        self._results = results
        self._ranks = RankCache()
        gr.set_static_paths([plotly_script()])
        with gr.Blocks(
            title="TSTBench leaderboard", analytics_enabled=False, delete_cache=(3600, 3600)
        ) as self.blocks:
            gr.api(self.view, api_name="view", queue=False, concurrency_limit=None)
            gr.api(self.style_map, api_name="style_map", queue=False, concurrency_limit=None)
            submit_column(desk)

    def view(self, query: dict[str, Any]) -> dict[str, Any]:
        """A view of the leaderboard as HTML and figures, for the query parameters of a link."""
        shown = self.render(Query.parse(query))
        return {**vars(shown), "html": str(shown.html)}

    def style_map(self, query: dict[str, Any]) -> dict[str, Any]:
        """The map of styles of one direction: the one picture that takes seconds."""
        from .picture_view import map_view

        shown = _safely(lambda: map_view(self._results.board(), Query.parse(query), self._ranks))
        return {**vars(shown), "html": str(shown.html)}

    def render(self, query: Query) -> View:
        """The view of a query; an error becomes a view that says so."""
        return _safely(lambda: render(self._results.board(), query, self._ranks))

    def serving_options(self) -> dict[str, Any]:
        """What ``Blocks.launch`` needs beside an address."""
        prerender = Middleware(Prerender, view=self.render, plotly=plotly_script())
        return {
            "app_kwargs": {"middleware": [prerender]},
            "theme": theme(),
            "footer_links": [],
            "quiet": True,
            "show_error": False,
            "ssr_mode": False,
        }


@cache
def plotly_script() -> Path:
    """The plotly.js that belongs to our plotly: no other would draw its figures surely."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise TSTBenchError("plotly is not installed: pip install 'tstbench[space]'")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def _safely(make: Callable[[], View]) -> View:
    try:
        return make()
    except TSTBenchError as error:
        return View(notice(str(error), kind="warning"), "Error")
    except Exception:
        _LOG.exception("a view failed")
        text = "This view failed with an error of ours; it is in the log. The others still work."
        return View(notice(el("p", text), kind="warning"), "Error")
