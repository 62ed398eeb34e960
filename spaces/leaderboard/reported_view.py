"""Results reported on the Hub: a block of its own below the ranking, never part of it."""

from __future__ import annotations

from markupsafe import Markup

from ...datasets_scripts.directions import Direction
from .markup import el, https_link
from .reported import FromHub, ReportedScore
from .table_parts import scrolling
from .words import number, unit_text

_LEAD = (
    "These numbers stand in model repositories of the Hub. Nobody has checked them here: they have "
    "no rank, and may have been measured differently from the table above. The notes say how."
)
_HUB = "https://huggingface.co"


def reported_block(found: FromHub, direction: Direction) -> Markup | None:
    """The block of one direction; ``None`` if there is nothing to show."""
    scores = found.of(direction)
    if not scores and not found.problem:
        return None
    return el(
        "section",
        el("h2", "Reported on the Hub", el("span", "not verified", class_="tag")),
        el("p", _LEAD, class_="lead") if scores else None,
        el("p", found.problem, class_="lead") if found.problem else None,
        _table(scores) if scores else None,
        class_="reported",
        aria_label="Reported on the Hub, not verified",
    )


def _table(scores: list[ReportedScore]) -> Markup:
    titles = ("Model", "Metric", "Value", "Reported by", "Source", "Notes")
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    body = el("tbody", [_row(one) for one in scores])
    return scrolling(el("table", head, body, class_="plain"), "Reported on the Hub")


def _row(one: ReportedScore) -> Markup:
    entry, model = one.reported.entry, one.reported.model
    source = entry.source
    who = (source.user or source.org) if source else None
    url = source.url if source else None
    unit = unit_text(one.metric.unit)
    return el(
        "tr",
        el("th", https_link(f"{_HUB}/{model}", model), scope="row"),
        el("td", one.metric.title),
        el("td", number(entry.value, one.metric.unit), el("small", f" {unit}"), class_="number"),
        el("td", who or model.split("/")[0], el("small", f" {entry.date}") if entry.date else None),
        el("td", https_link(url, (source.name if source else None) or "source")),
        el("td", _notes(entry.notes)),
    )


def _notes(notes: str | None) -> Markup | None:
    if not notes:
        return None
    return el("details", el("summary", "notes"), el("p", notes))
