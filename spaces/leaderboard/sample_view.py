"""Sentences side by side as HTML: source, references, every rewrite with its scores and diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ...datasets_scripts.cleaning import is_blank, is_copy
from ...metrics.registry import METRICS
from .data import Entry
from .diff import Difference, word_diff
from .markup import el, join, ui
from .samples import Side
from .tokens import tokens
from .words import DASH, FAMILIES, VERDICTS, metric_title, number


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


def sample_card(side: Side, entries: Mapping[str, Entry], reading: Reading) -> Markup:
    """One source and each system's rewrite of it.

    Args:
        side: the source and its rewrites.
        entries: the systems to show, by label, in order; those without this sentence say so.
        reading: how to show them.
    """
    references = [el("li", el("span", text, class_="text")) for text in side.references]
    head = el(
        "header",
        el(
            "p", el("span", reading.styles[0], class_="tag"), el("span", side.source, class_="text")
        ),
        el(
            "details",
            el("summary", f"{len(references)} human rewrite{'s' * (len(references) != 1)}"),
            el("ol", references),
            open=len(references) == 1,
        )
        if references
        else el("p", "No human rewrite of this sentence.", class_="quiet-text"),
    )
    header = el(
        "tr",
        el("th", "System", scope="col"),
        el("th", f"Rewrite ({reading.styles[1]})", scope="col"),
        [
            el(
                "th",
                metric_title(m),
                scope="col",
                class_="value chosen" if m == reading.metric else "value",
            )
            for m in reading.metrics
        ],
    )
    rows = [_rewrite(side, label, entry, reading) for label, entry in entries.items()]
    table = el(
        "table",
        el("caption", f"Rewrites of {side.id}", class_="unseen"),
        el("thead", header),
        el("tbody", rows),
        class_="rewrites",
    )
    frame = ui.scrolling("Rewrites", caller=lambda: table)
    return el("article", el("p", side.id, class_="id"), head, frame, class_="sample")


def _rewrite(side: Side, label: str, entry: Entry, reading: Reading) -> Markup:
    family = entry.report.system.family
    name = el(
        "th",
        el("span", class_=f"dot {family}", title=FAMILIES[family][0]),
        ui.link(label, view="system", system=entry.report.system.name),
        scope="row",
    )
    sample = side.rewrites.get(label)
    if sample is None:
        missing = el("td", "no rewrite of this sentence", class_="quiet-text")
        return el("tr", name, missing, [el("td", DASH, class_="value")] * len(reading.metrics))
    scores = [
        el(
            "td",
            score_markup(m, sample.scores.get(m)),
            class_="value chosen" if m == reading.metric else "value",
            data_label=metric_title(m),
        )
        for m in reading.metrics
    ]
    return el("tr", name, el("td", rewrite_markup(side.source, sample.prediction, reading)), scores)


def rewrite_markup(source: str, prediction: str, reading: Reading) -> Markup:
    """A rewrite as the reader wants it: with its changes marked, or plain.

    One that shares less than half with its source is shown plain in any case.
    """
    if is_blank(prediction):
        return el("span", "(empty)", class_="quiet-text")
    text = el("span", prediction, class_="text")
    if is_copy(source, prediction):
        return join([text, " ", el("span", "unchanged", class_="tag")])
    if reading.plain:
        return text
    if _same_words(source, prediction, reading.language):
        hint = "apart from upper case and spaces, which the metrics do not see"
        return join([text, " ", el("span", "same words", class_="tag", title=hint)])
    difference = word_diff(source, prediction, reading.language)
    if difference.is_rewritten:
        hint = "shares less than half of its words with the source, so changes are not marked"
        return join([text, " ", el("span", "rewritten", class_="tag", title=hint)])
    return diff_markup(difference)


def diff_markup(difference: Difference) -> Markup:
    """The rewrite, with removed words struck out and new words underlined."""
    tags = {"gone": "del", "new": "ins", "same": "span"}
    pieces = [
        (" " if piece.spaced else None, el(tags[piece.kind], piece.text))
        for piece in difference.pieces
    ]
    return el("span", pieces, class_="text")


def score_markup(metric: str, score: float | None) -> Markup | str:
    """A sentence's score; a verdict that is yes or no as a tick or a cross."""
    if score is None:
        return DASH
    if metric in VERDICTS and score in (0.0, 100.0):
        passed = score == 100.0
        words = VERDICTS[metric][0 if passed else 1]
        mark = "\N{CHECK MARK}" if passed else "\N{MULTIPLICATION X}"
        kind = "verdict yes" if passed else "verdict no"
        return el("span", mark, role="img", aria_label=words, title=words, class_=kind)
    return number(score, METRICS[metric].unit if metric in METRICS else "points")


def _same_words(source: str, prediction: str, language: str) -> bool:
    old, new = (tokens(text, language) for text in (source, prediction))
    return [token.key for token in old] == [token.key for token in new]
