"""Sentences side by side as HTML: source, references, every rewrite with its scores and diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ...metrics.result import METRICS
from .data import Entry
from .diff import word_diff
from .markup import el, join
from .samples import Side
from .words import DASH, FAMILIES, metric_title, number


def sample_card(
    side: Side,
    entries: Mapping[str, Entry],
    metrics: Sequence[str],
    *,
    metric: str,
    styles: tuple[str, str],
) -> Markup:
    """One source and what each system made of it.

    Args:
        side: the source and its rewrites.
        entries: the systems to show, by label, in order; one without this sentence is said to be.
        metrics: whose sentence scores are shown.
        metric: the one the sentences are ordered by; it is marked.
        styles: source and target style.
    """
    references = [el("li", el("span", text, class_="text")) for text in side.references]
    head = el(
        "header",
        el("p", el("span", styles[0], class_="tag"), el("span", side.source, class_="text")),
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
        el("th", f"Rewrite ({styles[1]})", scope="col"),
        [
            el(
                "th",
                metric_title(m),
                scope="col",
                class_="value chosen" if m == metric else "value",
            )
            for m in metrics
        ],
    )
    rows = [_rewrite(side, label, entry, metrics, metric) for label, entry in entries.items()]
    table = el(
        "table",
        el("caption", f"Rewrites of {side.id}", class_="unseen"),
        el("thead", header),
        el("tbody", rows),
        class_="rewrites",
    )
    frame = el("div", table, class_="scroller", tabindex="0", role="region", aria_label="Rewrites")
    return el("article", el("p", side.id, class_="id"), head, frame, class_="sample")


def _rewrite(side: Side, label: str, entry: Entry, metrics: Sequence[str], metric: str) -> Markup:
    family = entry.report.system.family
    name = el(
        "th",
        el("span", class_=f"dot {family}", title=FAMILIES[family][0]),
        label,
        scope="row",
    )
    sample = side.rewrites.get(label)
    if sample is None:
        missing = el("td", "no rewrite of this sentence", class_="quiet-text")
        return el("tr", name, missing, [el("td", DASH, class_="value")] * len(metrics))
    scores = [
        el(
            "td",
            _score(m, sample.scores.get(m)),
            class_="value chosen" if m == metric else "value",
            data_label=metric_title(m),
        )
        for m in metrics
    ]
    return el("tr", name, el("td", diff_markup(side.source, sample.prediction)), scores)


def diff_markup(source: str, prediction: str) -> Markup:
    """The rewrite with what is gone struck out and what is new underlined."""
    if not prediction.strip():
        return el("span", "(empty)", class_="quiet-text")
    if prediction.split() == source.split():
        same = el("span", "unchanged", class_="tag")
        return join([el("span", prediction, class_="text"), " ", same])
    tags = {"gone": "del", "new": "ins", "same": "span"}
    pieces = []
    for piece in word_diff(source, prediction):
        pieces += [el(tags[piece.kind], piece.text), " "]
    return el("span", pieces, class_="text")


def _score(metric: str, score: float | None) -> str:
    if score is None:
        return DASH
    return number(score, METRICS[metric].unit if metric in METRICS else "points")
