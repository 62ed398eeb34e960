"""Measured agreement with people, as lists and pages show it beside a metric."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...metrics.registry import METRICS, is_neutral
from .aspects import NATURAL
from .known import agreement_of, doubtful, headline, interval_of, shipped_calibration, where
from .result import MetaScore

ASPECTS = ("overall", "style", "content", "fluency", "other")
MARK = "\N{DOUBLE DAGGER}"
MINUS = "\N{MINUS SIGN}"
RHO = "\N{GREEK SMALL LETTER RHO}"
WHAT = (
    f"{RHO} is Spearman's correlation of a metric's scores of single outputs with human scores "
    "of the same aspect, in the study with most rated outputs (of systems: of mean scores, for a "
    "metric that has none of single outputs); +1 is full agreement, 0 none."
)
DOUBT = (
    f"{MARK} In at least one study the interval of {RHO} is not above 0: there the metric "
    "does not agree with people"
)


def measured(metric: str, signature: str = "") -> tuple[MetaScore, ...]:
    """What was measured of the aspect that a metric is for; empty for one that is no quality.

    Args:
        metric: its name.
        signature: of a score, beside which only what was measured on a task like its own may stand:
            with a style in common. What was measured on its very direction comes first.
    """
    facts = METRICS.get(metric)
    if facts is None:
        return ()
    found = [s for s in agreement_of(metric) if NATURAL.get(s.aspect) == facts.aspect]
    if not signature:
        return tuple(found)
    own = f"|{signature}|".partition("|direction:")[2].partition("|")[0]
    if (
        metric == "joint_calibrated"
        and f"|weights:{shipped_calibration().signed}|" not in f"{signature}|"
    ):
        return ()  # somebody's own, which nobody has compared with people
    if metric == "joint_sentence" and "|target_style.classifier:lm:" not in signature:
        return ()  # another reader of style than was compared
    alike = [s for s in found if any(_styles(own) & _styles(there) for there in where(s))]
    return tuple(sorted(alike, key=lambda score: score.direction != own))


def _styles(direction: str) -> set[str]:
    return {*direction.rpartition("/")[2].split("-to-")} - {"neutral", ""}


def short(metric: str, signature: str = "") -> str:
    """``0.60``, with a mark if another study finds no agreement; empty if nothing was measured."""
    found = measured(metric, signature)
    main = headline(found)
    return "" if main is None else f"{signed(main.value)}{MARK if doubtful(found) else ''}"


def beside(metric: str, signature: str = "") -> str:
    """``rho 0.60`` and below it ``people``, with the letter; empty if nothing was measured."""
    if not (text := short(metric, signature)):
        return ""
    below = "systems" if measured(metric)[0].level == "system" else "people"
    return f"{RHO} {text}\n{below}"


def ranking_place(metric: str, signature: str, lacking: int = 0) -> tuple[float, ...]:
    """The sort key of metrics that may order a table: the first one does.

    Overall ones first, and of those one that no system lacks and that agrees best with people on
    systems, where that was measured on such a task; then style, content, fluency. Within one aspect
    in the benchmark's order, those of which neither way is better last.

    Args:
        metric: its name.
        signature: of its scores.
        lacking: how many of the ranked systems have no such score.
    """
    facts, known = METRICS.get(metric), list(METRICS)
    overall = facts is not None and facts.aspect == "overall"
    main = headline(measured(metric, signature)) if overall and signature else None
    return (
        ASPECTS.index(facts.aspect if facts else "other"),
        lacking if overall else 0,
        -(main.value or 0.0) if main and main.level == "system" else 0.0,
        is_neutral(metric),
        known.index(metric) if facts else len(known),
    )


def one_line(metric: str) -> str:
    """The headline number: interval, study, aspect, level, how many; for a table in a file."""
    main = headline(measured(metric))
    if main is None:
        return ""
    number = main.systems if main.level == "system" else main.outputs
    return f"{with_interval(main)} {main.study} {_asked(main)} {main.level} n={number}"


def in_full(metric: str, signature: str = "") -> str:
    """Every study in a sentence each; empty if nothing was measured."""
    found = measured(metric, signature)
    if not found:
        return ""
    said = "; ".join(
        f"{study_title(s.study)}, {_asked(s)}: {with_interval(s)}, {of_how_many(s)}"
        for s in _widest_first(found)
    )
    what = "means of systems" if found[0].level == "system" else "single outputs"
    return f"Agreement with people, {what}, Spearman's {RHO} with 95% interval. {said}"


def of_how_many(score: MetaScore) -> str:
    """``3,200 outputs of 8 systems``, or ``8 systems`` where systems are compared."""
    systems = f"{score.systems} system{'s' * (score.systems != 1)}"
    return systems if score.level == "system" else f"{score.outputs:,} outputs of {systems}"


def by_study(metric: str) -> dict[str, MetaScore]:
    """The number to show for each study: where it asked twice, of the aspect with most outputs."""
    found: dict[str, MetaScore] = {}
    for score in _widest_first(measured(metric)):
        found.setdefault(score.study, score)
    return found


def study_title(name: str) -> str:
    """A study as people cite it.

    >>> study_title("li2018"), study_title("my-study")
    ('Li 2018', 'my-study')
    """
    parts = re.fullmatch(r"([a-z]+)(\d{4})", name)
    return f"{parts[1].capitalize()} {parts[2]}" if parts else name


def signed(value: float | None) -> str:
    """Two decimals, with a true minus sign; a dash if it is undefined.

    >>> signed(0.6), signed(-0.004)
    ('0.60', '0.00')
    """
    if value is None:
        return "\N{EN DASH}"
    text = f"{abs(value):.2f}"
    return f"{MINUS}{text}" if value < 0 and float(text) else text


def with_interval(score: MetaScore) -> str:
    """``0.64 [0.16, 1.00]``."""
    low, high = interval_of(score)
    return f"{signed(score.value)} [{signed(low)}, {signed(high)}]"


def _asked(score: MetaScore) -> str:
    where = f" {score.direction}" if score.direction else ""
    return f"{score.aspect.replace('_', ' ')}{where}"


def _widest_first(scores: Sequence[MetaScore]) -> list[MetaScore]:
    return sorted(scores, key=lambda score: -score.outputs)
