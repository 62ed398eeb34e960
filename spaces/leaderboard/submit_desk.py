"""The desk that takes submissions: the actions of the submit view."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

import gradio as gr
from markupsafe import Markup

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.load import load_test_set
from ...errors import TSTBenchError
from ...files import process_folder, write_text
from ...pipelines.report import read_report
from .controls import link, notice
from .data import Results
from .markup import el, https_link
from .submission import Publish, ScoreSubmission, check_outputs, check_system, check_upload
from .submit_view import doubtful, preview, refused, working

PARALLEL = {"not stated": None, "yes": True, "no": False}
_LOG = logging.getLogger(__name__)
_OUR_FAULT = (
    "scoring failed because of a bug, not because of your file; see the log. Please try again"
)
_NOT_PUBLISHED = (
    "publishing failed because of a bug, not because of your file; see the log. The scores are not "
    "lost: try again"
)


class Answer(NamedTuple):
    """What the page shows: the preview, the scored folder, the publishing button, the tick box."""

    preview: Markup
    folder: str | None = None
    add: object = gr.Button(interactive=False)
    confirm: object = gr.skip()


class _Form(NamedTuple):
    path: str | None
    direction: str | None
    name: str
    family: str
    pairs: str
    date: str
    url: str
    confirmed: bool


@dataclass(frozen=True)
class Desk:
    """Takes submissions: how they are scored, and where they go."""

    results: Results
    score: ScoreSubmission
    publish: Publish
    directions: Sequence[str]

    @property
    def first(self) -> str:
        """The direction that the ranking opens on, if it can be submitted to."""
        shown = self.results.directions()  # the port opens before the reports have been read
        return next((name for name in shown if name in self.directions), self.directions[0])

    def take(
        self,
        path: str | None,
        direction_name: str | None,
        system_name: str,
        kind: str,
        pairs: str,
        when: str,
        link_to: str,
        confirmed: bool = False,
    ) -> Iterator[Answer]:
        """Check and score a file: each step as it is taken, and at last the scores.

        Args:
            path: the uploaded file.
            direction_name: such as ``yelp/negative-to-positive``.
            system_name: as the submitter wrote it.
            kind: a family of systems.
            pairs: a key of :data:`PARALLEL`.
            when: the date, or empty.
            link_to: the address of the outputs, or empty.
            confirmed: the submitter was told what looks wrong with the file, and stands by it.
        """
        said: SimpleQueue[Answer | str] = SimpleQueue()
        form = _Form(path, direction_name, system_name, kind, pairs, when, link_to, confirmed)
        Thread(target=lambda: said.put(self._answer(form, said.put)), daemon=True).start()
        step: Answer | str = "checking the file"
        while isinstance(step, str):
            yield Answer(working(step))
            step = said.get()
        yield step

    def _answer(self, form: _Form, say: Callable[[str], None]) -> Answer:
        """The scores, or why there are none; every failure becomes words."""
        scratch = Path(tempfile.mkdtemp(prefix="tstbench-submission-", dir=process_folder()))
        try:
            return self._scored(form, scratch, say)
        except TSTBenchError as error:
            shutil.rmtree(scratch, ignore_errors=True)
            message = str(error)
            if form.path:  # do not show where uploads are stored
                message = message.replace(f"{Path(form.path).parent}/", "")
            return Answer(refused(message))
        except Exception:
            _LOG.exception("scoring a submission failed")
            shutil.rmtree(scratch, ignore_errors=True)
            return Answer(refused(_OUR_FAULT))

    def _scored(self, form: _Form, scratch: Path, say: Callable[[str], None]) -> Answer:
        file = check_upload(form.path)
        if not form.direction:
            raise TSTBenchError("choose a direction")
        board = self.results.board()
        system = check_system(
            board,
            form.direction,
            form.name,
            family=form.family,
            needs_parallel=PARALLEL[form.pairs],
            date=form.date,
            outputs_url=form.url,
        )
        suspicions = check_outputs(board, file, form.direction, system)
        if suspicions and not form.confirmed:
            shutil.rmtree(scratch, ignore_errors=True)
            return Answer(doubtful(suspicions), confirm=gr.Checkbox(visible=True))
        folder = self.score(file, form.direction, system, scratch, lambda _, text: say(text))
        shown = preview(self.results.board(), folder)
        return Answer(shown, str(folder), gr.Button(interactive=True, variant="primary"))

    def add(self, folder: str | None) -> tuple[Markup, str | None, object]:
        """Publish what was scored: the result, the folder if it is still there, the button."""
        if folder is None or not Path(folder).is_dir():
            return refused("score a file first"), None, gr.Button(interactive=False)
        try:
            report = read_report(Path(folder))
            receipt = self.publish(Path(folder))
        except TSTBenchError as error:
            return refused(str(error)), folder, gr.Button(interactive=True)
        except Exception:
            _LOG.exception("publishing a submission failed")
            return refused(_NOT_PUBLISHED), folder, gr.Button(interactive=True)
        self.results.board()  # the link to it shows it
        forget(folder)
        there = https_link(receipt.url, "Open it") or link(
            "See it there", view="ranking", direction=report.direction
        )
        done = notice(el("p", receipt.message), el("p", there), kind="good")
        return done, None, gr.Button(interactive=False)


def forget(folder: str | None) -> None:
    """Remove a scored submission and its temporary folder."""
    if folder is None:
        return
    for path in (Path(folder), *Path(folder).parents):
        if path.name.startswith("tstbench-submission-"):
            shutil.rmtree(path, ignore_errors=True)
            return


@cache
def sources_file(direction: str) -> str | None:
    """A file of the sentences to rewrite, one per line; ``None`` if they must not be given away."""
    if DATASETS[direction.split("/")[0]].licensed:
        return None
    try:
        sources = load_test_set(direction).sources
    except TSTBenchError:  # its upstream files are not here
        return None
    folder = tempfile.mkdtemp(prefix="tstbench-sources-", dir=process_folder())
    path = Path(folder, f"{direction.replace('/', '.')}.txt")
    write_text(path, "".join(f"{source}\n" for source in sources))
    return str(path)
