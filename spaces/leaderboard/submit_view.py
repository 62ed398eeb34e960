"""The texts of the submit view: introduction, refusal, and preview of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from markupsafe import Markup

from ...datasets_scripts.catalog import DATASETS, DIRECTIONS
from ...errors import InputError
from ...pipelines.output_checks import Suspicion
from ...pipelines.report import Report, read_report
from .controls import notice
from .data import Board, Entry
from .groups import settings
from .markup import el, join
from .ranking import build_ranking
from .runs import together
from .submission import MAX_BYTES
from .words import interval_text, metric_title, number, rank_text


def introduction() -> Markup:
    """What can be uploaded, and what happens to it."""
    licensed = ", ".join(facts.title for facts in DATASETS.values() if facts.licensed)
    return el(
        "div",
        el("h2", "Submit a system"),
        el(
            "p",
            "Upload your system's rewrites of the test set: a text file with one rewrite per "
            "line, in the order of the sources, or JSONL or CSV with ids. It is checked and scored "
            f"here with the embedded profile. At most {MAX_BYTES >> 20} MiB.",
        ),
        el("p", f"{licensed}: only scores are published, never sentences.", class_="quiet-text"),
        class_="essay",
    )


def closed() -> Markup:
    """What to do if uploads are not accepted."""
    command = "tstbench evaluate outputs.txt --direction yelp/negative-to-positive --out results"
    return el(
        "div",
        el("h2", "Submit a system"),
        el("p", "This copy of the leaderboard does not accept uploads. Score your file with"),
        el("pre", command),
        el("p", "and it is listed here as soon as its report is in the folder."),
        class_="essay",
    )


def working(step: str) -> Markup:
    """What is being done; it takes the place of whatever was said before."""
    body = [el("h3", "Scoring"), el("p", _sentence(f"{step} ...")), el("i", class_="progress")]
    return el("div", body, class_="preview-empty", role="status", aria_live="polite")


def doubtful(suspicions: Sequence[Suspicion]) -> Markup:
    """What looks wrong with a file, and how to go on."""
    items = [
        el("li", el("b", _sentence(s.what)), f" ({s.where}) {_sentence(s.what_to_do)}")
        for s in suspicions
    ]
    how = "If this is really what your system wrote, tick the box on the form and score it again."
    return notice(
        el("h3", "Please look at the file"), el("ul", items), el("p", how), kind="warning"
    )


def waiting() -> Markup:
    """The placeholder of the preview."""
    return el(
        "div",
        el("h3", "Preview"),
        el("p", "The scores appear here before anything is published."),
        class_="preview-empty",
    )


def refused(message: str) -> Markup:
    """An error message as a sentence, in a warning."""
    return notice(el("h3", "Not accepted"), el("p", _sentence(message)), kind="warning")


def _sentence(text: str) -> str:
    """With a capital letter, unless a file's name begins it; a full stop if nothing ends it."""
    if text.partition(" ")[0].isalpha():
        text = f"{text[:1].upper()}{text[1:]}"
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'}"


def preview(board: Board, folder: Path) -> Markup:
    """The scores of a submission, and its rank among comparable systems.

    Raises:
        InputError: it has no scores.
    """
    report = read_report(folder)
    if not report.scores:
        reasons = "; ".join(f"{metric_title(one.metric)}: {one.why}" for one in report.left_out)
        raise InputError(f"no metric could be computed, so there is nothing to add. {reasons}")
    entry = Entry(report.system.name, DIRECTIONS[report.direction], folder, report, True)
    setting = next(
        replace(setting, entries=together(setting.entries))
        for setting in settings([*board.of(report.direction), entry])
        if any(one.folder == folder for one in setting.entries)
    )
    ranking = build_ranking(board, setting, {})
    row = next(row for row in ranking.rows if row.entry.folder == folder)
    rows = []
    for column, cell in zip(ranking.columns, row.cells, strict=True):
        if column.human or cell.value is None:
            continue
        bounds = (
            interval_text(cell.low, cell.high, column.unit)
            if cell.low is not None and cell.high is not None
            else ""
        )
        place = f"{rank_text(cell.ranks)} of {len(ranking.systems)}" if cell.ranks else ""
        rows.append(
            el(
                "tr",
                el("th", column.title, scope="row"),
                el("td", el("b", number(cell.value, column.unit)), class_="value"),
                el("td", bounds, class_="value"),
                el("td", place, class_="value"),
            )
        )
    titles = ("Score", "95% interval", "Rank by value")
    numbers = [el("th", title, scope="col", class_="value") for title in titles]
    head = [el("th", "Metric", scope="col"), numbers]
    others = len(ranking.rows) - 1
    return el(
        "div",
        el("h3", f"Preview: {report.system.name}"),
        el("p", _compared(report, others)),
        el("table", el("thead", el("tr", head)), el("tbody", rows), class_="plain"),
        _left_out(report),
        class_="preview",
    )


def _compared(report: Report, others: int) -> str:
    beside = f"compared with {others} others" if others else "the first system with these scorers"
    return f"{report.direction}, {report.data.sentences} sentences, {beside}."


def _left_out(report: Report) -> Markup | None:
    if not report.left_out:
        return None
    said = (f"{metric_title(o.metric)}: {o.why}" for o in report.left_out)
    return el("p", join(["Left out. ", "; ".join(said), "."]), class_="quiet-text")
