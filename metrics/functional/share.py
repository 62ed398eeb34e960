"""Shares of sentences that a classifier assigns to one class: style accuracy and acceptability.

ACC: the share classified as the target style (TSTBench paper, section 3.3.1). CoLA: the share
classified as acceptable (Krishna, Wieting and Iyyer 2020, section 2.3).
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, mean_statistics


def share_statistics(
    distribution: np.ndarray, wanted: int, failed: np.ndarray | None = None
) -> Statistics:
    """Percentage of sentences whose most probable class is the wanted one.

    Args:
        distribution: P(class | sentence), shape (N, C).
        wanted: the column of that class.
        failed: booleans, shape (N,): sentences that count as misses, whatever the classifier says.
            Empty predictions are among them: a classifier assigns them a class too, which would
            reward every failure of a system if that class is the wanted one.

    Raises:
        InputError: no such column, a probability that is NaN, or ``failed`` of another length.

    >>> share_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), wanted=1).value
    50.0
    >>> share_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), 1, np.array([False, True])).value
    0.0
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    if distribution.ndim != 2 or not 0 <= wanted < distribution.shape[1]:
        raise InputError(f"no class {wanted} in a distribution of shape {distribution.shape}")
    if np.isnan(distribution).any():
        row = int(np.isnan(distribution).any(axis=1).argmax())
        raise InputError(f"the classifier returned NaN for sentence {row}")
    hits = distribution.argmax(axis=1) == wanted
    if failed is not None:
        failed = np.asarray(failed, dtype=bool)
        if failed.shape != hits.shape:
            raise InputError(f"failed has shape {failed.shape}, but must have {hits.shape}")
        hits &= ~failed
    return mean_statistics(hits.astype(np.float64), scale=100.0)
