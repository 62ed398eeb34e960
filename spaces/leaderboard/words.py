"""How the page writes numbers, ranks and names."""

from __future__ import annotations

from ...datasets_scripts.directions import Direction
from ...metrics import units
from ...metrics.registry import METRICS
from ...metrics.units import DASH
from ...pipelines.report import SystemInfo
from ...plots.colours import KINDS
from .facts import Facts

ARROW = "\N{RIGHTWARDS ARROW}"

_MEANING = {
    "fpft": "all parameters were trained (FPFT)",
    "peft": "parameter-efficient fine-tuning of a pretrained model",
    "prompted": "a language model was prompted, nothing was trained",
    "rule": "rules, no training",
    "human": "written by people",
    "unknown": "the report does not say",
}
FAMILIES = {name: (kind.title, _MEANING[name]) for name, kind in KINDS.items()}
BOLD = (
    "Bold: the best value among the ranked systems, and every value that is not significantly "
    "different from it (paired bootstrap, p \N{GREATER-THAN OR EQUAL TO} 0.05). The value of a "
    "single ranked system is not bold."
)
BOUNDS = (
    "Bounds are not ranked: people's rewrites, which reference metrics compare with the other "
    "references, the source itself, and random sentences of the target style."
)
VERDICTS = {  # metrics that answer yes or no for one sentence, and the answers in words
    "acc": ("in the target style", "not in the target style"),
    "cola": ("acceptable", "not acceptable"),
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
    """A value as the page's columns show it; see :func:`tstbench.metrics.units.number`."""
    return units.number(value, unit, narrow=True)


def interval_text(low: float, high: float, unit: str) -> str:
    """``49.0-53.1``, with an en dash."""
    return units.between(low, high, unit, narrow=True)


def rank_text(ranks: tuple[int, int]) -> str:
    """``1``, or ``2-5`` with an en dash.

    >>> rank_text((2, 2))
    '2'
    """
    first, last = ranks
    return str(first) if first == last else f"{first}{DASH}{last}"


def unit_text(unit: str) -> str:
    """The text below a column's title."""
    return units.unit(unit).label


def metric_title(metric: str) -> str:
    """A metric's title."""
    return METRICS[metric].title if metric in METRICS else metric


def styles_text(direction: Direction) -> str:
    """``negative -> positive``, with an arrow."""
    return f"{direction.source_style} {ARROW} {direction.target_style}"


def parallel_key(system: SystemInfo | Facts) -> str:
    """The value for the filter by training data."""
    if system.is_bound:  # nothing was trained
        return "unknown"
    return {True: "yes", False: "no", None: "unknown"}[system.needs_parallel]


def parallel_text(needs_parallel: bool | None) -> str:
    """Whether a system was trained on sentence pairs."""
    if needs_parallel is None:
        return "not stated"
    return "needs parallel data" if needs_parallel else "no parallel data"


def shortened(name: str, most: int) -> str:
    """A name of at most so many characters.

    >>> shortened("delete-and-retrieve", 10)
    'delete-an\u2026'
    """
    return name if len(name) <= most else f"{name[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
