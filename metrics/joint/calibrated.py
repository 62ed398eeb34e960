"""A Joint calibrated on people: each part becomes the rating that people would give it.

A part's value x becomes a rating between 0 and 1 by a logistic curve, 1 / (1 + exp(-(offset +
slope x))) with slope >= 0, which is what raters gave sentences with that value; the calibrated
Joint is the mean of these ratings, with the weights with which raters' overall scores follow theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...errors import InputError
from ..statistics import Statistics, mean_statistics


@dataclass(frozen=True)
class CalibratedPart:
    """One part of the score.

    Attributes:
        metric: the metric whose values for single sentences are read.
        aspect: the aspect that people rated: style, content or fluency.
        weight: of its rating in the mean, 0 or more.
        slope: of the curve; 0 or more, and below 0 only for a metric where lower is better.
        offset: of the curve.
        missing: the rating where the metric has no value for a sentence.
    """

    metric: str
    aspect: str
    weight: float
    slope: float
    offset: float
    missing: float = 0.0

    def rating(self, values: np.ndarray) -> np.ndarray:
        """The rating that people would give, 0 to 1, of the same shape.

        >>> CalibratedPart("acc", "style", 1.0, slope=2.0, offset=-1.0).rating(np.array([0.5]))
        array([0.5])
        """
        values = np.asarray(values, dtype=np.float64)
        return np.where(np.isnan(values), self.missing, expit(self.offset + self.slope * values))


def calibrated_scores(
    parts: Sequence[CalibratedPart], values: Mapping[str, np.ndarray], failed: np.ndarray
) -> np.ndarray:
    """The calibrated Joint of N sentences, 0 to 1: shape (N,).

    Args:
        parts: of the score; the weights are divided by their sum.
        values: by metric: its values for the sentences, shape (N,).
        failed: which predictions are empty: they score 0. Shape (N,), bool.

    Raises:
        InputError: no weight is above 0, or one is below.
    """
    weights = np.array([part.weight for part in parts])
    if not len(parts) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InputError(f"weights must be finite, not negative, and not all 0; got {weights}")
    ratings = np.array([part.rating(values[part.metric]) for part in parts])
    return np.where(failed, 0.0, weights @ ratings / weights.sum())


def calibrated_statistics(
    parts: Sequence[CalibratedPart], values: Mapping[str, np.ndarray], failed: np.ndarray
) -> Statistics:
    """The mean over sentences of :func:`calibrated_scores`, with those as per-sentence values."""
    return mean_statistics(calibrated_scores(parts, values, failed))
