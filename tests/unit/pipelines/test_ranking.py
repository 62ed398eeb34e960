"""Ranks and their ranges, from values and their bootstrap replicates."""

import math

import numpy as np
import pytest

from tstbench.pipelines.ranking import Bootstrapped, rank_values


def bootstrapped(observed, noise):
    return Bootstrapped(observed, observed + np.asarray(noise, dtype=float))


NOISE = np.random.RandomState(0).randn(1000)


def test_overlap_is_not_transitive():
    """a and b tie, b and c tie, a is better than c: only ranges can say so."""
    rng = np.random.RandomState(3)
    systems = {n: bootstrapped(v, rng.randn(1000)) for n, v in (("a", 54), ("b", 52), ("c", 50))}
    ranks = rank_values(systems, higher_is_better=True)
    assert [(r.system, r.low, r.high, r.ties_best) for r in ranks] == [
        ("a", 1, 2, True), ("b", 1, 3, True), ("c", 2, 3, False),
    ]  # fmt: skip


def test_equal_systems_tie_in_the_order_given():
    systems = {name: bootstrapped(50, NOISE) for name in ("second", "first")}
    ranks = rank_values(systems, higher_is_better=True)
    assert [(r.system, r.low, r.high, r.p_best) for r in ranks] == [
        ("second", 1, 2, 1.0),
        ("first", 1, 2, 1.0),
    ]


def test_undefined_values_have_no_place():
    systems = {
        "good": bootstrapped(30, NOISE),
        "hopeless": bootstrapped(math.inf, NOISE),
        "none": bootstrapped(math.nan, NOISE),
    }
    assert [(r.system, r.low, r.high) for r in rank_values(systems, higher_is_better=False)] == [
        ("good", 1, 1)
    ]
    assert rank_values({}, higher_is_better=False) == []


def test_a_p_value_by_hand():
    """3 against 1: differences 2, 2, 2, 5, centred 0, 0, 0, 3, of which one is as large as 2."""
    systems = {
        "one": Bootstrapped(1, np.zeros(4)),
        "three": Bootstrapped(3, np.array([2, 2, 2, 5])),
    }
    best, other = rank_values(systems, higher_is_better=True)
    assert (best.system, best.value, best.p_best) == ("three", 3, 1)
    assert (other.system, other.value, other.p_best) == ("one", 1, (1 + 1) / (4 + 1))


def test_a_p_value_of_exactly_alpha_shows_nothing():
    """Of 19 replicates none is as extreme: p is 1/20, and p >= 0.05 is a tie, as the tables say."""
    noise = NOISE[:19] / 10
    for higher_is_better in (True, False):
        systems = {"a": bootstrapped(50, noise), "b": bootstrapped(80, noise[::-1])}
        ranks = rank_values(systems, higher_is_better=higher_is_better)
        assert [(r.low, r.high, r.ties_best) for r in ranks] == [(1, 2, True), (1, 2, True)]
        assert ranks[1].p_best == pytest.approx(0.05)


def test_a_clear_order_of_three():
    """Every difference is significant, so there is one rank for each; also if less is better."""
    systems = {name: bootstrapped(v, NOISE) for name, v in (("b", 70), ("c", 30), ("a", 90))}
    up = rank_values(systems, higher_is_better=True)
    assert [(r.system, r.value, r.low, r.high) for r in up] == [
        ("a", 90, 1, 1), ("b", 70, 2, 2), ("c", 30, 3, 3),
    ]  # fmt: skip
    down = rank_values(systems, higher_is_better=False)
    assert [(r.system, r.low, r.high) for r in down] == [("c", 1, 1), ("b", 2, 2), ("a", 3, 3)]


def test_too_few_sentences_rank_nobody():
    """Every rank is open, and nothing is best, or as good as the best."""
    systems = {
        name: Bootstrapped(value, np.full(1000, np.nan)) for name, value in (("a", 9), ("b", 5))
    }
    ranks = rank_values(systems, higher_is_better=True)
    assert [(r.system, r.low, r.high, r.ties_best) for r in ranks] == [
        ("a", 1, 2, False), ("b", 1, 2, False),
    ]  # fmt: skip
