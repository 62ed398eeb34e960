"""The parts of a page of our own HTML: what its answers' headers forbid, its scripts and styles.

Needs starlette, which comes with gradio: import this module only to serve a page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from .design.stylesheet import DESIGN, stylesheet

if TYPE_CHECKING:
    import gradio

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
MAX_BODY = 64 * 1024  # bytes; the longest that a page of ours sends is a tenth of it


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


def static_files(folder: Path, names: Collection[str]) -> dict[str, str]:
    """A page's scripts and its stylesheet, by name, with what all pages share.

    Args:
        folder: has ``style.css`` and the scripts.
        names: of the scripts.
    """
    content = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    content["el.js"] = (DESIGN / "el.js").read_text(encoding="utf-8")
    content["style.css"] = stylesheet([folder / "style.css"])
    return content


def add_static(app: gradio.Server, where: str, content: Mapping[str, str]) -> None:
    """Serve files at ``/<where>/<name>``."""

    async def asset(name: str) -> Response:
        if name not in content:
            return Response("no such file", status_code=404, media_type="text/plain")
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return Response(content[name], media_type=kind)

    app.get(f"/{where}/{{name}}")(asset)
