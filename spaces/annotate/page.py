"""The page as it is served: our own HTML and endpoints on Gradio's server (``gradio.Server``).

The page is a static file without data; everything shown comes from the endpoints of :mod:`.api`,
and the key of a link travels to them in a request header. A link that leads nowhere is a page of
its own, with status 404. Needs gradio: import this module only to serve a page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import TSTBenchError
from ..design.stylesheet import stylesheet
from .api import opened, reply
from .desk import Desk
from .notice import not_found

KEY_HEADER = "x-annotation-key"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self' https://huggingface.co"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
MAX_BODY = 64 * 1024  # bytes; an answer with the longest comment is a tenth of it
STATIC_FOLDER = Path(__file__).parent / "static"
STATIC = {
    "style.css": "text/css",
    "dom.js": "text/javascript",
    "main.js": "text/javascript",
    "rate.js": "text/javascript",
    "drafts.js": "text/javascript",
    "place.js": "text/javascript",
    "remark.js": "text/javascript",
    "question.js": "text/javascript",
    "guide.js": "text/javascript",
    "owner.js": "text/javascript",
}


class Shield:
    """ASGI layer: headers that forbid external content, no uploads, no large bodies."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Forward a request or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        chunked = b"transfer-encoding" in dict(scope["headers"])
        too_long = chunked or not length.isdigit() or int(length) > MAX_BODY
        if too_long or scope["path"].startswith("/gradio_api/upload"):
            await send({"type": "http.response.start", "status": 413, "headers": []})
            await send({"type": "http.response.body", "body": b"too large"})
            return

        async def send_with_headers(message: dict) -> None:
            if message["type"] == "http.response.start":
                ours = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                kept = [(n, v) for n, v in message.get("headers", []) if n.decode() not in HEADERS]
                message = {**message, "headers": kept + ours}
            await send(message)

        await self.app(scope, receive, send_with_headers)


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
    content = {name: (STATIC_FOLDER / name).read_text(encoding="utf-8") for name in STATIC}
    content["style.css"] = stylesheet([STATIC_FOLDER / "style.css"])

    def root(request: Request) -> Response:
        key, item = (request.query_params.get(name) for name in ("key", "item"))
        if key is not None:
            try:
                _check_link(opened(desk), key, item)
            except TSTBenchError as error:
                return not_found(request, str(error))
        return Response(page, media_type="text/html")

    async def asset(name: str) -> Response:
        if name not in content:
            return Response("no such file", status_code=404, media_type="text/plain")
        return Response(content[name], media_type=STATIC[name])

    async def elsewhere(request: Request, _: Exception) -> Response:
        return not_found(request, "There is nothing at this address: open the link you were sent.")

    app.get("/")(root)
    app.get("/annotate/{name}")(asset)
    app.add_exception_handler(404, elsewhere)


def _check_link(desk: Desk, key: str, item: str | None) -> None:
    """Raise the error of a link that leads nowhere: its key, or its item's number."""
    is_rater = desk.enter(key)["role"] == "rater"
    if is_rater and item is not None:
        number = int(item) if item.isascii() and item.isdecimal() and len(item) < 9 else 0
        desk.screen(key, number - 1)
