"""The page and its endpoints: our own HTML over Gradio's API server (``gradio.Server``).

The page is a fixed file without data; everything shown comes from the endpoints ``enter``,
``screen``, ``save``, ``overview``, ``statistics`` and ``export``. The key of a link travels in a
request header and not among an endpoint's inputs, because Gradio prints the inputs of a malformed
call. Needs gradio: import this module only where a page is served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import gradio
from starlette.responses import Response

from ...errors import InputError, TSTBenchError
from .desk import Desk

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
STATIC = {
    "style.css": "text/css",
    "dom.js": "text/javascript",
    "main.js": "text/javascript",
    "rate.js": "text/javascript",
    "owner.js": "text/javascript",
}
NO_STUDY = (
    "No study is set up here yet. Make one with create_study, put its folder on this machine "
    "(on a Space: into its storage), and point TSTBENCH_STUDY at it."
)


class Shield:
    """ASGI layer: headers that forbid anything foreign, no uploads, no large bodies."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:
        """Pass a request on, or refuse it."""
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
    """The Gradio server of a desk; without one, a page that says how to set a study up."""
    app = gradio.Server(
        title="TSTBench annotation", docs_url=None, redoc_url=None, openapi_url=None
    )
    app.add_middleware(Shield)
    _add_page(app)
    _add_endpoints(app, desk)
    return app


@contextmanager
def _opened(desk: Desk | None) -> Iterator[Desk]:
    """The desk, its errors turned into messages for the page."""
    try:
        if desk is None:
            raise InputError(NO_STUDY)
        yield desk
    except TSTBenchError as error:
        raise gradio.Error(str(error), print_exception=False) from None


def _key(request: gradio.Request) -> str:
    return request.headers.get(KEY_HEADER, "")


def _add_endpoints(app: gradio.Server, desk: Desk | None) -> None:
    @app.api(name="enter", queue=False)
    def enter(request: gradio.Request) -> dict:
        with _opened(desk) as opened:
            return opened.enter(_key(request))

    @app.api(name="screen", queue=False)
    def screen(position: int, request: gradio.Request) -> dict:
        with _opened(desk) as opened:
            return opened.screen(_key(request), position).model_dump(mode="json")

    @app.api(name="save", queue=False)
    def save(position: int, answer: dict, request: gradio.Request) -> dict:
        with _opened(desk) as opened:
            return opened.save(_key(request), position, answer)

    @app.api(name="overview", queue=False)
    def overview(request: gradio.Request) -> dict:
        with _opened(desk) as opened:
            return opened.overview(_key(request))

    @app.api(name="statistics", queue=False)
    def statistics(request: gradio.Request) -> dict:
        with _opened(desk) as opened:
            return opened.statistics(_key(request))

    @app.api(name="export", queue=False)
    def export(request: gradio.Request) -> str:
        with _opened(desk) as opened:
            return opened.export_lines(_key(request))


def _add_page(app: gradio.Server) -> None:
    static = files(__package__) / "static"
    page = (static / "page.html").read_text(encoding="utf-8")
    content = {name: (static / name).read_text(encoding="utf-8") for name in STATIC}

    async def root() -> Response:
        return Response(page, media_type="text/html")

    async def asset(name: str) -> Response:
        if name not in content:
            return Response("no such file", status_code=404, media_type="text/plain")
        return Response(content[name], media_type=STATIC[name])

    app.get("/")(root)
    app.get("/annotate/{name}")(asset)
