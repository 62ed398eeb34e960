"""How far raters agree, and the mean human score of each system.

Fleiss' kappa (Fleiss 1971) is from statsmodels, Krippendorff's alpha (Krippendorff 2011,
"Computing Krippendorff's Alpha-Reliability") is from krippendorff; intervals are percentile
bootstraps over items, because items, not single scores, are what was sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..datasets_scripts.cleaning import is_copy
from ..datasets_scripts.judgments.schema import (
    DERIVED_OVERALL,
    NATURALNESS,
    NATURALNESS_ABSOLUTE,
    OVERALL,
    RATED,
    Judgment,
    parse_scale,
)
from ..errors import InputError, require
from ..metrics.statistics import (
    RESAMPLES,
    SEED,
    Interval,
    interval,
    mean_statistics,
    percentile_interval,
    too_few,
)


@dataclass(frozen=True)
class Coefficient:
    """An agreement coefficient: 1 is perfect, 0 is chance; ``None`` if it is undefined.

    It is undefined if no item was scored twice, or if all scores are the same.
    """

    value: float | None
    interval: Interval | None
    items: int


@dataclass(frozen=True)
class Agreement:
    """The agreement of the raters on one aspect of one direction.

    Attributes:
        direction: ``None`` if the items of several directions are pooled.
        aspect: what was judged.
        scale: the scale of the scores.
        raters: pseudonyms of those who scored at least one item.
        kappa: Fleiss' kappa over the items that all of ``raters`` scored, categories unordered; not
            defined for scores that are not categories (``interval`` scales).
        alpha: Krippendorff's alpha at the scale's level, over items with two scores or more.
    """

    direction: str | None
    aspect: str
    scale: str
    raters: tuple[str, ...]
    kappa: Coefficient
    alpha: Coefficient


@dataclass(frozen=True)
class SystemMean:
    """A system's mean human score: over items, of the mean over raters."""

    direction: str
    system: str
    aspect: str
    scale: str
    mean: float
    interval: Interval | None
    items: int
    raters: int


def agreement(
    judgments: Iterable[Judgment], *, pooled: bool = False, resamples: int = RESAMPLES
) -> list[Agreement]:
    """Agreement for each direction and aspect, in the order of first mention.

    An item is one output: study, direction, system and sample id.

    Args:
        judgments: from one or more studies; skipped ones (score null) count as missing.
        pooled: put the items of all directions together.
        resamples: bootstrap replicates for each interval; 0 for none.

    Raises:
        InputError: a judgment has no sample id, or an aspect is on two scales.
        MissingExtraError: statsmodels or krippendorff is not installed.
    """
    groups: dict[tuple[str | None, str], list[Judgment]] = {}
    for judgment in judgments:
        direction = None if pooled else judgment.direction
        groups.setdefault((direction, judgment.aspect), []).append(judgment)
    results = []
    for (direction, aspect), group in groups.items():
        scale = _only_scale(aspect, group)
        table, raters = reliability_table(group)
        level = parse_scale(scale).level
        counts, values = value_counts(table)
        rated = counts.sum(axis=1)
        complete = counts[rated == len(raters)]
        if level == "interval" or len(raters) < 2:
            kappa = Coefficient(None, None, len(complete))
        else:
            kappa = _coefficient(complete, fleiss_kappa, resamples)
        compute = partial(krippendorff_alpha, values=values, level=level)
        alpha = _coefficient(counts[rated >= 2], compute, resamples)
        results.append(Agreement(direction, aspect, scale, raters, kappa, alpha))
    return results


def natural_from(judgments: Iterable[Judgment], tau: int) -> list[Judgment]:
    """Naturalness from 1 to 5 as a choice: 1 from ``tau`` on, 0 below; ``naturalness_tau_2``.

    So its kappa can be compared with that of relative naturalness, which has two answers.

    Source: Mir et al. (2019), section 5.2 and Table 6, whose thresholds are 3 and 2.
    """
    aspect, scale = f"{NATURALNESS_ABSOLUTE.name}_tau_{tau}", NATURALNESS.scale
    return [
        row.model_copy(update={"aspect": aspect, "scale": scale, "score": float(row.usable >= tau)})
        for row in judgments
        if row.aspect == NATURALNESS_ABSOLUTE.name and row.usable is not None
    ]


def _only_scale(aspect: str, group: list[Judgment]) -> str:
    scales = sorted({judgment.scale for judgment in group})
    if len(scales) > 1:
        message = f"{aspect} was judged on several scales ({', '.join(scales)})"
        raise InputError(f"{message}: compute agreement for each study separately")
    return scales[0]


def reliability_table(judgments: Iterable[Judgment]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Scores as (items, raters), NaN if a rater gave none, and the raters' names, sorted.

    Raises:
        InputError: a judgment has no sample id, or a rater scored an item twice.
    """
    rows: dict[tuple[str, ...], dict[str, float]] = {}
    for judgment in judgments:
        if judgment.key is None:
            message = (
                f"{judgment.study} has no sample ids: the scores of different raters cannot be"
            )
            raise InputError(f"{message} matched, so no agreement can be computed")
        *item, rater = judgment.key
        scores = rows.setdefault(tuple(item), {})
        if judgment.usable is None:
            continue
        if rater in scores:
            raise InputError(f"{rater} scored {judgment.aspect} of {' '.join(item)} twice")
        scores[rater] = judgment.usable
    raters = tuple(sorted({rater for scores in rows.values() for rater in scores}))
    table = np.array([[row.get(rater, np.nan) for rater in raters] for row in rows.values()])
    return table.reshape(len(rows), len(raters)), raters


def value_counts(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many raters gave each value to each item: (items, values), and the values, ascending.

    Raises:
        InputError: there are more than 100 different values, which would need too much memory.
    """
    values = np.unique(table[~np.isnan(table)])
    if len(values) > 100:
        message = f"agreement needs a scale with few steps, but there are {len(values)} values"
        raise InputError(f"{message}: round them first")
    return (table[:, :, None] == values).sum(axis=1), values


def fleiss_kappa(counts: np.ndarray) -> float:
    """Fleiss' kappa; NaN if it is undefined.

    Args:
        counts: shape (items, values), all rows with the same sum, see :func:`value_counts`.
    """
    if (counts.sum(axis=0) > 0).sum() < 2:
        return float("nan")
    return float(require("statsmodels.stats.inter_rater", "space").fleiss_kappa(counts))


def krippendorff_alpha(counts: np.ndarray, values: np.ndarray, level: str) -> float:
    """Krippendorff's alpha; NaN if it is undefined.

    Args:
        counts: shape (items, values), each row with two or more scores.
        values: shape (values,), ascending.
        level: ``nominal``, ``ordinal`` or ``interval``.
    """
    used = counts.sum(axis=0) > 0
    if used.sum() < 2:
        return float("nan")
    alpha = require("krippendorff", "space").alpha
    return float(
        alpha(value_counts=counts[:, used], value_domain=values[used], level_of_measurement=level)
    )


def _coefficient(
    counts: np.ndarray, compute: Callable[[np.ndarray], float], resamples: int
) -> Coefficient:
    value = compute(counts)
    if np.isnan(value):
        return Coefficient(None, None, len(counts))
    if resamples == 0 or too_few(len(counts)):
        return Coefficient(value, None, len(counts))
    draws = np.random.RandomState(SEED).randint(0, len(counts), size=(resamples, len(counts)))
    replicates = np.array([compute(counts[rows]) for rows in draws])  # NaN: one value was drawn
    return Coefficient(value, percentile_interval(value, replicates), len(counts))


def system_means(judgments: Iterable[Judgment]) -> list[SystemMean]:
    """Mean score of each system on each aspect of each direction, with a bootstrap interval.

    Scores are averaged over the raters of each item first, so that an item with more raters has no
    more weight. A judgment without a sample id is an item of its own.

    Raises:
        InputError: an aspect of a system is on two scales.
    """
    groups: dict[tuple[str, str, str], list[Judgment]] = {}
    for judgment in judgments:
        key = (judgment.direction, judgment.system, judgment.aspect)
        groups.setdefault(key, []).append(judgment)
    means = []
    for (direction, system, aspect), group in groups.items():
        scale = _only_scale(aspect, group)
        items: dict[object, list[float]] = {}
        for number, judgment in enumerate(group):
            if judgment.usable is not None:
                item = (judgment.study, judgment.sample_id) if judgment.sample_id else number
                items.setdefault(item, []).append(judgment.usable)
        if not items:
            continue
        statistics = mean_statistics(np.array([np.mean(scores) for scores in items.values()]))
        raters = {judgment.rater for judgment in group if judgment.usable is not None}
        bounds = interval(statistics)
        means.append(
            SystemMean(
                direction, system, aspect, scale, statistics.value, bounds, len(items), len(raters)
            )
        )
    return means


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
