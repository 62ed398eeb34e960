"""Serves a study's annotation page.

The key of a link travels to the page's endpoints in a request header. A link that leads nowhere is
a page of its own, with status 404.
"""

from __future__ import annotations

import html
from collections.abc import Collection
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from ...errors import TSTBenchError, require
from ..web import Call, NotThereError, Running, make_app, start, static_files, until_interrupted
from .desk import Desk

if TYPE_CHECKING:
    import gradio
    from starlette.requests import Request
    from starlette.responses import Response

_NO_STUDY = (
    "No study is set up here yet. Create one with create_study, put its folder on this machine "
    "(on a Space: into its storage), and set TSTBENCH_STUDY to its path."
)
_CALLS: dict[str, Call] = {
    "enter": (Desk.enter, ()),
    "screen": (Desk.screen_json, ("position",)),
    "save": (Desk.save, ("position", "answer")),
    "overview": (Desk.overview, ()),
    "statistics": (Desk.statistics, ()),
    "export": (Desk.export_lines, ()),
}
_KEY_HEADER = "x-annotation-key"
_STATIC = Path(__file__).parent / "static"
_SCRIPTS = (
    "dom.js",
    "main.js",
    "rate.js",
    "drafts.js",
    "place.js",
    "remark.js",
    "question.js",
    "guide.js",
    "owner.js",
)


def page_of(desk: Desk | None) -> gradio.Server:
    """The server of a desk; without a desk, a page that explains how to set up a study."""
    from starlette.responses import HTMLResponse

    def opened() -> Desk:
        if desk is None:
            raise NotThereError(_NO_STUDY)
        return desk

    def given(request: Request) -> tuple[Any, ...]:
        return opened(), request.headers.get(_KEY_HEADER, "")

    def root(request: Request) -> Response:
        key, item = (request.query_params.get(name) for name in ("key", "item"))
        if key is not None:
            try:
                _check_link(opened(), key, item)
            except TSTBenchError as error:
                return _not_found(request, str(error))
        return HTMLResponse(page)

    def elsewhere(request: Request, _: Exception) -> Response:
        return _not_found(request, "There is nothing at this address: open the link you were sent.")

    page = (_STATIC / "page.html").read_text(encoding="utf-8")
    app = make_app(
        "annotate", "TSTBench annotation", static_files(_STATIC, _SCRIPTS), _CALLS, given
    )
    app.add_route("/", root)
    app.add_exception_handler(404, elsewhere)
    return app


def _not_found(request: Request, text: str) -> Response:
    """A page with status 404 that says what is wrong with the link."""
    from starlette.responses import HTMLResponse

    theme = request.query_params.get("__theme")  # Hugging Face pages send it
    page = Template((_STATIC / "notice.html").read_text(encoding="utf-8")).substitute(
        theme=theme if theme in ("dark", "light") else "",
        root=html.escape(request.scope.get("root_path", "")),
        text=html.escape(text[:1].upper() + text[1:].removesuffix(".") + "."),
    )
    return HTMLResponse(page, status_code=404)


def _check_link(desk: Desk, key: str, item: str | None) -> None:
    """Raise the error of a link that leads nowhere: its key, or its item's number."""
    is_rater = desk.enter(key)["role"] == "rater"
    if is_rater and item is not None:
        number = int(item) if item.isascii() and item.isdecimal() and len(item) < 9 else 0
        desk.screen(key, number - 1)


def serve(
    study_folder: Path | str | None,
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    allowed_hosts: Collection[str] = (),
) -> Running:
    """Serve a study and return at once.

    Args:
        study_folder: made by :func:`.create.create_study`; ``None`` serves a page that explains
            how to create one.
        host: ``0.0.0.0`` for all interfaces; then only the secret links protect the study.
        port: TCP port; 0 takes any free one.
        allowed_hosts: names that it answers to besides its own, see :mod:`tstbench.hosts`.

    Raises:
        MissingFileError: there is no study in the folder.
        InputError: the study is damaged or served by another process, or the port is in use.
        MissingExtraError: gradio is not installed.
    """
    require("gradio", "space")
    desk = None if study_folder is None else Desk(study_folder)
    if desk is None:
        return start(page_of(None), host, port, allowed_hosts=allowed_hosts)
    return start(
        page_of(desk),
        host,
        port,
        allowed_hosts=allowed_hosts,
        blocked=[desk.folder],
        on_close=desk.close,
    )


def launch(
    study_folder: Path | str | None,
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    allowed_hosts: Collection[str] = (),
) -> None:
    """Serve a study until Ctrl-C; see :func:`serve`. For the links see :func:`.study.links`."""
    until_interrupted(serve(study_folder, host, port, allowed_hosts=allowed_hosts))
