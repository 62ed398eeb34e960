"""The derived overall score: what the protocol's rule makes of the three aspects that raters score.

Source of the rule: the TSTBench paper, section 3.3.2. Its raters gave an overall score themselves,
which the rule describes and does not determine; a derived one has a name of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...datasets_scripts.cleaning import is_copy
from ...datasets_scripts.judgments.schema import (
    DERIVED_OVERALL,
    OVERALL,
    RATED,
    Judgment,
    parse_scale,
)

COPY_PENALTY = 0.6


def derived_overall(style: float, content: float, fluency: float, *, copied: bool) -> float:
    """The mean of the three, times 0.6 for a copied source.

    A copy scores high on content and fluency although nothing was transferred, hence the penalty.

    >>> derived_overall(5, 4, 3, copied=False), round(derived_overall(1, 5, 5, copied=True), 2)
    (4.0, 2.2)
    """
    mean = (style + content + fluency) / 3
    return mean * COPY_PENALTY if copied else mean


def derived_overalls(judgments: Iterable[Judgment]) -> list[Judgment]:
    """The derived overall of every output that one rater scored on all three aspects.

    Args:
        judgments: of any aspects. Studies that have an overall score, asked or derived, are
            skipped; so are outputs without a sample id, source or text, because it cannot be known
            whether they are copies, and scores on another scale than 1 to 5, on which the protocol
            says nothing.

    Returns:
        One :data:`DERIVED_OVERALL` judgment per rater and output, in the order of first mention.
    """
    rows = list(judgments)
    has = {row.study for row in rows if row.aspect in (OVERALL.name, DERIVED_OVERALL.name)}
    grouped: dict[tuple[str, ...], dict[str, Judgment]] = {}
    names = {aspect.name for aspect in RATED}
    ends = {aspect.name: _ends(aspect.scale) for aspect in RATED}
    for row in rows:
        if row.key is None or row.usable is None or row.aspect not in names or row.study in has:
            continue
        if _ends(row.scale) == ends[row.aspect]:
            *of, aspect, rater = row.key
            grouped.setdefault((*of, rater), {})[aspect] = row
    found = []
    for group in grouped.values():
        one = next(iter(group.values()))
        if names - group.keys() or one.source is None or one.output is None:
            continue
        scores: dict[str, Any] = {name: group[name].score for name in names}
        overall = derived_overall(**scores, copied=is_copy(one.source, one.output))
        changes = {"aspect": DERIVED_OVERALL.name, "scale": DERIVED_OVERALL.scale, "note": None}
        found.append(Judgment.model_validate(one.model_dump() | changes | {"score": overall}))
    return found


def _ends(scale: str) -> tuple[float, float]:
    """The lowest and the highest score: raters' means are 'interval', their scores 'ordinal'."""
    parsed = parse_scale(scale)
    return parsed.low, parsed.high
