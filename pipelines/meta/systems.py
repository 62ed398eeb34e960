"""Agreement on systems: coefficients over a few systems, in many replicates at once."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ...errors import unknown_name
from ...metrics.statistics import divide

SystemCoefficient = Literal["pearson", "spearman", "kendall_b", "accuracy"]
SYSTEM_COEFFICIENTS: tuple[SystemCoefficient, ...] = get_args(SystemCoefficient)


def correlate(name: str, metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    """A coefficient of each row: (R, S) and (R, S) to (R,); NaN where it is undefined.

    ``accuracy`` is the share of pairs of systems on which both say the same: better, worse or
    equal (Kocmi et al. 2021, "To Ship or Not to Ship", with ties as in Deutsch et al. 2023);
    undefined where people prefer none.

    Raises:
        UnknownNameError: no such coefficient.

    >>> correlate("accuracy", np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]))
    array([0.66666667])
    """
    if name == "pearson":
        return _pearson(metric, human)
    if name == "spearman":
        from scipy.stats import rankdata

        return _pearson(rankdata(metric, axis=1), rankdata(human, axis=1))
    first, second = np.triu_indices(metric.shape[1], k=1)
    a = np.sign(metric[:, first] - metric[:, second])
    b = np.sign(human[:, first] - human[:, second])
    if name == "accuracy":
        return np.where(b.any(axis=1), (a == b).mean(axis=1), np.nan)
    if name != "kendall_b":
        raise unknown_name("coefficient", name, SYSTEM_COEFFICIENTS)
    untied = (a != 0).sum(axis=1) * (b != 0).sum(axis=1)
    return divide((a * b).sum(axis=1), np.sqrt(untied))


def _pearson(metric: np.ndarray, human: np.ndarray) -> np.ndarray:
    x = metric - metric.mean(axis=1, keepdims=True)
    h = human - human.mean(axis=1, keepdims=True)
    xx, hh = (x * x).sum(axis=1), (h * h).sum(axis=1)
    # A system drawn again and again leaves only rounding.
    size = np.abs(metric).max(axis=1) ** 2 * np.abs(human).max(axis=1) ** 2
    spread = np.where(xx * hh > 1e-20 * size, xx * hh, 0)
    return np.clip(divide((x * h).sum(axis=1), np.sqrt(spread)), -1, 1)
