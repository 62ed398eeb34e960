"""Which view a query asks for."""

from __future__ import annotations

from .about import about_view
from .data import Board
from .markup import el
from .query import VIEWS, Query
from .ranking_view import overview_view, ranking_view
from .ranks import RankCache
from .sample_page import samples_view
from .scene import View


def render(board: Board, query: Query, ranks: RankCache) -> View:
    """The view that a query asks for; every query gets one."""
    if query.view == "about":
        return View(about_view(), VIEWS["about"])
    if query.view == "submit":  # made of Gradio's components, see submit_page.py
        waiting = el("p", "The form is loading\N{HORIZONTAL ELLIPSIS}", class_="form-loading")
        return View(waiting, VIEWS["submit"])
    if query.view == "pictures":
        from .picture_view import pictures_view  # plotly takes longer to import than a table takes

        return pictures_view(board, query, ranks)
    view = {"overview": overview_view, "samples": samples_view}.get(query.view, ranking_view)
    return view(board, query, ranks)
