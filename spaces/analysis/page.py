"""The report as one HTML file: it asks for nothing, runs nothing, and every text in it is text.

Pictures are images with their data in the page, so that whatever they contain can do nothing. The
content policy allows them and the page's own style sheet, by its hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from ...plots.canvas import Picture
from ..design.stylesheet import stylesheet
from ..leaderboard.markup import el, join
from .items import Item

GENERATOR = "tstbench analyze"
_CSS = Path(__file__).with_name("page.css")
_BROAD = 560.0  # points; a wider picture takes the whole width
_POINT = 96 / 72  # pixels
_PAIRED = ("trade-off", "plane", "correlation", "style-space")


@dataclass(frozen=True, kw_only=True)
class Section:
    """One direction, or what is said of all.

    Attributes:
        name: of the direction; a title.
        folder: where its files are, below the report.
        says: a sentence on what it has.
        cautions: what must be known to read it.
        missing: what could not be made, and why.
        items: with their pictures.
    """

    name: str
    folder: str
    says: str
    cautions: tuple[str, ...]
    missing: tuple[str, ...]
    items: tuple[tuple[Item, Picture | None], ...]


def report_page(title: str, lead: str, sections: Sequence[Section], version: str) -> str:
    """The whole page."""
    style = stylesheet([_CSS])
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'"
    )
    links = [el("li", el("a", s.name, href=f"#{_anchor(s)}")) for s in sections]
    head = join(
        [
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("meta", name="generator", content=GENERATOR),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="color-scheme", content="light dark"),
            el("meta", name="referrer", content="no-referrer"),
            el("title", title),
            el("style", Markup(style)),  # noqa: S704 (our own file)
        ]
    )
    body = join(
        [
            el("header", el("h1", title), el("p", lead, class_="lead")),
            el("nav", el("ul", links), aria_label="Directions") if len(sections) > 1 else None,
            el("main", [_section(s) for s in sections]),
            el("footer", el("p", f"Written by tstbench analyze {version}. Nothing was scored.")),
        ]
    )
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{body}</body>\n</html>\n'


def _section(section: Section) -> Markup:
    missing = (
        el("p", "Left out: ", "; ".join(section.missing), ".", class_="notes")
        if section.missing
        else None
    )
    return el(
        "section",
        el("h2", section.name),
        el("p", section.says),
        [el("p", text, class_="caution") for text in section.cautions],
        el("div", [_article(section, *one) for one in section.items], class_="figures"),
        missing,
        id=_anchor(section),
    )


def _article(section: Section, item: Item, picture: Picture | None) -> Markup:
    broad = not item.name.startswith(_PAIRED) or (picture is not None and picture.width > _BROAD)
    endings = [*(("png", "svg") if picture else ()), "csv", "md", "tex"]
    place = f"{section.folder}/{item.name}"
    files = [[" " if n else "", el("a", e, href=f"{place}.{e}")] for n, e in enumerate(endings)]
    return el(
        "article",
        el("h3", item.title),
        el("p", item.says),
        _image(item, picture) if picture else None,
        el("details", el("summary", "Table"), item.table),
        item.below,
        el("p", "Files: ", files, class_="files"),
        class_="broad" if broad else None,
    )


def _image(item: Item, picture: Picture) -> Markup:
    data = base64.b64encode(picture.page).decode()
    image = el(
        "img", src=f"data:image/svg+xml;base64,{data}", alt=item.alt,
        width=round(picture.width * _POINT), height=round(picture.height * _POINT),
    )  # fmt: skip
    return el("div", image, class_="picture", tabindex="0", role="group", aria_label=item.title)


def _anchor(section: Section) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in section.name)
