"""Serves a study's annotation page.

The key of a link travels to the page's endpoints in a request header. A link that leads nowhere is
a page of its own, with status 404.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...datasets_scripts.judgments.schema import judgment_record
from ...errors import TSTBenchError, require
from ..templates import environment
from ..web import (
    NO_FILES,
    Call,
    NotThereError,
    Running,
    make_app,
    start,
    static_files,
    until_interrupted,
)
from .service import Service

if TYPE_CHECKING:
    import gradio
    from starlette.requests import Request
    from starlette.responses import Response

_NO_STUDY = (
    "No study is set up here yet. Create one with create_study, put its folder on this machine "
    "(on a Space: into its storage), and set TSTBENCH_STUDY to its path."
)
_CALLS: dict[str, Call] = {
    "enter": (Service.enter, ()),
    "screen": (Service.screen, ("position",)),
    "save": (Service.save, ("position", "answer")),
}
_KEY_HEADER = "x-annotation-key"
_STATIC = Path(__file__).parent / "static"


def page_of(service: Service | None) -> gradio.Server:
    """The server of a study; without one, a page that explains how to set it up."""
    from starlette.responses import HTMLResponse, Response

    templates = environment(_STATIC)

    def opened() -> Service:
        if service is None:
            raise NotThereError(_NO_STUDY)
        return service

    def given(request: Request) -> tuple[Any, ...]:
        return opened(), request.headers.get(_KEY_HEADER, "")

    def page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
        theme = request.query_params.get("__theme")  # Hugging Face pages send it
        values |= {"theme": theme if theme in ("dark", "light") else "", "status": status}
        values["root"] = request.scope.get("root_path", "") + "/" if status == 404 else ""
        return HTMLResponse(templates.get_template(name).render(values), status_code=status)

    def root(request: Request) -> Response:
        key, item = (request.query_params.get(name) for name in ("key", "item"))
        if key is None:  # a Space is asked for its root to see whether it lives
            return page(request, "notice.html", text=_NO_STUDY if service is None else None)
        try:
            if opened().is_owner(key):
                return page(request, "owner.html", key=key, **opened().overview(key))
            _check_link(opened(), key, item)
        except TSTBenchError as error:
            return page(request, "notice.html", 404, text=str(error))
        except OSError:
            return unreadable(request)
        return page(request, "page.html")

    def unreadable(request: Request) -> Response:
        traceback.print_exc()  # for the owner, with the path
        return page(request, "notice.html", 500, text=NO_FILES)

    def export(request: Request) -> Response:
        try:
            rows = map(judgment_record, opened().judgments(request.query_params.get("key", "")))
        except TSTBenchError as error:
            return page(request, "notice.html", 404, text=str(error))
        except OSError:
            return unreadable(request)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", opened().study.name)
        headers = {"content-disposition": f'attachment; filename="{name}.jsonl"'}
        return Response(lines.encode(), media_type="application/jsonl", headers=headers)

    def elsewhere(request: Request, _: Exception) -> Response:
        text = "there is nothing at this address: open the link you were sent"
        return page(request, "notice.html", 404, text=text)

    app = make_app("annotate", "TSTBench annotation", static_files(_STATIC), _CALLS, given)
    app.add_route("/", root)
    app.add_route("/export", export)
    app.add_exception_handler(404, elsewhere)
    return app


def _check_link(service: Service, key: str, item: str | None) -> None:
    """Raise the error of a rater's link that leads nowhere: its key, or its item's number."""
    service.enter(key)
    if item is not None:
        number = int(item) if item.isascii() and item.isdecimal() and len(item) < 9 else 0
        service.screen(key, number - 1)


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
        InputError: the study is damaged, or the port is in use.
        MissingExtraError: gradio is not installed.
    """
    require("gradio", "space")
    service = None if study_folder is None else Service(study_folder)
    blocked = [service.folder] if service else []
    return start(page_of(service), host, port, allowed_hosts=allowed_hosts, blocked=blocked)


def launch(
    study_folder: Path | str | None,
    host: str = "127.0.0.1",
    port: int = 7860,
    *,
    allowed_hosts: Collection[str] = (),
) -> None:
    """Serve a study until Ctrl-C; see :func:`serve`. For the links see :func:`.study.links`."""
    until_interrupted(serve(study_folder, host, port, allowed_hosts=allowed_hosts))
