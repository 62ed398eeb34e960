"""From people's ratings of style, content and fluency to their overall score: weights."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from .samples import ASPECTS, SystemMeans, draw_within, grouped, percentiles

FEWEST = 6  # systems below which weights are not fitted


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

    if len(systems.overall) < FEWEST:
        raise InputError(
            f"{len(systems.overall)} systems with an overall score: weights need {FEWEST}"
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
