"""How the page words numbers, ranks and names."""

from __future__ import annotations

from ...datasets_scripts.directions import Direction
from ...metrics.result import METRICS
from .significance import Ranks

ARROW = "\N{RIGHTWARDS ARROW}"
DASH = "\N{EN DASH}"

FAMILIES = {
    "fpft": ("Fine-tuned", "all parameters were trained (FPFT)"),
    "peft": ("PEFT", "parameter-efficient fine-tuning of a pretrained model"),
    "prompted": ("Prompted", "a language model was prompted, nothing was trained"),
    "rule": ("Rule", "rules, no training"),
    "human": ("Human", "written by people"),
    "unknown": ("Unknown", "the report does not say"),
}
ASPECT_TITLES = {
    "overall": "Overall",
    "style": "Style",
    "content": "Content",
    "fluency": "Fluency",
    "other": "Other",
    "human": "Human",
}


def number(value: float, unit: str) -> str:
    """As many digits as an interval can carry.

    >>> number(51.26, "percent"), number(0.4567, "fraction"), number(1234.5, "perplexity")
    ('51.3', '0.457', '1234')
    """
    if unit == "fraction":
        return f"{value:.3f}"
    if unit == "perplexity" and abs(value) >= 1000:
        return f"{value:.0f}"
    if unit in ("percent", "perplexity"):
        return f"{value:.1f}"
    return f"{value:.2f}"


def interval_text(low: float, high: float, unit: str) -> str:
    """``49.0-53.1``, with an en dash."""
    return f"{number(low, unit)}{DASH}{number(high, unit)}"


def rank_text(ranks: Ranks) -> str:
    """``1``, or ``2-5`` with an en dash.

    >>> rank_text((2, 2))
    '2'
    """
    first, last = ranks
    return str(first) if first == last else f"{first}{DASH}{last}"


def unit_text(unit: str) -> str:
    """What stands under a column's title."""
    known = {"percent": "%", "fraction": f"0{DASH}1", "perplexity": "per word"}
    return known.get(unit) or unit.split()[-1].replace("-", DASH)  # a scale: ordinal 1-5


def metric_title(metric: str) -> str:
    """What people call a metric."""
    return METRICS[metric].title if metric in METRICS else metric


def styles_text(direction: Direction) -> str:
    """``negative -> positive``, with an arrow."""
    return f"{direction.source_style} {ARROW} {direction.target_style}"


def parallel_text(needs_parallel: bool | None) -> str:
    """Whether a system trained on sentence pairs."""
    if needs_parallel is None:
        return "not said"
    return "needs parallel data" if needs_parallel else "no parallel data"
