"""Chooses the view of a query; what the numbers mean, for first-time readers."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from ...citation import BIBTEX, PAPER
from ...datasets_scripts.sources import BENCHMARK
from ...metrics.registry import METRICS
from ...pipelines.meta import known as agreement
from ...version import __version__
from .address import missing_view
from .data import Board
from .markup import join, ui
from .markup import render as template
from .overview_view import overview_view
from .picture_view import pictures_view
from .query import SYSTEM, VIEWS, Query
from .ranking_view import ranking_view
from .ranks import RankCache
from .sample_page import samples_view
from .scene import View
from .system_page import system_view
from .versus_page import versus_view
from .words import BOLD, BOUNDS

HUB = "https://huggingface.co/tstbench"


def about_view() -> Markup:
    """Metrics, families, and the rules that this page follows."""
    found = {name: agreement.by_study(name) for name in METRICS}
    runs = agreement.known_agreement()
    return template(
        "about.html",
        agreement=agreement,
        bibtex=BIBTEX,
        bold=BOLD,
        bounds=BOUNDS,
        dates=sorted(run.date for run in runs.runs),
        found=found,
        interval_of=agreement.interval_of,
        metrics=METRICS,
        places=[
            (PAPER, "The paper"),
            (HUB, "Results, datasets, metrics and scorers on the Hub"),
            (f"https://github.com/{BENCHMARK}", "Code and outputs of the paper's authors"),
        ],
        studies=list(dict.fromkeys(study for scores in found.values() for study in scores)),
        terms=runs.terms.values(),
        version=__version__,
    )


def render(board: Board, query: Query, ranks: RankCache) -> View:
    """The view of a query; every query has one, and says what it does not know."""

    def made() -> View:
        view, note = _view(board, query, ranks), missing_view(query)
        return replace(view, html=join([note, view.html]), revision=board.revision)

    return ranks.table("view", (board.revision, query), made, lambda view: view.pending)


def _view(board: Board, query: Query, ranks: RankCache) -> View:
    if query.view == "about":
        return View(about_view(), VIEWS["about"])
    if query.view == "submit":  # its form is beside the stage, see submit.py
        return View(Markup(), VIEWS["submit"])
    make = _VIEWS.get(query.view, ranking_view)
    if not board.unread:
        return make(board, query, ranks)
    reading = ui.notice(
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
