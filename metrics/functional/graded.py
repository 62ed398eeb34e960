"""Mean of a graded score per sentence: how probable a classifier finds one class."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, mean_statistics


def graded_statistics(distribution: np.ndarray, wanted: int, failed: np.ndarray) -> Statistics:
    """Mean probability of a class, as a fraction.

    Unlike a share of sentences beyond 0.5 (:mod:`.share`), it keeps what the classifier knows about
    degrees, so single sentences can be ranked.

    Args:
        distribution: P(class | sentence), shape (N, C).
        wanted: the column of that class.
        failed: shape (N,), bool: sentences that count 0, whatever the classifier says; empty ones
            are among them.

    Raises:
        InputError: no such column, a value that is no probability, or ``failed`` of another length.

    >>> graded_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), 1, np.array([False, False])).value
    0.45
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    if distribution.ndim != 2 or not 0 <= wanted < distribution.shape[1]:
        raise InputError(f"no class {wanted} in a distribution of shape {distribution.shape}")
    values = distribution[:, wanted]
    wrong = ~((values >= 0) & (values <= 1))  # NaN too
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"the classifier gave sentence {row} the probability {values[row]}")
    failed = np.asarray(failed)
    if failed.shape != values.shape:
        raise InputError(f"failed has shape {failed.shape}, but must have {values.shape}")
    return mean_statistics(np.where(failed, 0.0, values))
