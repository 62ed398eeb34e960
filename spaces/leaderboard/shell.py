"""The page around the results: masthead, navigation and the stage."""

from __future__ import annotations

from markupsafe import Markup

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
