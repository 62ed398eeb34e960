"""Chooses the view of a query; what the numbers mean, for first-time readers."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from ...citation import BIBTEX, PAPER
from ...datasets_scripts.sources import BENCHMARK
from ...metrics.registry import METRICS
from ...pipelines.meta import known
from ...pipelines.meta import known as agreement
from ...pipelines.meta.result import MetaScore
from ...version import __version__
from .address import missing_view
from .data import Board
from .markup import el, join, ui
from .overview_view import overview_view
from .picture_view import pictures_view
from .query import SYSTEM, VIEWS, Query
from .ranking_view import ranking_view
from .ranks import RankCache
from .sample_page import samples_view
from .scene import View
from .system_page import system_view
from .versus_page import versus_view
from .words import ASPECT_TITLES, BOLD, BOUNDS, FAMILIES, unit_text

HUB = "https://huggingface.co/tstbench"


def about_view() -> Markup:
    """Metrics, families, and the rules that this page follows."""
    rules = [
        "Scores share a column only when their signatures agree: same scorer, same protocol, same "
        "sentences. Scores made in another way are a separate setting, which you can choose.",
        "Every score has a 95% interval: a percentile bootstrap over sentences, 1,000 resamples.",
        "A rank is a range. Two systems that the paired bootstrap cannot tell apart (5% level, "
        "without correction for the number of pairs) share ranks.",
        f"{BOLD} It means this in every table.",
        BOUNDS,
        "A mean rank has a 95% interval where systems have all directions. A grey one is over "
        "some of them, and compares with no other.",
        "No mean is computed over missing cells or over different scales.",
        "Human scores are shown beside the automatic ones, separately for each study.",
    ]
    return el(
        "div",
        el("h2", "How to read this page"),
        el("ul", [el("li", rule) for rule in rules]),
        el("h2", "The metrics"),
        _metrics(),
        el("h2", "Kinds of system"),
        el(
            "dl",
            [
                join([el("dt", el("span", title, class_=f"badge {family}")), el("dd", meaning)])
                for family, (title, meaning) in FAMILIES.items()
            ],
            class_="kinds",
        ),
        _this(),
        class_="essay",
    )


def _this() -> Markup:
    """Version, repositories and citation."""
    places = [
        ui.https(PAPER, "The paper"),
        ui.https(HUB, "Results, datasets, metrics and scorers on the Hub"),
        ui.https(f"https://github.com/{BENCHMARK}", "Code and outputs of the paper's authors"),
    ]
    return join(
        [
            el("h2", "Version, repository and citation"),
            el("p", f"This page is made by TSTBench {__version__}."),
            el("ul", [el("li", place) for place in places]),
            el("p", "If you use it, please cite the paper, and the datasets and metrics you use:"),
            el("pre", BIBTEX, id="citation"),
        ]
    )


def _metrics() -> Markup:
    found = {name: agreement.by_study(name) for name in METRICS}
    studies = list(dict.fromkeys(study for scores in found.values() for study in scores))
    rows = [
        el(
            "tr",
            el("th", facts.title, scope="row"),
            el("td", ASPECT_TITLES[facts.aspect]),
            [_people(found[name].get(study)) for study in studies],
            el("td", facts.meaning, class_="wide"),
            el("td", unit_text(facts.unit)),
            el("td", facts.better),
        )
        for name, facts in METRICS.items()
    ]
    people = (f"{agreement.RHO} {agreement.study_title(study)}" for study in studies)
    titles = ("Metric", "Aspect", *people, "What it is", "Unit", "Better")
    head = [el("th", title, scope="col") for title in titles]
    table = el("table", el("thead", el("tr", head)), el("tbody", rows), class_="plain")
    if not studies:
        return ui.scrolling("Metrics", caller=lambda: table)
    terms = [el("li", text) for text in known.known_agreement().terms.values()]
    studies_html = join([el("h2", "The studies of human judgments"), el("ul", terms)])
    return join([_how_measured(), ui.scrolling("Metrics", caller=lambda: table), studies_html])


def _people(score: MetaScore | None) -> Markup:
    """A metric's agreement with people in one study."""
    if score is None:
        return el("td", "\N{EN DASH}")
    low, high = (agreement.signed(bound) for bound in known.interval_of(score))
    return el(
        "td",
        agreement.signed(score.value),
        el("small", f"{low} to {high}"),
        class_="people",
        title=f"{score.aspect.replace('_', ' ')}, {agreement.of_how_many(score)}",
    )


def _how_measured() -> Markup:
    """What the columns of human studies are, and where they are from."""
    dates = sorted(run.date for run in known.known_agreement().runs)
    return el(
        "p",
        f"{agreement.WHAT} Below each number is its 95% interval (bootstrap over source "
        "sentences). Measured with the scorers of the embedded profile, "
        f"{dates[0]}{f' to {dates[-1]}' if dates[-1] != dates[0] else ''}; another "
        "scorer may agree more or less.",
    )


_VIEWS = {"overview": overview_view, "pictures": pictures_view, "samples": samples_view}


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
