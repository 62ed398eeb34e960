"""The submit view: its form, the queue that scores what it sends, and what the visitor is told."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...datasets_scripts.catalog import DATASETS, DIRECTIONS
from ...datasets_scripts.load import load_test_set
from ...errors import InputError, TSTBenchError
from ...files import process_folder
from ...pipelines.outputs import SUFFIXES
from ...pipelines.report import read_report
from ..jobs import Job, Queue, Tickets
from .data import Board, Entry, Results, direction_title
from .facts import Facts
from .groups import settings
from .markup import render, ui
from .ranking import build_ranking
from .runs import together
from .submission import (
    MAX_BYTES,
    Publish,
    ScoreSubmission,
    check_outputs,
    check_system,
    check_upload,
)
from .words import FAMILIES, interval_text, metric_title, number, rank_text

_PARALLEL = {"yes": True, "no": False}
_KEPT = 100  # submissions; a scored one has a folder
_ABSENCE = 300.0  # seconds: a browser hardly lets a page ask that is not in sight
_FULL = "Too many files are waiting to be scored. Try again in some minutes."
_OUR_FAULT = (
    "scoring failed because of a bug, not because of your file; see the log. Please try again"
)
_NOT_PUBLISHED = (
    "publishing failed because of a bug, not because of your file; see the log. The scores are not "
    "lost: try again"
)
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Form:
    """What a visitor sent.

    Attributes:
        file: the content of the upload.
        filename: what it is called there, which is only ever shown.
        confirmed: the visitor was told what looks wrong with the file, and stands by it.
    """

    file: bytes = b""
    filename: str = ""
    direction: str = ""
    name: str = ""
    family: str = "unknown"
    parallel: str = "not stated"
    date: str = ""
    url: str = ""
    confirmed: bool = False


class Desk:
    """Takes submissions: one is scored at a time, shown, and published if its sender wants it.

    Args:
        results: what it is compared with.
        score: scores one file.
        publish: puts it where it belongs.
        directions: those that can be submitted to.
    """

    def __init__(
        self,
        results: Results,
        score: ScoreSubmission,
        publish: Publish,
        directions: Sequence[str],
    ) -> None:
        self._results, self._score, self._publish = results, score, publish
        self._directions = directions
        self._queue = Queue(self._work, "scoring", full=_FULL, bug=_OUR_FAULT, absence=_ABSENCE)
        self._tickets: Tickets[Job] = Tickets(_KEPT, _forget)

    def form(self) -> Markup:
        """The view."""
        return render(
            "submit.html",
            directions=[DIRECTIONS[name] for name in self._directions],
            first=self.first,
            title=direction_title,
            licensed=_licensed(),
            families=FAMILIES,
            most=MAX_BYTES >> 20,
            publish=self._publish.action,
        )

    @property
    def first(self) -> str:
        """The direction that the ranking opens on, if it can be submitted to."""
        shown = self._results.directions()  # the port opens before the reports have been read
        return next((name for name in shown if name in self._directions), self._directions[0])

    def submit(self, form: Form) -> dict[str, Any]:
        """Let a form wait for its turn; returns the ticket to ask with."""
        job = self._queue.ask(Job(form, step="waiting for its turn"))
        return {"ticket": self._tickets.issue(job), **_told(job)}

    def look(self, ticket: Any) -> dict[str, Any]:
        """How far a submission is.

        Returns:
            ``html`` for the preview; whether there is more to come (``open``), whether it can be
            published (``scored``) and whether its sender must confirm it (``doubtful``).

        Raises:
            NotThereError: there is no such ticket.
        """
        job = self._tickets.find(ticket)
        job.touch()
        return _told(job)

    def add(self, ticket: Any) -> dict[str, Any]:
        """Publish what was scored; returns what :meth:`look` does.

        Raises:
            NotThereError: there is no such ticket.
        """
        job = self._tickets.find(ticket)
        if not isinstance(job.result, _Scored) or not job.result.folder.is_dir():
            return _answer(refused="score a file first")
        try:
            report = read_report(job.result.folder)
            receipt = self._publish(job.result.folder)
        except TSTBenchError as error:
            return _answer(scored=True, refused=str(error))
        except Exception:
            _LOG.exception("publishing a submission failed")
            return _answer(scored=True, refused=_NOT_PUBLISHED)
        self._results.board()  # the link to it shows it
        _forget(job)
        there = ui.https(receipt.url, "Open it") or ui.link(
            "See it there", view="ranking", direction=report.direction
        )
        return _answer(receipt=receipt, there=there)

    def sources(self, direction: Any) -> dict[str, str]:
        """The sentences to rewrite, one per line: name and text of a file.

        Raises:
            TSTBenchError: they are not here, or must not be given away.
        """
        if direction not in self._directions or DATASETS[direction.split("/")[0]].licensed:
            raise InputError(f"the sentences of {direction} are not offered")
        text = "".join(f"{source}\n" for source in load_test_set(direction).sources)
        return {"name": f"{direction.replace('/', '.')}.txt", "text": text}

    def close(self) -> None:
        """Score nothing more."""
        self._queue.close()

    def _work(self, job: Job) -> _Scored | _Doubtful:
        scratch = Path(tempfile.mkdtemp(prefix="tstbench-submission-", dir=process_folder()))
        scored = None
        try:
            scored = self._scored(job, scratch)
        finally:
            if not isinstance(scored, _Scored):
                shutil.rmtree(scratch, ignore_errors=True)
        return scored

    def _scored(self, job: Job, scratch: Path) -> _Scored | _Doubtful:
        form: Form = job.task
        job.step, job.task = "checking the file", None
        # The name that it has at its sender's never becomes a path.
        ending = Path(form.filename).suffix.lower()
        file = scratch / f"upload{ending if ending in SUFFIXES else ''}"
        file.write_bytes(form.file)
        try:
            check_upload(file if form.filename else None)
            if form.direction not in self._directions:
                raise InputError("choose a direction")
            board = self._results.board()
            system = check_system(
                board,
                form.direction,
                form.name,
                family=form.family,
                needs_parallel=_PARALLEL.get(form.parallel),
                date=form.date,
                outputs_url=form.url,
            )
            suspicions = check_outputs(board, file, form.direction, system)
            if suspicions and not form.confirmed:
                return _Doubtful(_html(suspicions=suspicions))
            out = scratch / "report"
            out.mkdir()

            def say(_: float, step: str) -> None:
                job.step = step

            folder = self._score(file, form.direction, system, out, say)
        except TSTBenchError as error:
            raise TSTBenchError(str(error).replace(str(file), form.filename)) from error
        return _Scored(preview(self._results.board(), folder), folder, scratch)


@dataclass(frozen=True)
class _Scored:
    html: Markup
    folder: Path
    scratch: Path


@dataclass(frozen=True)
class _Doubtful:
    html: Markup


def closed() -> Markup:
    """The submit view of a page that takes none."""
    return render("submit.html", directions=())


def preview(board: Board, folder: Path) -> Markup:
    """The scores of a submission, and its rank among comparable systems.

    Raises:
        InputError: it has no scores.
    """
    report = read_report(folder)
    left_out = [f"{metric_title(one.metric)}: {one.why}" for one in report.left_out]
    if not report.scores:
        raise InputError(
            f"no metric could be computed, so there is nothing to add. {'; '.join(left_out)}"
        )
    entry = Entry(report.system.name, DIRECTIONS[report.direction], folder, Facts.of(report))
    setting = next(
        replace(setting, entries=together(setting.entries))
        for setting in settings([*board.of(report.direction), entry])
        if any(one.folder == folder for one in setting.entries)
    )
    ranking = build_ranking(board, setting, {})
    row = next(row for row in ranking.rows if row.entry.folder == folder)
    rows = [
        (
            column.title,
            number(cell.value, column.unit),
            interval_text(cell.low, cell.high, column.unit)
            if cell.low is not None and cell.high is not None
            else "",
            f"{rank_text(cell.ranks)} of {len(ranking.systems)}" if cell.ranks else "",
        )
        for column, cell in zip(ranking.columns, row.cells, strict=True)
        if not column.human and cell.value is not None
    ]
    others = len(ranking.rows) - 1
    return _html(report=report, rows=rows, others=others, left_out=left_out)


def _told(job: Job) -> dict[str, Any]:
    if job.is_open:
        return _answer(step=f"{job.step} ...")
    if job.state == "failed":
        return _answer(refused=job.error)
    scored = isinstance(job.result, _Scored)
    return {"html": job.result.html, "open": False, "scored": scored, "doubtful": not scored}


def _answer(*, scored: bool = False, **said: object) -> dict[str, Any]:
    return {"html": _html(**said), "open": "step" in said, "scored": scored, "doubtful": False}


def _html(**said: object) -> Markup:
    kinds = ("step", "suspicions", "refused", "report", "receipt")
    return render("answer.html", **{**dict.fromkeys(kinds), **said})


def _forget(job: Job) -> None:
    """Remove what was scored."""
    if isinstance(job.result, _Scored):
        shutil.rmtree(job.result.scratch, ignore_errors=True)


def _licensed() -> list[Any]:
    return [facts for facts in DATASETS.values() if facts.licensed]
