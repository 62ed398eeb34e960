"""The page: the first view is in its HTML, the others come from its endpoints."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...errors import TSTBenchError
from ...pipelines.results import Stored
from ...plots.canvas import load_behind
from ..templates import stylesheet
from ..web import MAX_CALL, Call, make_app
from .data import Board, ChangedError, Results
from .download import download
from .markup import render, ui
from .picture_view import lengths_picture, map_picture
from .query import VIEWS, Query
from .ranks import RankCache
from .scene import View
from .submission import MAX_BYTES
from .submit import Desk, Form, closed
from .views import render as render_view

if TYPE_CHECKING:
    import gradio
    from starlette.requests import Request
    from starlette.responses import Response

_LOG = logging.getLogger(__name__)
_STATIC = Path(__file__).parent / "static"
# In the order of the cascade: more specific rules come later.
_STYLES = ("frame", "controls", "table", "pictures", "views", "submit")
# One module: the state first, the start last.
_SCRIPTS = ("view", "table", "marks", "events", "submit", "start")


class Page:
    """Everything served for one results folder.

    Args:
        results: the folder.
        desk: takes submissions; without one, the page explains how to score a file locally.
    """

    def __init__(self, results: Results, desk: Desk | None = None) -> None:
        self._results, self._desk = results, desk
        self._ranks = RankCache()

    def app(self) -> gradio.Server:
        """The server."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        desk = self._desk
        calls: dict[str, Call] = {
            "view": (self.view, ("query",)),
            "download": (self.download, ("query", "form")),
            "lengths": (self.lengths, ("query",)),
            "style_map": (self.style_map, ("query",)),
        }
        files = {
            "style.css": stylesheet(_STATIC / "css" / f"{name}.css" for name in _STYLES),
            "main.js": "\n".join((_STATIC / "js" / f"{name}.js").read_text() for name in _SCRIPTS),
        }
        largest = MAX_CALL
        if desk:
            calls |= {
                "look": (desk.look, ("ticket",)),
                "add": (desk.add, ("ticket",)),
                "sources": (desk.sources, ("direction",)),
            }
            largest = 2 * MAX_BYTES  # above ours, so that it is ours that explains
        app = make_app(
            "leaderboard", "TSTBench leaderboard", files, calls, largest=largest, styled=True
        )

        async def root(request: Request) -> Response:
            return await run_in_threadpool(self._document, dict(request.query_params))

        app.add_route("/", root)
        if desk:

            async def submit(request: Request) -> Response:
                form = await _form(request)
                return JSONResponse(await run_in_threadpool(desk.submit, form))

            app.add_route("/leaderboard/submit", submit, methods=["POST"])
        return app

    def view(self, query: Any) -> dict[str, Any]:
        """A view of the leaderboard as HTML, for the query parameters of a link."""
        asked = Query.parse(query)
        shown = self.render(asked)
        same = shown.pending and shown.revision == asked.known
        return {**vars(shown), "html": "" if same else str(shown.html)}

    def download(self, query: Any, form: Any) -> dict[str, str]:
        """The table of a view as a file: its name and text; ``form`` is csv, latex or markdown."""
        return download(self._results.board(), Query.parse(query), str(form), self._ranks)

    def lengths(self, query: Any) -> dict[str, Any]:
        """How long the sentences of one direction are: it reads them all."""
        return self._picture(lengths_picture, query)

    def style_map(self, query: Any) -> dict[str, Any]:
        """The map of styles of one direction: the first time, it takes seconds."""
        return self._picture(map_picture, query)

    def _picture(
        self, make: Callable[[Board, Query, RankCache], Markup], query: Any
    ) -> dict[str, Any]:
        board, asked = self._results.so_far(), Query.parse(query)
        return {"html": str(_safely(lambda: View(make(board, asked, self._ranks), "")).html)}

    def render(self, query: Query) -> View:
        """The view of a query; an error becomes a view with a message."""

        def made(board: Board) -> View:
            with self._results.serving():
                return render_view(board, query, self._ranks)

        def newest() -> View:
            try:
                return made(self._results.so_far())
            except ChangedError:
                return made(self._results.board())

        return _safely(newest)

    def _document(self, parameters: Mapping[str, str]) -> Response:
        """The whole page of a link, or the file that it asks for."""
        from starlette.responses import HTMLResponse

        if parameters.get("download") == "outputs":
            return outputs_file(
                self._results.board(), parameters.get("direction", ""), parameters.get("system", "")
            )
        query = Query.parse(parameters)
        shown = self.render(query)
        form = self._desk.form() if self._desk else closed()
        page = document(query.view, shown, form)
        load_behind()
        return HTMLResponse(page, status_code=shown.status)


def document(view: str, shown: View, form: Markup) -> Markup:
    """The HTML of the page.

    Args:
        view: its key.
        shown: what is on the stage.
        form: the submit view, which keeps what was filled in while others are on the stage.
    """
    return render("page.html", view=view, views=VIEWS, shown=shown, form=form)


def outputs_file(board: Board, direction: str, system: str) -> Response:
    """JSON Lines of one report's predictions, by the direction and the folder in the link."""
    from starlette.responses import PlainTextResponse, Response

    entries = (one for one in board.of(direction) if one.folder.name == system)
    entry = next((one for one in entries if one.has_samples), None)
    if entry is None:
        return PlainTextResponse("There are no outputs of this system to download.\n", 404)
    try:
        samples = Stored(entry.folder, entry.report).samples()
    except TSTBenchError:
        return PlainTextResponse("The file of these outputs is damaged.\n", 404)
    rows = ({"id": sample.id, "prediction": sample.prediction} for sample in samples)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", f"{entry.direction.name}_{entry.folder.name}")
    headers = {"content-disposition": f'attachment; filename="{name}.jsonl"'}
    return Response(lines.encode(), media_type="application/jsonl", headers=headers)


async def _form(request: Request) -> Form:
    """What a browser sent: a field that it left out, or that is none, is an empty one."""
    async with request.form(max_files=1, max_fields=20) as sent:
        file = sent.get("file")
        texts = {k: v for k, v in sent.items() if isinstance(v, str) and k != "file"}
        content = b"" if file is None or isinstance(file, str) else await file.read()
        filename = "" if file is None or isinstance(file, str) else file.filename or ""
    names = ("direction", "name", "family", "parallel", "date", "url")
    known = {name: texts[name] for name in names if name in texts}
    return Form(content, filename, **known, confirmed="confirmed" in texts)


def _safely(make: Callable[[], View]) -> View:
    try:
        return make()
    except TSTBenchError as error:
        return View(ui.notice(str(error), kind="warning"), "Error")
    except Exception:
        _LOG.exception("a view failed")
        text = "This view failed because of a bug; see the log. The other views still work."
        return View(ui.notice(ui.tag("p", [text]), kind="warning"), "Error")
