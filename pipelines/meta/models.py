"""The mean of a study's models: the number that Mir et al. (2019) print below their tables.

Pooling the outputs of several models mixes differences between outputs with differences between
models. The mean of the models' own coefficients has only the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .coefficients import bounds
from .result import MEAN_OF_MODELS, MetaScore, rounded


@dataclass(frozen=True, eq=False)
class OfModel:
    """One coefficient of one model's outputs, sentence level.

    Attributes:
        score: the record.
        replicates: shape (R,).
        value: of the record, not rounded; NaN if undefined.
    """

    score: MetaScore
    replicates: np.ndarray
    value: float


def means_of_models(found: Iterable[OfModel]) -> list[MetaScore]:
    """The mean over models of each study, aspect, metric and coefficient, with its interval.

    A replicate draws the same sentences for all models, so their replicates are averaged one by
    one. Left out where models have different numbers of sentences, since no draw is then common to
    them, and where there is one model only.
    """
    groups: dict[tuple[str, str, str, str], list[OfModel]] = {}
    for one in found:
        score = one.score
        key = (score.study, score.aspect, score.metric, score.coefficient)
        groups.setdefault(key, []).append(one)
    means = []
    for some in groups.values():
        if len(some) < 2 or len({one.score.items for one in some}) > 1:
            continue
        value = float(np.mean([one.value for one in some]))
        low, high = bounds(value, np.mean([one.replicates for one in some], axis=0))
        changed = {
            "model": MEAN_OF_MODELS,
            "value": rounded(value),
            "low": low,
            "high": high,
            "outputs": sum(one.score.outputs for one in some),
            "systems": sum(one.score.systems for one in some),
        }
        means.append(some[0].score.model_copy(update=changed))
    return means
