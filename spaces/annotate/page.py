"""The page as it is served: our own HTML and endpoints on Gradio's server (``gradio.Server``).

The page is a static file without data; everything shown comes from the endpoints, and the key of
a link travels to them in a request header. A link that leads nowhere is a page of its own, with
status 404. Needs gradio: import this module only to serve a page.
"""

from __future__ import annotations

import html
import json
import traceback
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import gradio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import InputError, MissingExtraError, TSTBenchError
from ..page_parts import Shield, add_static, static_files
from .desk import AccessError, Desk, NoSuchItemError

NO_STUDY = (
    "No study is set up here yet. Create one with create_study, put its folder on this machine "
    "(on a Space: into its storage), and set TSTBENCH_STUDY to its path."
)
CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "enter": (Desk.enter, ()),
    "screen": (Desk.screen_json, ("position",)),
    "save": (Desk.save, ("position", "answer")),
    "overview": (Desk.overview, ()),
    "statistics": (Desk.statistics, ()),
    "export": (Desk.export_lines, ()),
}


class NoStudyError(TSTBenchError, LookupError):
    """The page is served without a study."""


def reply(desk: Desk | None, name: str, key: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON content of the answer to one request.

    A request that went wrong is answered with ``{"error": words}``: 404 for an address, a link or
    an item that does not exist, 422 for anything else that the sender can mend.

    Args:
        desk: the study, if there is one.
        name: of the endpoint, from :data:`CALLS`.
        key: of the link.
        body: a JSON object with the endpoint's fields.
    """
    if name not in CALLS:
        return 404, {"error": f"there is no endpoint {name!r}: there are {', '.join(CALLS)}"}
    call, fields = CALLS[name]
    try:
        return 200, call(opened(desk), key, *_read_fields(name, fields, body))
    except (AccessError, NoSuchItemError, NoStudyError) as error:
        return 404, {"error": str(error)}
    except MissingExtraError as error:
        return 503, {"error": str(error)}
    except TSTBenchError as error:
        return 422, {"error": str(error)}
    except OSError:  # a full disk, a folder that is gone: the rater can only tell the owner
        traceback.print_exc()
        told = "the server could not read or write its files: tell the study's owner, try later"
        return 500, {"error": told}


def opened(desk: Desk | None) -> Desk:
    """The desk.

    Raises:
        NoStudyError: the page is served without one.
    """
    if desk is None:
        raise NoStudyError(NO_STUDY)
    return desk


def _read_fields(name: str, fields: tuple[str, ...], body: bytes) -> list[Any]:
    try:
        given = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InputError(f"{name}: the request is not JSON") from None
    if not isinstance(given, dict) or given.keys() != set(fields):
        wanted = f"the fields {', '.join(fields)}" if fields else "no fields"
        raise InputError(f"{name}: send a JSON object with {wanted}")
    return [given[field] for field in fields]


KEY_HEADER = "x-annotation-key"
STATIC_FOLDER = Path(__file__).parent / "static"
_PAGE = Template((STATIC_FOLDER / "notice.html").read_text(encoding="utf-8"))
SCRIPTS = (
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


def make_app(desk: Desk | None) -> gradio.Server:
    """The Gradio server of a desk; without a desk, a page that explains how to set up a study."""
    app = gradio.Server(
        title="TSTBench annotation", docs_url=None, redoc_url=None, openapi_url=None
    )
    app.add_middleware(Shield)
    _add_page(app, desk)
    _add_endpoints(app, desk)
    return app


def _key(request: Request) -> str:
    return request.headers.get(KEY_HEADER, "")


def _add_endpoints(app: gradio.Server, desk: Desk | None) -> None:
    async def endpoint(name: str, request: Request) -> Response:
        body = await request.body()
        status, content = await run_in_threadpool(reply, desk, name, _key(request), body)
        return JSONResponse(content, status_code=status)

    app.post("/annotate/api/{name}")(endpoint)


def _add_page(app: gradio.Server, desk: Desk | None) -> None:
    page = (STATIC_FOLDER / "page.html").read_text(encoding="utf-8")

    def root(request: Request) -> Response:
        key, item = (request.query_params.get(name) for name in ("key", "item"))
        if key is not None:
            try:
                _check_link(opened(desk), key, item)
            except TSTBenchError as error:
                return _not_found(request, str(error))
        return Response(page, media_type="text/html")

    async def elsewhere(request: Request, _: Exception) -> Response:
        return _not_found(request, "There is nothing at this address: open the link you were sent.")

    app.get("/")(root)
    add_static(app, "annotate", static_files(STATIC_FOLDER, SCRIPTS))
    app.add_exception_handler(404, elsewhere)


def _not_found(request: Request, text: str) -> Response:
    """A page with status 404 that says what is wrong with the link."""
    theme = request.query_params.get("__theme")  # Hugging Face pages send it
    page = _PAGE.substitute(
        theme=theme if theme in ("dark", "light") else "",
        root=html.escape(request.scope.get("root_path", "")),
        text=html.escape(text[:1].upper() + text[1:].removesuffix(".") + "."),
    )
    return Response(page, status_code=404, media_type="text/html")


def _check_link(desk: Desk, key: str, item: str | None) -> None:
    """Raise the error of a link that leads nowhere: its key, or its item's number."""
    is_rater = desk.enter(key)["role"] == "rater"
    if is_rater and item is not None:
        number = int(item) if item.isascii() and item.isdecimal() and len(item) < 9 else 0
        desk.screen(key, number - 1)
