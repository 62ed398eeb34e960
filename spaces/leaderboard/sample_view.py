"""Sentences side by side as HTML: source, references, every rewrite with its scores and diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ...datasets_scripts.cleaning import is_blank, is_copy
from ...metrics.registry import METRICS
from .data import Entry
from .diff import Difference, word_diff
from .markup import render
from .samples import Side
from .words import VERDICTS


@dataclass(frozen=True)
class Reading:
    """How sentences are shown.

    Attributes:
        metrics: the metrics whose per-sentence scores are shown.
        metric: the metric that orders the sentences; it is marked.
        styles: source and target style.
        language: of the texts, BCP 47.
        plain: whether rewrites are shown without what they changed.
    """

    metrics: Sequence[str]
    metric: str
    styles: tuple[str, str]
    language: str = "en"
    plain: bool = False


@dataclass(frozen=True)
class Shown:
    """A rewrite as the reader wants it.

    Attributes:
        text: as written; ``None`` if it is empty.
        difference: what it changed, where that is marked; otherwise it is shown plain.
        tag: what is said of it, and ``hint`` why.
    """

    text: str | None
    difference: Difference | None = None
    tag: str = ""
    hint: str | None = None


def sentences(
    sides: Sequence[Side],
    entries: Mapping[str, Entry],
    reading: Reading,
    page: tuple[int, int, int],
) -> Markup:
    """Sources, each with every system's rewrite of it, and the way to the others.

    Args:
        sides: the sources and their rewrites.
        entries: the systems to show, by label, in order; those without a sentence say so.
        reading: how to show them.
        page: its number, how many there are, and how many sentences.
    """
    number, pages, count = page
    return render(
        "samples.html",
        count=count,
        entries=entries,
        page=number,
        pages=pages,
        reading=reading,
        shown=shown,
        sides=sides,
        unit_of=lambda metric: METRICS[metric].unit if metric in METRICS else "points",
        verdicts=VERDICTS,
    )


def shown(source: str, prediction: str, reading: Reading) -> Shown:
    """A rewrite with its changes marked, or plain.

    One that shares less than half with its source is shown plain in any case.
    """
    if is_blank(prediction):
        return Shown(None)
    if is_copy(source, prediction):
        return Shown(prediction, tag="unchanged")
    if reading.plain:
        return Shown(prediction)
    difference = word_diff(source, prediction, reading.language)
    if all(piece.kind == "same" for piece in difference.pieces):
        hint = "apart from upper case and spaces, which the metrics do not see"
        return Shown(prediction, tag="same words", hint=hint)
    if difference.is_rewritten:
        hint = "shares less than half of its words with the source, so changes are not marked"
        return Shown(prediction, tag="rewritten", hint=hint)
    return Shown(prediction, difference)
