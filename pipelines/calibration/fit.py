"""A calibration from judgments: measure, choose parts, fit curves and weights, look elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from ...errors import InputError
from ...metrics.joint.calibration import CalibratedPart
from ...metrics.registry import metric_facts
from ...metrics.statistics import too_few
from ..meta.coefficients import coefficient
from .samples import ASPECTS, Sample, SystemMeans, draw_within, grouped, percentiles

FEWEST = 20  # outputs below which no curve is fitted
_STEEPEST = 50.0  # per standard deviation of the metric: a step, for all that a score can tell


@dataclass(frozen=True)
class Curve:
    """1 / (1 + exp(-(offset + slope x)))."""

    slope: float
    offset: float

    def rating(self, values: np.ndarray) -> np.ndarray:
        """The rating expected for each value, 0 to 1."""
        return np.asarray(expit(self.offset + self.slope * values))


def fit_curve(
    sample: Sample, sign: int = 1, weights: np.ndarray | None = None, start: Curve | None = None
) -> Curve:
    """The curve with the least weighted squared error.

    Args:
        sample: outputs with values and ratings.
        sign: 1 for a slope of 0 or more, -1 (lower is better) for one of 0 or less.
        weights: shape (N,); by default the sample's.
        start: where the search begins.

    Raises:
        InputError: too few outputs, or a metric that gives all of them the same value.
    """
    from scipy.optimize import least_squares  # takes a moment to import

    values, spread = sample.values, float(sample.values.std()) if len(sample.values) else 0.0
    if len(values) < FEWEST or not spread > 0:
        why = "all of one value" if len(values) >= FEWEST else f"fewer than {FEWEST}"
        raise InputError(f"{len(values)} rated outputs, {why}: no curve can be fitted to them")
    root = np.sqrt(sample.weights if weights is None else weights)
    middle = float(values.mean())
    x = sign * (values - middle) / spread

    def residuals(p: np.ndarray) -> np.ndarray:
        return np.asarray(root * (expit(p[0] + p[1] * x) - sample.ratings))

    def slopes(p: np.ndarray) -> np.ndarray:
        rating = expit(p[0] + p[1] * x)
        inner = root * rating * (1 - rating)
        return np.stack([inner, inner * x], axis=1)

    first = [0.0, 1.0]
    if start is not None:
        first = [start.offset + start.slope * middle, max(sign * start.slope * spread, 1e-3)]
    low, high = [-_STEEPEST, 0.0], [_STEEPEST, _STEEPEST]
    found = least_squares(residuals, np.clip(first, low, high), jac=slopes, bounds=(low, high)).x
    slope = sign * float(found[1]) / spread
    return Curve(slope, float(found[0]) - slope * middle)


def explained(curve: Curve, sample: Sample) -> float:
    """The share of the ratings' weighted variance that the curve explains; below 0 if none.

    Returns:
        1 less the squared error over the variance; NaN if all ratings are equal.
    """
    weights = sample.weights
    mean = weights @ sample.ratings
    variance = weights @ (sample.ratings - mean) ** 2
    error = weights @ (sample.ratings - curve.rating(sample.values)) ** 2
    return float(1 - error / variance) if variance > 0 else float("nan")


def curve_intervals(
    sample: Sample, sign: int, curve: Curve, resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    """95% percentile intervals of slope and offset.

    Source sentences are drawn, with all their outputs, within each study and direction; of too few
    there are no intervals.
    """
    codes, strata = sample.clusters
    if too_few(len(strata)):
        return {}
    found = []
    for counts in draw_within(strata, resamples, seed):
        drawn = fit_curve(sample, sign, sample.weights * counts[codes], curve)
        found.append((drawn.slope, drawn.offset))
    return percentiles(("slope", "offset"), np.array(found))


FEWEST_SYSTEMS = 6  # systems below which weights are not fitted


def fit_weights(systems: SystemMeans, counts: np.ndarray | None = None) -> np.ndarray:
    """Shares of style, content and fluency, 0 or more, sum 1: shape (3,).

    Non-negative least squares of the overall means on the aspects' means, without intercept (Lawson
    and Hanson 1974). Directions weigh the same, however many systems each has.

    Args:
        systems: with ratings from 0 to 1.
        counts: how often each system is drawn, shape (S,); by default once.

    Raises:
        InputError: too few systems, or ratings of which no weights follow.
    """
    from scipy.optimize import nnls  # takes a moment to import

    if len(systems.overall) < FEWEST_SYSTEMS:
        raise InputError(
            f"{len(systems.overall)} systems with an overall score: weights need {FEWEST_SYSTEMS}"
        )
    _, of, sizes = grouped(systems.study, systems.direction)
    root = np.sqrt((1.0 if counts is None else counts) / sizes[of])
    found, _ = nnls(root[:, None] * systems.aspects, root * systems.overall)
    if not found.sum() > 0:
        raise InputError("no aspect raises the overall score: no weights follow")
    return np.asarray(found / found.sum())


def weight_intervals(
    systems: SystemMeans, resamples: int, seed: int
) -> dict[str, tuple[float, float]]:
    """95% percentile interval of each share; systems are drawn within their direction."""
    _, strata, _ = grouped(systems.study, systems.direction)
    drawn = [fit_weights(systems, counts) for counts in draw_within(strata, resamples, seed)]
    return percentiles(ASPECTS, np.array(drawn))


@dataclass(frozen=True, kw_only=True)
class Data:
    """What can be fitted, all of it or what is left without some of it.

    Attributes:
        samples: aspect -> metric -> outputs with both; only what curves are fitted on.
        systems: for the weights; empty if nobody gave an overall score.
        kept: shares of style, content and fluency where ``systems`` is empty, shape (3,).
    """

    samples: Mapping[str, Mapping[str, Sample]]
    systems: SystemMeans
    kept: np.ndarray

    def without(self, *, study: str | None = None, direction: str | None = None) -> Data:
        """Without a study, and without a direction.

        With a direction its dataset leaves the weights too, whoever rated it: the weights of a
        direction's judge must not come from other directions of the same texts.
        """

        def left(some: Sample) -> Sample:
            return some.only((some.study != study) & (some.direction != direction))

        systems = self.systems
        if direction is not None:
            systems = systems.only(systems.dataset != direction.split("/")[0])
        return replace(
            self,
            samples={a: {m: left(s) for m, s in of.items()} for a, of in self.samples.items()},
            systems=systems.only(systems.study != study),
        )

    @property
    def shares(self) -> np.ndarray:
        """Shares of style, content and fluency: shape (3,)."""
        return fit_weights(self.systems) if len(self.systems.overall) else self.kept


def sign_of(metric: str) -> int:
    """1 if higher is better, else -1."""
    return 1 if metric_facts(metric).higher_is_better else -1


def fit(data: Data, candidates: Mapping[str, Sequence[str]]) -> tuple[CalibratedPart, ...]:
    """Choose the parts, fit their curves and the weights.

    Args:
        data: what to fit on; nothing else is looked at, not for the choice either.
        candidates: aspect to metrics.

    Raises:
        InputError: too few outputs or systems; the message names the aspect.
    """
    parts = []
    for aspect, share in zip(ASPECTS, data.shares, strict=True):
        metric = choose(data.samples[aspect], candidates[aspect])
        try:
            curve = fit_curve(data.samples[aspect][metric].best, sign_of(metric))
        except InputError as error:
            raise InputError(f"{aspect} from {metric}: {error}") from error
        one: Any = aspect  # of ASPECTS
        parts.append(CalibratedPart(metric, one, float(share), curve.slope, curve.offset))
    return tuple(parts)


def choose(samples: Mapping[str, Sample], candidates: Sequence[str]) -> str:
    """The metric that orders outputs most as raters do: mean Spearman over studies.

    No curve changes an order, so none is needed to choose. Of equals the first is taken.
    """
    if len(candidates) == 1:
        return candidates[0]

    def mean(metric: str) -> float:
        some = samples[metric]
        parts = [some.only(some.study == one) for one in np.unique(some.study)]
        # A study whose ratings are all the same orders nothing; a metric of one value orders none.
        found = [spearman(metric, part) for part in parts if np.ptp(part.ratings) > 0]
        return float(np.mean(np.nan_to_num(found))) if found else -1.0

    return max(candidates, key=mean)


def spearman(metric: str, some: Sample) -> float:
    """Of values, oriented so that higher is better, and ratings; NaN if one of them is constant."""
    values = sign_of(metric) * some.values
    return coefficient("spearman", values, some.ratings) if len(values) > 1 else float("nan")


def held_out(aspect: str, metric: str, whole: Sample) -> list[dict[str, Any]]:
    """Leave-one-study-out and leave-one-direction-out of a curve; empty where nothing is left.

    Returns:
        ``metric`` and ``aspect``; ``kind`` (``study`` or ``direction``) and ``name`` of what was
        left out; ``explained``, the share of variance of the ratings there (below 0, a constant
        does better); ``spearman``, of values and ratings there; ``outputs``, their number.
    """
    found = []
    for kind, names in (("study", whole.study), ("direction", whole.direction)):
        for name in np.unique(names) if len(np.unique(names)) > 1 else ():
            there = whole.only(names == name)
            curve = fit_curve(whole.only(names != name).best, sign_of(metric))
            found.append(
                {
                    "metric": metric,
                    "aspect": aspect,
                    "kind": kind,
                    "name": str(name),
                    "explained": explained(curve, there.best),
                    "spearman": spearman(metric, there.best),
                    "outputs": len(there.best.values),
                }
            )
    return found
