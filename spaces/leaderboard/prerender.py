"""The shell and the first view, written into Gradio's page as it is served.

Gradio's page is empty until its script has loaded and asked for its parts, which takes a second
or two; a table of numbers need not wait for that. The link's view is rendered on the server and
stands in the HTML; Gradio starts behind it and is needed for submissions alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import anyio.to_thread
from markupsafe import Markup
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .query import Query
from .scene import View
from .shell import footer, shell

_STATIC = Path(__file__).parent / "static"
_LATER = frozenset({"pictures", "overview"})  # views with pictures: the script asks for them


class Prerender:
    """ASGI middleware: completes the HTML of ``/`` and touches nothing else.

    Args:
        app: Gradio's.
        view: renders a query.
        plotly: the script that draws the pictures; Gradio serves it.
    """

    def __init__(self, app: ASGIApp, view: Callable[[Query], View], plotly: Path) -> None:
        self._app = app
        self._view = view
        self._plotly = plotly

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on; collect the page and complete it."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        query = Query.parse(dict(parse_qsl(scope["query_string"].decode("latin-1"))))
        start: Message = {}
        body = b""

        async def collect(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            if message["type"] != "http.response.body":
                await send(message)
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            full = body
            if _is_html(start):
                full = await anyio.to_thread.run_sync(self._completed, body, query)
            headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
            headers.append((b"content-length", str(len(full)).encode()))
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": full})

        await self._app(scope, receive, collect)

    def _completed(self, page: bytes, query: Query) -> bytes:
        shown = None if query.view in _LATER else self._view(query)
        html = page.decode("utf-8")
        html = _before_last(html, "</head>", _head())
        html = _before_last(html, "<gradio-app", shell(self._plotly, query, shown) + _script(shown))
        return _before_last(html, "</body>", footer()).encode("utf-8")


def _before_last(html: str, mark: str, addition: str) -> str:
    """Put something before a mark; the last one, for the page's settings may mention it too."""
    before, found, after = html.rpartition(mark)
    if not found:
        raise RuntimeError(f"Gradio's page has no {mark}: this is another Gradio than ours")
    return f"{before}{addition}{found}{after}"


@cache
def _head() -> str:
    style = (_STATIC / "style.css").read_text("utf-8")
    return f"{(_STATIC / 'head.html').read_text('utf-8')}<style>{style}</style>"


def _script(shown: View | None) -> Markup:
    """The behaviour, and what it needs to know of the view that is there already."""
    state = None if shown is None else {"title": shown.title, "pending": shown.pending}
    text = json.dumps(state).replace("<", "\\u003c")
    data = Markup('<script type="application/json" id="first">') + Markup(text)  # noqa: S704
    return data + Markup("</script><script>") + Markup(_behaviour()) + Markup("</script>")  # noqa: S704


@cache
def _behaviour() -> str:
    return (_STATIC / "board.js").read_text("utf-8")


def _is_html(start: Message) -> bool:
    headers = {k.lower(): v for k, v in start["headers"]}
    return start["status"] == 200 and headers.get(b"content-type", b"").startswith(b"text/html")
