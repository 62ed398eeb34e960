"""Intervals of coefficients from their replicates."""

from __future__ import annotations

import numpy as np

from ...metrics.statistics import LEVEL
from .result import rounded


def bounds(value: float, drawn: np.ndarray) -> tuple[float | None, float | None]:
    """The percentile interval; ``None`` where the value is undefined."""
    finite = drawn[np.isfinite(drawn)]
    if not np.isfinite(value) or not len(finite):
        return None, None
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(finite, [tail, 100 - tail])
    return rounded(low), rounded(high)
