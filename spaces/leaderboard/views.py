"""Chooses the view of a query."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from .about import about_view
from .address import missing_view
from .controls import notice
from .data import Board
from .markup import el, join
from .overview_view import overview_view
from .picture_view import pictures_view
from .query import SYSTEM, VIEWS, Query
from .ranking_view import ranking_view
from .ranks import RankCache
from .sample_page import samples_view
from .scene import View
from .system_page import system_view
from .versus_page import versus_view

_VIEWS = {"overview": overview_view, "pictures": pictures_view, "samples": samples_view}


def render(board: Board, query: Query, ranks: RankCache) -> View:
    """The view of a query; every query has one, and says what it does not know."""

    def made() -> View:
        view, note = _view(board, query, ranks), missing_view(query)
        return replace(view, html=join([note, view.html])) if note else view

    return ranks.table("view", (board.revision, query), made, lambda view: not view.pending)


def _view(board: Board, query: Query, ranks: RankCache) -> View:
    if query.view == "about":
        return View(about_view(), VIEWS["about"])
    if query.view == "submit":  # made of Gradio's components, see submit_page.py
        waiting = el("p", "The form is loading\N{HORIZONTAL ELLIPSIS}", class_="form-loading")
        return View(waiting, VIEWS["submit"])
    make = _VIEWS.get(query.view, ranking_view)
    if not board.unread:
        return make(board, query, ranks)
    reading = notice(
        f"The results are still being read; reports left: {board.unread:,}. A direction is shown "
        "once all of its reports have been read."
    )
    view = make(board, query, ranks) if board.entries else View(Markup(), "Leaderboard")
    return replace(view, html=join([reading, view.html]), pending=True, status=200)


_VIEWS = {
    "overview": overview_view,
    "pictures": pictures_view,
    "samples": samples_view,
    "versus": versus_view,
    SYSTEM: system_view,
}
