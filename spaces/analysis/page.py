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
from ..templates import environment, stylesheet
from .items import Item

_HERE = Path(__file__).parent
_BROAD = 560.0  # points; a wider picture takes the whole width
_PAIRED = ("trade-off", "plane", "correlation", "style-space")


@dataclass(frozen=True, kw_only=True)
class Section:
    """One direction, or what is said of all.

    Attributes:
        name: of the direction; a title.
        folder: where its files are, below the report.
        says: a sentence on what it has.
        items: with their pictures.
        cautions: what must be known to read it.
        missing: what could not be made, and why.
    """

    name: str
    folder: str
    says: str
    items: tuple[tuple[Item, Picture], ...]
    cautions: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """Of the section in the page."""
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in self.name)


def report_page(title: str, lead: str, sections: Sequence[Section], version: str) -> str:
    """The whole page."""
    style = stylesheet([_HERE / "page.css"])
    digest = _base64(hashlib.sha256(style.encode()).digest())
    made = environment(_HERE)
    made.filters["base64"] = _base64
    return made.get_template("page.html").render(
        title=title,
        lead=lead,
        sections=sections,
        version=version,
        style=Markup(style),  # noqa: S704 (our own file)
        policy=f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
        paired=_PAIRED,
        broad=_BROAD,
    )


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
