"""Whether one metric agrees better with people than another: intervals and tests by hand."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from tstbench.pipelines.meta.differences import MOST, sentence_differences

WHERE = {"study": "s", "direction": None, "model": None, "aspect": "style"}


@dataclass(frozen=True)
class Asked:
    resamples: int = 50
    seed: int = 3


def found(drawn):
    random = np.random.RandomState(0)
    human = random.randn(30)
    table = {name: human + random.randn(30) for name in drawn}
    return sentence_differences(WHERE, table, human, drawn, Asked())


def test_the_interval_is_that_of_the_differences_of_each_replicate():
    """Replicates of both metrics move together, and only their difference counts.

    Of 101 differences the ends are halfway between the third and the fourth, 0 and 0.05, and
    between the 98th and the 99th. As far from 0.15 as that is from 0 are the three that are 0.
    """
    gaps = np.r_[np.zeros(3), np.linspace(0.05, 0.25, 98)]
    together = np.random.RandomState(1).permutation(np.linspace(-0.9, 0.6, 101))
    drawn = {"worse": (0.5, together), "better": (0.65, together + gaps)}
    (gap,) = found(drawn)
    assert (gap.first, gap.second, gap.level, gap.study) == ("better", "worse", "sentence", "s")
    assert gap.difference == pytest.approx(0.15)
    assert gap.low == pytest.approx(0.025, abs=1e-6)
    assert gap.high == pytest.approx(0.05 + 0.2 * 94.5 / 97, abs=1e-6)
    assert gap.p_bootstrap == pytest.approx(4 / 102, abs=1e-6)


def test_replicates_without_a_correlation_do_not_count():
    some = np.array([0.1, np.nan, 0.2, 0.3, np.inf, 0.4])
    (gap,) = found({"a": (0.4, some), "b": (0.1, np.zeros(6))})
    assert gap.low == pytest.approx(0.1 + 0.075 * 0.1, abs=1e-6)
    assert gap.high == pytest.approx(0.4 - 0.075 * 0.1, abs=1e-6)
    (gap,) = found({"a": (0.4, np.full(6, np.nan)), "b": (0.1, np.zeros(6))})
    assert (gap.low, gap.high, gap.difference) == (None, None, 0.3)


def test_of_many_metrics_the_best_is_compared_with_each():
    values = [0.1, 0.7, 0.3, 0.6, 0.2, 0.5, np.nan]
    drawn = {f"m{n}": (value, np.zeros(9)) for n, value in enumerate(values)}
    order = ["m1", "m3", "m5", "m2", "m4", "m0"]
    assert len(order) == MOST
    assert [(gap.first, gap.second) for gap in found(drawn)] == list(combinations(order, 2))
    drawn["m6"] = (0.65, np.zeros(9))
    others = ["m6", *order[1:]]
    assert [(gap.first, gap.second) for gap in found(drawn)] == [("m1", name) for name in others]
