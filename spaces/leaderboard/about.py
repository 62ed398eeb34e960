"""What the numbers mean, for somebody who has not seen them before."""

from __future__ import annotations

from markupsafe import Markup

from ...metrics.result import METRICS
from .markup import el, join
from .words import ASPECT_TITLES, FAMILIES, unit_text


def about_view() -> Markup:
    """Metrics, families, and the rules that this page keeps."""
    rules = [
        "Scores share a column only when their signatures agree: same scorer, same protocol, same "
        "sentences. Anything else is another setting, which the reader chooses.",
        "Every score has a 95% interval: a percentile bootstrap over sentences, 1,000 resamples.",
        "A rank is a range. Two systems that a paired bootstrap cannot tell apart (5% level, "
        "without correction for the number of pairs) share places.",
        "No mean is taken over cells that are missing, and none over scales that differ.",
        "Human scores stand beside the automatic ones, study by study.",
    ]
    return el(
        "div",
        el("h2", "How to read this page"),
        el("ul", [el("li", rule) for rule in rules]),
        el("h2", "The metrics"),
        _metrics(),
        el("h2", "Kinds of system"),
        el(
            "dl",
            [
                join([el("dt", el("span", title, class_=f"badge {family}")), el("dd", meaning)])
                for family, (title, meaning) in FAMILIES.items()
            ],
            class_="kinds",
        ),
        class_="essay",
    )


def _metrics() -> Markup:
    rows = [
        el(
            "tr",
            el("th", facts.title, scope="row"),
            el("td", ASPECT_TITLES[facts.aspect]),
            el("td", facts.meaning),
            el("td", unit_text(facts.unit)),
            el("td", "higher is better" if facts.higher_is_better else "lower is better"),
        )
        for facts in METRICS.values()
    ]
    head = [el("th", t, scope="col") for t in ("Metric", "Aspect", "What it is", "Unit", "")]
    table = el("table", el("thead", el("tr", head)), el("tbody", rows), class_="plain")
    return el("div", table, class_="scroller", tabindex="0", role="region", aria_label="Metrics")
