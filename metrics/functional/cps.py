"""Content preservation score: how near two sentences' embeddings are.

Source: Cloudera Fast Forward Labs (2022), "Automated Metrics for Evaluating Text Style Transfer",
section Content Preservation.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, mean_statistics


def cps_statistics(
    sources: np.ndarray, predictions: np.ndarray, failed: np.ndarray | None = None
) -> Statistics:
    """The mean cosine of sentence embeddings; a failed output has 0.

    Args:
        sources: shape (N, D), any length but 0.
        predictions: shape (N, D).
        failed: booleans, shape (N,): empty predictions.

    Raises:
        InputError: shapes that differ.

    >>> cps_statistics(np.array([[3.0, 4.0]]), np.array([[4.0, 3.0]])).value
    0.96
    """
    a, b = (np.asarray(one, dtype=np.float64) for one in (sources, predictions))
    if a.shape != b.shape or a.ndim != 2:
        raise InputError(f"embeddings of shapes {a.shape} and {b.shape} cannot be compared")
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines = np.divide((a * b).sum(axis=1), lengths, out=np.zeros(len(a)), where=lengths > 0)
    if failed is not None:
        cosines = np.where(failed, 0.0, cosines)
    return mean_statistics(np.clip(cosines, -1.0, 1.0))
