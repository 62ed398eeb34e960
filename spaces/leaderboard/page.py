"""The page: Gradio serves it, its API delivers the views, its components take submissions.

The shell and the first view are already in the HTML before Gradio's own script has loaded
(prerender.py), so that the table appears without delay.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import anyio.to_thread
import gradio as gr
from markupsafe import Markup
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...datasets_scripts.catalog import DIRECTIONS
from ...errors import TSTBenchError
from ...pipelines.results import Stored
from ..design.theme import theme
from .controls import notice
from .data import Board, Results, dataset_title
from .download import download
from .markup import el
from .picture_view import lengths_picture, map_picture
from .prerender import Prerender
from .query import Query
from .ranks import RankCache
from .scene import View
from .submit_desk import PARALLEL, Answer, Desk, forget, sources_file
from .submit_view import closed, introduction, waiting, working
from .views import render
from .words import FAMILIES, styles_text

_KEPT_SECONDS = 3600  # how long a scored file waits to be added
# The view opens without a reload: its form is told each time.
_OPENED = """
const tell = () => document.body.dataset.view === "submit" && trigger("submit");
new MutationObserver(tell).observe(document.body, { attributeFilter: ["data-view"] });
tell();
"""


class Form(NamedTuple):
    """The form fields, in the order that :meth:`~.submit_desk.Desk.take` reads them."""

    upload: gr.File
    direction: gr.Dropdown
    name: gr.Textbox
    family: gr.Dropdown
    parallel: gr.Dropdown
    date: gr.Textbox
    url: gr.Textbox
    confirmed: gr.Checkbox
    sources: gr.DownloadButton

    @property
    def asked(self) -> tuple[gr.components.Component, ...]:
        """The fields that are sent."""
        return self[:-1]


def submit_column(desk: Desk | None) -> None:
    """Lay out the submit view inside the open Blocks."""
    with gr.Column(elem_id="submit"):
        if desk is None:
            gr.HTML(closed(), apply_default_css=False)
            return
        opened = gr.HTML(introduction(), apply_default_css=False, js_on_load=_OPENED)
        with gr.Row(equal_height=False, elem_id="submit-form"):
            with gr.Column(scale=1, min_width=280):
                form = _form(desk.directions, desk.first)
                go = gr.Button("Check and score", variant="primary")
            with gr.Column(scale=1, min_width=280):
                preview = gr.HTML(waiting(), apply_default_css=False, elem_id="preview")
                add = gr.Button(desk.publish.action, interactive=False, elem_id="publish")
        scored = gr.State(None, time_to_live=_KEPT_SECONDS, delete_callback=forget)

    # The direction and its file in one answer: nobody is offered the file of another direction.
    opened.submit(
        lambda direction: (direction, _offer(direction)),
        [form.direction],
        [form.direction, form.sources],
        js=_of_the_link(desk.directions),
        api_visibility="private",
        show_progress="hidden",
    )
    form.direction.change(None, None, [form.sources], js=_WAITING)
    form.direction.change(_offer, [form.direction], [form.sources], api_visibility="private")
    for field in (form.upload, form.direction):  # what was confirmed was another file
        field.change(_nothing_confirmed, None, [form.confirmed], api_visibility="private")
    # What was said about the file before must not stand beside the new question.
    clear = go.click(
        lambda: Answer(working("waiting for its turn")),
        None,
        [preview, scored, add, form.confirmed],
        queue=False,
        api_visibility="private",
        show_progress="hidden",
    )
    clear.then(
        desk.take,
        [*form.asked],
        [preview, scored, add, form.confirmed],
        api_name="submit",
        concurrency_limit=1,
        show_progress="hidden",
    )
    add.click(
        desk.add,
        [scored],
        [preview, scored, add],
        api_visibility="private",
        concurrency_limit=1,
        show_progress="hidden",
    )


# A script: the button waits for the file of the direction that was chosen.
_WAITING = '() => ({__type__: "update", interactive: false})'


def _offer(direction: str) -> gr.DownloadButton:
    """The button for the sentences of a direction; hidden where they must not be given away."""
    path = sources_file(direction)
    return gr.DownloadButton(value=path, visible=path is not None, interactive=True)


def _nothing_confirmed() -> gr.Checkbox:
    return gr.Checkbox(value=False, visible=False)


def _of_the_link(directions: Sequence[str]) -> str:
    """A script: the direction in the address, if it is one to choose, otherwise the chosen one."""
    return f"""(chosen) => {{
      const asked = new URLSearchParams(location.search).get("direction");
      return {json.dumps(list(directions))}.includes(asked) ? asked : chosen;
    }}"""


def _form(directions: Sequence[str], first: str) -> Form:
    upload = gr.File(
        label="Rewrites",
        type="filepath",
        height=130,
        elem_id="upload",
    )
    direction = gr.Dropdown(_choices(directions), value=first, label="Direction")
    path = sources_file(first)
    sources = gr.DownloadButton(
        "Download its test sentences", value=path, visible=path is not None, size="sm"
    )
    name = gr.Textbox(
        label="Name of the system", max_length=100, placeholder="such as BART-large v2"
    )
    with gr.Row():
        kinds = [(title, key) for key, (title, _) in FAMILIES.items()]
        family = gr.Dropdown(kinds, value="unknown", label="Kind", min_width=120)
        parallel = gr.Dropdown(
            list(PARALLEL), value="not stated", label="Needs parallel data", min_width=120
        )
    with gr.Row():
        date = gr.Textbox(label="Date", max_length=10, placeholder="2026-05-17", min_width=120)
        url = gr.Textbox(
            label="Link to outputs", max_length=300, placeholder="https://", min_width=120
        )
    confirmed = gr.Checkbox(
        label="I have looked: this is what the system wrote", visible=False, elem_id="confirmed"
    )
    return Form(upload, direction, name, family, parallel, date, url, confirmed, sources)


def _choices(directions: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (f"{dataset_title(DIRECTIONS[name].dataset)}: {styles_text(DIRECTIONS[name])}", name)
        for name in directions
    ]


class Downloads:
    """ASGI middleware: answers ``/?download=outputs`` and changes nothing else.

    Args:
        app: the page.
        results: whose outputs are offered.
    """

    def __init__(self, app: ASGIApp, results: Results) -> None:
        self._app = app
        self._results = results

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward everything but a download."""
        if scope["type"] == "http" and scope["path"] == "/":
            query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
            if query.get("download") == "outputs":
                answer = await anyio.to_thread.run_sync(self._outputs, query)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _outputs(self, query: Mapping[str, str]) -> Response:
        """JSON Lines of one report's predictions, by the direction and the folder in the link."""
        entries = self._results.board().of(query.get("direction", ""))
        wanted = query.get("system", "")
        entry = next((e for e in entries if e.folder.name == wanted and e.has_samples), None)
        if entry is None:
            return PlainTextResponse("There are no outputs of this system to download.\n", 404)
        try:
            samples = Stored(entry.folder, entry.report).samples()
        except TSTBenchError:
            return PlainTextResponse("The file of these outputs is damaged.\n", 404)
        rows = ({"id": sample.id, "prediction": sample.prediction} for sample in samples)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{entry.direction.name}_{entry.folder.name}")
        headers = {
            "Content-Disposition": f'attachment; filename="{name}.jsonl"',
            "X-Content-Type-Options": "nosniff",
        }
        return Response(lines.encode(), media_type="application/jsonl", headers=headers)


_LOG = logging.getLogger(__name__)


class Page:
    """Everything served for one results folder.

    Args:
        results: the folder.
        desk: takes submissions; without one, the page explains how to score a file locally.
    """

    def __init__(self, results: Results, desk: Desk | None = None) -> None:
        self._results = results
        self._ranks = RankCache()
        with gr.Blocks(
            title="TSTBench leaderboard", analytics_enabled=False, delete_cache=(3600, 3600)
        ) as self.blocks:
            gr.api(self.view, api_name="view", queue=False, concurrency_limit=None)
            gr.api(self.download, api_name="download", queue=False, concurrency_limit=None)
            gr.api(self.lengths, api_name="lengths", queue=False, concurrency_limit=None)
            gr.api(self.style_map, api_name="style_map", queue=False, concurrency_limit=None)
            submit_column(desk)

    def view(self, query: dict[str, Any]) -> dict[str, Any]:
        """A view of the leaderboard as HTML, for the query parameters of a link."""
        asked = Query.parse(query)
        shown = self.render(asked)
        same = shown.pending and shown.revision == asked.known
        return {**vars(shown), "html": "" if same else str(shown.html)}

    def download(self, query: dict[str, Any], form: str) -> dict[str, str]:
        """The table of a view as a file: its name and text; ``form`` is csv, latex or markdown."""
        return download(self._results.board(), Query.parse(query), form, self._ranks)

    def lengths(self, query: dict[str, Any]) -> dict[str, Any]:
        """How long the sentences of one direction are: it reads them all."""
        return self._picture(lengths_picture, query)

    def style_map(self, query: dict[str, Any]) -> dict[str, Any]:
        """The map of styles of one direction: the first time, it takes seconds."""
        return self._picture(map_picture, query)

    def _picture(
        self, make: Callable[[Board, Query, RankCache], Markup], query: dict[str, Any]
    ) -> dict[str, Any]:
        board, asked = self._results.so_far(), Query.parse(query)
        return {"html": str(_safely(lambda: View(make(board, asked, self._ranks), "")).html)}

    def render(self, query: Query) -> View:
        """The view of a query; an error becomes a view with a message."""

        def made() -> View:
            board = self._results.so_far()
            with self._results.serving():
                return render(board, query, self._ranks)

        return _safely(made)

    def serving_options(self, *first: Middleware) -> dict[str, Any]:
        """The arguments of ``Blocks.launch`` besides the address.

        Args:
            first: layers that see a request before the page's own.
        """
        prerender = Middleware(Prerender, view=self.render)
        downloads = Middleware(Downloads, results=self._results)
        return {
            "app_kwargs": {"middleware": [*first, downloads, prerender]},
            "theme": theme(),
            "footer_links": [],
            "quiet": True,
            "show_error": False,
            "ssr_mode": False,
        }


def _safely(make: Callable[[], View]) -> View:
    try:
        return make()
    except TSTBenchError as error:
        return View(notice(str(error), kind="warning"), "Error")
    except Exception:
        _LOG.exception("a view failed")
        text = "This view failed because of a bug; see the log. The other views still work."
        return View(notice(el("p", text), kind="warning"), "Error")
