"""What can be seen without reading: how long rewrites are, and how many are copies.

Source: the length and copy statistics of Xie et al. (2025), TSTBench, Table 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..statistics import Statistics, mean_statistics, quotient


def length_ratio(predictions: Sequence[int], sources: Sequence[int]) -> Statistics:
    """Words of all predictions over words of all sources, a ratio of sums.

    Args:
        predictions: words of N predictions.
        sources: words of their sources; where there are none, the sentence has no ratio of its own.

    >>> length_ratio([4, 0], [4, 4]).value
    0.5
    """
    rows = np.stack([np.asarray(predictions), np.asarray(sources)], axis=1).astype(np.float64)
    return Statistics(rows, quotient, quotient(rows))


def copy_rate(predictions: Sequence[str], sources: Sequence[str]) -> Statistics:
    """Percentage of predictions that equal their source.

    Args:
        predictions: N texts, as they are to be compared.
        sources: N texts.

    >>> copy_rate(["a b", "c"], ["a b", "d"]).value
    50.0
    """
    copied = [one == other for one, other in zip(predictions, sources, strict=True)]
    return mean_statistics(np.array(copied, dtype=np.float64), scale=100.0)
