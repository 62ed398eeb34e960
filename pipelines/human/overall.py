"""The protocol's overall score, from the three aspects that raters score.

Source: the TSTBench paper, section 3.3.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...datasets_scripts.cleaning import is_copy
from ...datasets_scripts.judgments.aspects import OVERALL, RATED
from ...datasets_scripts.judgments.schema import Judgment, parse_scale

COPY_PENALTY = 0.6


def overall_score(style: float, content: float, fluency: float, *, copied: bool) -> float:
    """The protocol's overall score: the mean of the three, times 0.6 for a copied source.

    A copy scores high on content and fluency although nothing was transferred, hence the penalty.

    >>> overall_score(5, 4, 3, copied=False), round(overall_score(1, 5, 5, copied=True), 2)
    (4.0, 2.2)
    """
    mean = (style + content + fluency) / 3
    return mean * COPY_PENALTY if copied else mean


def overall_judgments(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The overall judgment of every output that one rater scored on all three aspects.

    Args:
        judgments: of any aspects; outputs without a sample id, source or text are skipped,
            because it cannot be known whether they are copies, and so are scores on another scale
            than 1 to 5, on which the protocol says nothing.

    Returns:
        One :data:`OVERALL` judgment per rater and output, in the order of first mention.
    """
    grouped: dict[tuple[str, ...], dict[str, Judgment]] = {}
    names = {aspect.name for aspect in RATED}
    ends = {aspect.name: _ends(aspect.scale) for aspect in RATED}
    for judgment in judgments:
        if judgment.key is None or judgment.score is None or judgment.aspect not in names:
            continue
        if _ends(judgment.scale) == ends[judgment.aspect]:
            *of, aspect, rater = judgment.key
            grouped.setdefault((*of, rater), {})[aspect] = judgment
    rows = []
    for group in grouped.values():
        one = next(iter(group.values()))
        if names - group.keys() or one.source is None or one.output is None:
            continue
        scores: dict[str, Any] = {name: group[name].score for name in names}
        overall = overall_score(**scores, copied=is_copy(one.source, one.output))
        changes = {"aspect": OVERALL.name, "scale": OVERALL.scale, "score": overall, "note": None}
        rows.append(Judgment.model_validate(one.model_dump() | changes))
    return rows


def _ends(scale: str) -> tuple[float, float]:
    """The lowest and the highest score: raters' means are 'interval', their scores 'ordinal'."""
    parsed = parse_scale(scale)
    return parsed.low, parsed.high
