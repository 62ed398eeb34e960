"""The submit view: Gradio's components for upload, queue and progress; the preview is ours."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from ...datasets_scripts.directions import DATASETS, DIRECTIONS
from ...errors import TSTBenchError
from ...pipelines.report import Report, read_report
from .controls import link, notice
from .data import Board, Entry, Results, dataset_title
from .groups import settings
from .markup import el, https_link, join
from .ranking import build_ranking
from .submission import (
    FILE_TYPES,
    MAX_BYTES,
    Publish,
    ScoreSubmission,
    check_system,
    check_upload,
)
from .words import FAMILIES, interval_text, metric_title, number, rank_text, styles_text

_PARALLEL = {"not said": None, "yes": True, "no": False}
_KEPT_SECONDS = 3600  # a scored file that nobody adds
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Desk:
    """Everything that takes a submission: how it is scored, and where it goes."""

    results: Results
    score: ScoreSubmission
    publish: Publish
    directions: Sequence[str]


def submit_column(desk: Desk | None) -> None:
    """Lay out the submit view inside the open Blocks."""
    with gr.Column(elem_id="submit"):
        if desk is None:
            gr.HTML(_closed(), apply_default_css=False)
            return
        gr.HTML(_introduction(), apply_default_css=False)
        with gr.Row(equal_height=False, elem_id="submit-form"):
            with gr.Column(scale=1, min_width=280):
                upload = gr.File(
                    label="Rewrites",
                    file_types=list(FILE_TYPES),
                    type="filepath",
                    height=130,
                    elem_id="upload",
                )
                direction = gr.Dropdown(_choices(desk.directions), label="Direction")
                name = gr.Textbox(
                    label="Name of the system", max_length=100, placeholder="such as BART-large v2"
                )
                with gr.Row():
                    family = gr.Dropdown(
                        [(title, key) for key, (title, _) in FAMILIES.items()],
                        value="unknown",
                        label="Kind",
                        min_width=120,
                    )
                    parallel = gr.Dropdown(
                        list(_PARALLEL),
                        value="not said",
                        label="Needs parallel data",
                        min_width=120,
                    )
                with gr.Row():
                    date = gr.Textbox(
                        label="Date", max_length=10, placeholder="2026-05-17", min_width=120
                    )
                    url = gr.Textbox(
                        label="Link to outputs",
                        max_length=300,
                        placeholder="https://",
                        min_width=120,
                    )
                go = gr.Button("Check and score", variant="primary")
            with gr.Column(scale=1, min_width=280):
                preview = gr.HTML(_waiting(), apply_default_css=False, elem_id="preview")
                add = gr.Button(desk.publish.action, interactive=False, elem_id="publish")
        scored = gr.State(None, time_to_live=_KEPT_SECONDS, delete_callback=_forget)

    def score(
        path: str | None,
        direction_name: str | None,
        system_name: str,
        kind: str,
        pairs: str,
        when: str,
        link_to: str,
        progress: gr.Progress = gr.Progress(),  # noqa: B008 (how Gradio finds it)
    ) -> tuple[Markup, str | None, object]:
        scratch = Path(tempfile.mkdtemp(prefix="tstbench-submission-"))
        try:
            file = check_upload(path)
            if not direction_name:
                raise TSTBenchError("choose a direction")
            system = check_system(
                desk.results.board(),
                direction_name,
                system_name,
                family=kind,
                needs_parallel=_PARALLEL[pairs],
                date=when,
                outputs_url=link_to,
            )
            progress(0.0, desc="Checking the file")
            folder = desk.score(
                file, direction_name, system, scratch, lambda f, text: progress(f, desc=text)
            )
            shown = _preview(desk.results.board(), folder)
            return shown, str(folder), gr.Button(interactive=True, variant="primary")
        except TSTBenchError as error:
            shutil.rmtree(scratch, ignore_errors=True)
            message = str(error)
            if path:  # where uploads lie here is nobody's business
                message = message.replace(f"{Path(path).parent}/", "")
            return _refused(message), None, gr.Button(interactive=False)
        except Exception:
            _LOG.exception("scoring a submission failed")
            shutil.rmtree(scratch, ignore_errors=True)
            return _refused(_OUR_FAULT), None, gr.Button(interactive=False)

    def publish(folder: str | None) -> tuple[Markup, str | None, object]:
        if folder is None or not Path(folder).is_dir():
            return _refused("score a file first"), None, gr.Button(interactive=False)
        try:
            report = read_report(Path(folder))
            receipt = desk.publish(Path(folder))
        except TSTBenchError as error:
            return _refused(str(error)), folder, gr.Button(interactive=True)
        _forget(folder)
        there = https_link(receipt.url, "Open it") or link(
            "See it there", view="ranking", direction=report.direction
        )
        done = notice(el("p", receipt.message), el("p", there), kind="good")
        return done, None, gr.Button(interactive=False)

    outputs = [preview, scored, add]
    go.click(
        score,
        [upload, direction, name, family, parallel, date, url],
        outputs,
        api_name="submit",
        concurrency_limit=1,
        show_progress_on=preview,
    )
    add.click(
        publish,
        [scored],
        outputs,
        api_visibility="private",
        concurrency_limit=1,
        show_progress_on=preview,
    )


_OUR_FAULT = (
    "scoring stopped with an error of ours, not of your file; it is in the log. Please try again"
)


def _choices(directions: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (f"{dataset_title(DIRECTIONS[name].dataset)}: {styles_text(DIRECTIONS[name])}", name)
        for name in directions
    ]


def _forget(folder: str | None) -> None:
    """Remove a scored submission with the scratch folder around it."""
    if folder is None:
        return
    for path in (Path(folder), *Path(folder).parents):
        if path.name.startswith("tstbench-submission-"):
            shutil.rmtree(path, ignore_errors=True)
            return


def _introduction() -> Markup:
    licensed = ", ".join(facts.title for facts in DATASETS.values() if facts.licensed)
    return el(
        "div",
        el("h2", "Submit a system"),
        el(
            "p",
            "Upload what your system wrote for the test set: a text file with one rewrite a line, "
            "in the order of the sources, or JSONL or CSV with ids. It is checked and scored here "
            f"with the embedded profile. At most {MAX_BYTES >> 20} MiB.",
        ),
        el("p", f"{licensed}: only scores are published, never sentences.", class_="quiet-text"),
        class_="essay",
    )


def _closed() -> Markup:
    command = "tstbench evaluate outputs.txt --direction yelp/negative-to-positive --out results"
    return el(
        "div",
        el("h2", "Submit a system"),
        el("p", "This copy of the leaderboard takes no uploads. Score your file with"),
        el("pre", command),
        el("p", "and it is listed here as soon as the folder holds its report."),
        class_="essay",
    )


def _waiting() -> Markup:
    return el(
        "div",
        el("h3", "Preview"),
        el("p", "The scores appear here before anything is published."),
        class_="preview-empty",
    )


def _refused(message: str) -> Markup:
    sentence = message[:1].upper() + message[1:]
    ending = "" if sentence.endswith((".", "!", "?")) else "."
    body = el("p", sentence + ending)
    return notice(el("h3", "Not accepted"), body, kind="warning")


def _preview(board: Board, folder: Path) -> Markup:
    """The scores of a submission, and its place among what it can be compared with."""
    report = read_report(folder)
    entry = Entry(report.system.name, DIRECTIONS[report.direction], folder, report, True)
    found = [s for s in settings([*board.of(report.direction), entry]) if entry in s.entries]
    setting = found[0]
    ranking = build_ranking(board, setting, {})
    row = next(row for row in ranking.rows if row.entry is entry)
    rows = []
    for column, cell in zip(ranking.columns, row.cells, strict=True):
        if column.human or cell.value is None:
            continue
        bounds = (
            interval_text(cell.low, cell.high, column.unit)
            if cell.low is not None and cell.high is not None
            else ""
        )
        place = f"{rank_text(cell.ranks)} of {len(ranking.rows)}" if cell.ranks else ""
        rows.append(
            el(
                "tr",
                el("th", column.title, scope="row"),
                el("td", el("b", number(cell.value, column.unit)), class_="value"),
                el("td", bounds, class_="value"),
                el("td", place, class_="value"),
            )
        )
    titles = ("Score", "95% interval", "Place by value")
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
    beside = f"compared with {others} others" if others else "the first with these scorers"
    return f"{report.direction}, {report.data.sentences} sentences, {beside}."


def _left_out(report: Report) -> Markup | None:
    if not report.left_out:
        return None
    said = (f"{metric_title(o.metric)}: {o.why}" for o in report.left_out)
    return el("p", join(["Left out. ", "; ".join(said), "."]), class_="quiet-text")
