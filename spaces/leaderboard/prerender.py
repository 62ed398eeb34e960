"""The shell and the first view, written into Gradio's page as it is served.

Gradio's page is empty until its script has loaded and requested its parts, which takes a second or
two. A table of numbers need not wait for that: the link's view is rendered on the server into the
HTML. Gradio starts in the background and is only needed for submissions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import anyio.to_thread
from markupsafe import Markup
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..design.stylesheet import stylesheet
from .markup import el, join
from .query import Query
from .scene import View
from .shell import footer, shell

_OTHERS = re.compile(r'<title>.*?</title>|<meta (?:property="og:|name="twitter:)[^>]*>', re.DOTALL)
_ABOUT = (
    "The leaderboard for text style transfer: systems rewrite the same test sentences and are "
    "scored on style, content and fluency, with intervals and significance tests."
)
_STATIC = Path(__file__).parent / "static"
# In the order of the cascade: more specific rules come later.
_STYLES = (
    "frame",
    "masthead",
    "words",
    "navigation",
    "controls",
    "filters",
    "families",
    "table",
    "edges",
    "cells",
    "notices",
    "facts",
    "pictures",
    "charts",
    "scatter",
    "heat",
    "samples",
    "reported",
    "versus",
    "system",
    "prose",
    "submit",
)
_SCRIPTS = (  # one function's scope: the state first, the start last
    "state",
    "link",
    "edges",
    "views",
    "table",
    "pictures",
    "tips",
    "facts",
    "choices",
    "events",
    "start",
)


class Prerender:
    """ASGI middleware: completes the HTML of ``/`` and changes nothing else.

    The link's parameters are ours: Gradio has some with the same names, and would fail on ours.

    Args:
        app: Gradio's.
        view: renders a query.
    """

    def __init__(self, app: ASGIApp, view: Callable[[Query], View]) -> None:
        self._app = app
        self._view = view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward everything; collect the page and complete it."""
        if scope["type"] != "http" or scope["path"] != "/":
            await self._app(scope, receive, send)
            return
        gradios = {**scope, "query_string": b""}
        if scope["method"] != "GET":
            await self._app(gradios, receive, send)
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
            full, status = body, start["status"]
            if _is_html(start):
                shown = await anyio.to_thread.run_sync(self._view, query)
                full = await anyio.to_thread.run_sync(self._completed, body, query, shown)
                status = shown.status
            headers = [(k, v) for k, v in start["headers"] if k.lower() != b"content-length"]
            headers.append((b"content-length", str(len(full)).encode()))
            await send({**start, "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": full})

        await self._app(gradios, receive, collect)

    def _completed(self, page: bytes, query: Query, shown: View) -> bytes:
        html = without_previews(page.decode("utf-8"))
        tags = preview(shown.title)
        html = _before_last(html, "</head>", tags + Markup(_head()))  # noqa: S704
        html = _before_last(html, "<gradio-app", shell(query, shown) + _script(shown))
        return _before_last(html, "</body>", footer()).encode("utf-8")


def _before_last(html: str, mark: str, addition: str) -> str:
    """Insert before the last occurrence of a mark, since the page's settings may mention it too."""
    before, found, after = html.rpartition(mark)
    if not found:
        raise RuntimeError(f"Gradio's page has no {mark}: this version of Gradio is not supported")
    return f"{before}{addition}{found}{after}"


@cache
def _head() -> str:
    style = stylesheet((_STATIC / "css" / f"{name}.css" for name in _STYLES), gradio=True)
    return f"{(_STATIC / 'head.html').read_text('utf-8')}<style>{style}</style>"


def _script(shown: View) -> Markup:
    """The scripts, and what they need to know about the view that is already on the page."""
    state = {"title": shown.title, "pending": shown.pending}
    text = json.dumps(state).replace("<", "\\u003c")
    data = Markup('<script type="application/json" id="first">') + Markup(text)  # noqa: S704
    return data + Markup("</script><script>") + Markup(_behaviour()) + Markup("</script>")  # noqa: S704


@cache
def _behaviour() -> str:
    parts = ((_STATIC / "js" / f"{name}.js").read_text("utf-8") for name in _SCRIPTS)
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _is_html(start: Message) -> bool:
    headers = {k.lower(): v for k, v in start["headers"]}
    return start["status"] == 200 and headers.get(b"content-type", b"").startswith(b"text/html")


def without_previews(page: str) -> str:
    """The page without the title and tags that its framework wrote into it.

    >>> without_previews('<head><title>Gradio</title><meta property="og:title" content="Gradio" />')
    '<head>'
    """
    return _OTHERS.sub("", page)


def preview(title: str) -> Markup:
    """Title and tags of a page, for the title of its view."""
    name = f"{title} \N{EN DASH} TSTBench"
    tags = {
        "og:type": "website",
        "og:site_name": "TSTBench",
        "og:title": name,
        "og:description": _ABOUT,
        "twitter:card": "summary",
        "twitter:title": name,
        "twitter:description": _ABOUT,
    }
    return join(
        [
            el("title", name),
            el("meta", name="description", content=_ABOUT),
            [el("meta", property=key, content=value) for key, value in tags.items()],
        ]
    )
