"""From a metric's value to the rating that people give: a logistic curve, by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...errors import InputError
from ...metrics.statistics import too_few
from .samples import Sample, draw_within, percentiles

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
