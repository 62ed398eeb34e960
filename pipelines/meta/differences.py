"""Which of several metrics agrees better with people: pairs of them, tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import Protocol

import numpy as np

from ...metrics.statistics import p_value
from .coefficients import bounds, coefficient
from .difference import perm_both, perm_both_systems, williams
from .result import MetaDifference, rounded
from .systems import correlate

MOST = 6  # metrics of which every pair is tested; of more, the best against each other one


class Resampling(Protocol):
    """Number of replicates, and seed."""

    @property
    def resamples(self) -> int: ...  # noqa: D102

    @property
    def seed(self) -> int: ...  # noqa: D102


Drawn = Mapping[str, tuple[float, np.ndarray]]  # metric -> coefficient and its replicates


def sentence_differences(
    where: Mapping[str, str | None],
    table: Mapping[str, np.ndarray],
    human: np.ndarray,
    drawn: Drawn,
    settings: Resampling,
) -> list[MetaDifference]:
    """Differences of Pearson correlations at sentence level.

    Args:
        where: study, direction, model and aspect.
        table: metric to its scores, shape (N,), all of the same outputs.
        human: shape (N,).
        drawn: metric to its correlation, and the replicates over source sentences.
        settings: number of permutations and seed.
    """

    def tests(a: str, b: str) -> tuple[float, float]:
        permuted = perm_both(
            table[a], table[b], human, resamples=settings.resamples, seed=settings.seed
        )
        between = coefficient("pearson", table[a], table[b])
        return permuted, williams(drawn[a][0], drawn[b][0], between, len(human))

    return _differences(where, "sentence", drawn, tests)


def system_differences(
    where: Mapping[str, str | None],
    means: Mapping[str, tuple[np.ndarray, np.ndarray]],
    human: tuple[np.ndarray, np.ndarray],
    sentence: Mapping[str, np.ndarray],
    systems: np.ndarray,
    settings: Resampling,
) -> list[MetaDifference]:
    """Differences of Pearson correlations at system level.

    Args:
        where: study, direction, model and aspect.
        means: metric to the systems' scores, (S,), and their replicates, (R, S).
        human: the systems' mean human scores, and their replicates.
        sentence: metric to its scores of outputs, for those that have them: PERM-BOTH needs them.
        systems: shape (N,), the number of each output's system.
        settings: number of permutations and seed.
    """
    people, people_drawn = human
    drawn = {
        name: (
            float(correlate("pearson", value[None], people[None])[0]),
            correlate("pearson", replicate, people_drawn),
        )
        for name, (value, replicate) in means.items()
    }

    def tests(a: str, b: str) -> tuple[float, float]:
        permuted = float("nan")
        if a in sentence and b in sentence:
            permuted = perm_both_systems(
                sentence[a],
                sentence[b],
                people,
                systems,
                partial(correlate, "pearson"),
                resamples=settings.resamples,
                seed=settings.seed,
            )
        between = float(correlate("pearson", means[a][0][None], means[b][0][None])[0])
        return permuted, williams(drawn[a][0], drawn[b][0], between, len(people))

    return _differences(where, "system", drawn, tests)


def _differences(
    where: Mapping[str, str | None],
    level: str,
    drawn: Drawn,
    tests: Callable[[str, str], tuple[float, float]],
) -> list[MetaDifference]:
    known = [name for name, (value, _) in drawn.items() if np.isfinite(value)]
    ranked = sorted(known, key=lambda name: -drawn[name][0])
    found = []
    for a, b in combinations(ranked, 2):
        if len(ranked) > MOST and a != ranked[0]:
            break
        observed = drawn[a][0] - drawn[b][0]
        gaps = drawn[a][1] - drawn[b][1]
        gaps = gaps[np.isfinite(gaps)]
        low, high = bounds(observed, gaps)
        permuted, williams_p = tests(a, b)
        record = {
            **where,
            "level": level,
            "coefficient": "pearson",
            "first": a,
            "second": b,
            "difference": rounded(observed),
            "low": low,
            "high": high,
            "p_bootstrap": rounded(p_value(observed, gaps)),
            "p_permutation": rounded(permuted),
            "p_williams": rounded(williams_p),
        }
        found.append(MetaDifference.model_validate(record))
    return found
