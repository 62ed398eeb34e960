"""Two systems head to head as an HTML table: one row for each metric."""

from __future__ import annotations

from markupsafe import Markup

from ...metrics.registry import METRICS
from ...metrics.statistics import too_few
from ...pipelines.comparison import Compared, Comparison
from .markup import Child, el
from .table_parts import scrolling
from .words import DASH, metric_title, number, unit_text

MINUS = "\N{MINUS SIGN}"


def versus_table(found: Comparison, labels: tuple[str, str]) -> Markup:
    """Values, difference, interval, p-values, effect and sentences of every metric."""
    first, second = labels
    head = [
        el("th", "Metric", scope="col"),
        *(el("th", label, scope="col", class_="value") for label in labels),
        _header("Difference", "with its 95% interval"),
        _header("p", "Holm; alone"),
        _header("Effect", "per sentence"),
        el("th", "Better", el("small", "after correction"), scope="col"),
        el("th", "Sentences", el("small", f"{first} better, equal, {second} better"), scope="col"),
    ]
    overall_first = sorted(found.metrics, key=lambda one: not _is_overall(one.metric))
    rows = [_row(one, labels) for one in overall_first]
    caption = f"{first} and {second}, metric by metric"
    table = el(
        "table",
        el("caption", caption, class_="unseen"),
        el("thead", el("tr", head)),
        el("tbody", rows),
        class_="plain versus",
    )
    return scrolling(table, caption)


def verdict(found: Comparison, labels: tuple[str, str]) -> str:
    """The comparison in one sentence."""
    if found.same_outputs:
        return "Both systems wrote exactly the same."
    tested = [one for one in found.metrics if one.p_holm is not None]
    if not tested:
        why = too_few(found.count) or "the reports have no replicates"
        return f"No metric could be tested: {why}."
    won = [sum(one.winner == side for one in tested) for side in (0, 1)]
    open_ = len(tested) - sum(won)
    parts = [
        f"{label} is better on {count}" for label, count in zip(labels, won, strict=True) if count
    ]
    if open_:
        parts.append(f"{open_} {'is' if open_ == 1 else 'are'} undecided")
    count = f"Of {len(tested)} metric{'s' * (len(tested) != 1)}"
    return f"{count}: {'; '.join(parts)}."


def _header(title: str, small: str) -> Markup:
    return el("th", title, el("small", small), scope="col", class_="value")


def _row(one: Compared, labels: tuple[str, str]) -> Markup:
    arrow = "\N{UPWARDS ARROW}" if one.higher_is_better else "\N{DOWNWARDS ARROW}"
    facts = METRICS.get(one.metric)
    name = el(
        "th",
        metric_title(one.metric),
        el("small", f"{unit_text(one.unit)} {arrow}"),
        scope="row",
        title=facts.meaning if facts else None,
    )
    values = [
        DASH if value is None else number(value, one.unit) for value in (one.first, one.second)
    ]
    winner = DASH if one.p_holm is None else "undecided"
    if one.winner is not None:
        winner = labels[one.winner]
    effect = None if one.effect is None else f"{_signed(one.effect, 'number')}"
    return el(
        "tr",
        name,
        [el("td", value, class_="value") for value in values],
        el("td", *_difference(one), class_="value"),
        el("td", *_p_values(one), class_="value"),
        el("td", effect or DASH, class_="value"),
        el("td", winner, class_="quiet-text" if one.winner is None else None),
        el("td", _sentences(one, labels)),
    )


def _difference(one: Compared) -> tuple[Child, ...]:
    if one.difference is None:
        return (DASH,)
    shown = _signed(one.difference, one.unit)
    if one.low is None or one.high is None:
        return (shown,)
    bounds = f"{_signed(one.low, one.unit)} to {_signed(one.high, one.unit)}"
    return shown, el("small", bounds)


def _p_values(one: Compared) -> tuple[Child, ...]:
    if one.p is None or one.p_holm is None:
        return (DASH,)
    return f"{one.p_holm:.3f}", el("small", f"{one.p:.3f}")


def _sentences(one: Compared, labels: tuple[str, str]) -> Markup | str:
    """A bar of the three shares, and the counts in words."""
    counts = one.sentences
    if counts is None:
        return DASH
    total = counts.won + counts.tied + counts.lost
    bar = [
        el("i", class_=kind, style=f"flex-grow:{count}")
        for kind, count in (("won", counts.won), ("tied", counts.tied), ("lost", counts.lost))
        if count
    ]
    words = (
        f"{labels[0]} is better on {counts.won}, equal on {counts.tied}, "
        f"worse on {counts.lost} of {total} sentences"
    )
    return el(
        "span",
        el("span", bar, class_="bar", aria_hidden="true"),
        f"{counts.won} \N{MIDDLE DOT} {counts.tied} \N{MIDDLE DOT} {counts.lost}",
        class_="tally",
        title=words,
    )


def _is_overall(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].aspect == "overall"


def _signed(value: float, unit: str) -> str:
    """With a sign, unless it is shown as zero."""
    shown = number(abs(value), unit)
    if not shown.strip("0."):
        return shown
    return f"{'+' if value > 0 else MINUS}{shown}"
