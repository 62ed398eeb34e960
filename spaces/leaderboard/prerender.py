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
from .diff import word_diff
from .markup import el, join
from .query import VIEWS, Query
from .sample_view import diff_markup
from .scene import View


def shell(query: Query, view: View) -> Markup:
    """Masthead, navigation, stage and the dialog that facts are shown in.

    Args:
        query: the link's query.
        view: what is on the stage.
    """
    return el(
        "div",
        el("a", "Skip to the results", href="#stage", class_="skip"),
        _masthead(),
        _navigation(query.view),
        el(
            "main",
            view.html,
            id="stage",
            tabindex="-1",
            aria_busy="false",
        ),
        _dialog(),
        class_="page",
        data_view=query.view,
    )


def footer() -> Markup:
    """The page's footer."""
    return el(
        "footer",
        el("p", "TSTBench, the benchmark for text style transfer. Apache-2.0."),
        el("p", "This page loads nothing from other servers."),
        class_="foot",
    )


def _masthead() -> Markup:
    return el(
        "header",
        el(
            "div",
            el("p", "TSTBench", class_="wordmark"),
            el("h1", "Who rewrites style best?"),
            el(
                "p",
                "Text style transfer changes how a sentence is said and keeps what it says. ",
                el(
                    "span",
                    "Every system here rewrites the same test sentences and is scored on style, "
                    "content and fluency; systems that cannot be told apart share a rank.",
                    class_="more-words",
                ),
            ),
            class_="claim",
        ),
        _example(),
        class_="masthead",
    )


def _example() -> Markup:
    source = "the soup was cold and the waiter ignored us."
    rewrite = "the soup was hot and the waiter looked after us."
    aspects = [
        ("Style", "is it positive now?"),
        ("Content", "is the rest still there?"),
        ("Fluency", "does it read well?"),
    ]
    return el(
        "figure",
        el("p", el("span", "negative", class_="tag"), el("span", source, class_="text")),
        el("p", el("span", "positive", class_="tag good"), diff_markup(word_diff(source, rewrite))),
        el(
            "ul",
            [el("li", el("b", name), el("span", question)) for name, question in aspects],
        ),
        class_="example",
        aria_label="An example of a rewrite and what is scored",
    )


def _navigation(current: str) -> Markup:
    links = [
        el(
            "a",
            title,
            href=f"?view={key}",
            data_link=key,
            aria_current="page" if key == current else None,
        )
        for key, title in VIEWS.items()
    ]
    theme = el(
        "button",
        el("span", class_="moon", aria_hidden="true"),
        type="button",
        class_="theme",
        data_action="theme",
        aria_label="Switch between light and dark",
    )
    return el("nav", el("div", links, class_="links"), theme, class_="views", aria_label="Views")


def _dialog() -> Markup:
    close = el("button", "Close", type="button", class_="quiet", data_action="close")
    body = join([el("h2"), el("p", class_="lead"), el("dl"), close])
    return el("dialog", body, id="facts")


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
    state = {"title": shown.title, "pending": shown.pending, "revision": shown.revision}
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
