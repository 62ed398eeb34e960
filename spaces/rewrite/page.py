"""The page as it is served. Needs gradio: import this module only to serve a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import InputError, TSTBenchError
from ..page_parts import Shield, add_static, static_files
from .desk import Desk, NoTicketError

STATIC_FOLDER = Path(__file__).parent / "static"
SCRIPTS = ("main.js", "cards.js", "place.js")
CALLS: dict[str, tuple[Callable[..., dict[str, Any]], tuple[str, ...]]] = {
    "systems": (Desk.systems, ()),
    "ask": (Desk.ask, ("text", "source", "target")),
    "look": (Desk.look, ("ticket",)),
}


def make_app(desk: Desk) -> gradio.Server:
    """The Gradio server of a desk."""
    app = gradio.Server(title="TSTBench rewrite", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Shield)
    page = (STATIC_FOLDER / "page.html").read_text(encoding="utf-8")

    async def root() -> Response:
        return Response(page, media_type="text/html")

    async def endpoint(name: str, request: Request) -> Response:
        status, content = await run_in_threadpool(reply, desk, name, await request.body())
        return JSONResponse(content, status_code=status)

    app.get("/")(root)
    app.post("/rewrite/api/{name}")(endpoint)
    add_static(app, "rewrite", static_files(STATIC_FOLDER, SCRIPTS))
    return app


def reply(desk: Desk, name: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON content of the answer to one request.

    What went wrong is answered with ``{"error": words}``: 404 for an address or a ticket that does
    not exist, 422 for anything else that the sender can mend.
    """
    if name not in CALLS:
        return 404, {"error": f"there is no endpoint {name!r}: there are {', '.join(CALLS)}"}
    call, fields = CALLS[name]
    try:
        given = json.loads(body or b"{}")
        if not isinstance(given, dict) or given.keys() != set(fields):
            raise InputError(f"{name}: send a JSON object with {', '.join(fields) or 'no fields'}")
        return 200, call(desk, *(given[field] for field in fields))
    except NoTicketError as error:
        return 404, {"error": str(error)}
    except TSTBenchError as error:
        return 422, {"error": str(error)}
    except (ValueError, RecursionError):
        return 422, {"error": f"{name}: the request is not JSON"}
