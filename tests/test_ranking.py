"""Ranks and their ranges, from values and their bootstrap replicates."""

import math

import numpy as np

from tstbench.pipelines.ranking import Bootstrapped, rank


def bootstrapped(observed, noise):
    return Bootstrapped(observed, observed + np.asarray(noise, dtype=float))


NOISE = np.random.RandomState(0).randn(1000)


def test_a_clear_winner_is_first_and_alone():
    ranks = rank("acc", {"b": bootstrapped(50, NOISE), "a": bootstrapped(90, NOISE[::-1])})
    assert [(r.system, r.low, r.high, r.is_best, r.ties_best) for r in ranks] == [
        ("a", 1, 1, True, True),
        ("b", 2, 2, False, False),
    ]
    assert (ranks[0].p_best, ranks[1].p_best) == (1, 1 / 1001)


def test_systems_that_cannot_be_told_apart_share_a_range():
    other = np.random.RandomState(1).randn(1000)
    systems = {
        "x": bootstrapped(50, NOISE),
        "y": bootstrapped(50.5, other),
        "z": bootstrapped(9, 0 * NOISE),
    }
    ranks = {r.system: r for r in rank("acc", systems)}
    assert {name: (r.low, r.high) for name, r in ranks.items()} == {
        "y": (1, 2),
        "x": (1, 2),
        "z": (3, 3),
    }
    assert ranks["x"].ties_best
    assert not ranks["z"].ties_best


def test_overlap_is_not_transitive():
    """a and b tie, b and c tie, a is better than c: only ranges can say so."""
    rng = np.random.RandomState(3)
    systems = {n: bootstrapped(v, rng.randn(1000)) for n, v in (("a", 54), ("b", 52), ("c", 50))}
    assert [(r.system, r.low, r.high) for r in rank("acc", systems)] == [
        ("a", 1, 2),
        ("b", 1, 3),
        ("c", 2, 3),
    ]


def test_equal_systems_tie_in_the_order_given():
    systems = {name: bootstrapped(50, NOISE) for name in ("second", "first")}
    ranks = rank("acc", systems)
    assert [(r.system, r.low, r.high, r.p_best) for r in ranks] == [
        ("second", 1, 2, 1.0),
        ("first", 1, 2, 1.0),
    ]


def test_low_perplexity_is_best():
    systems = {"clumsy": bootstrapped(300, NOISE), "fluent": bootstrapped(30, NOISE)}
    assert [r.system for r in rank("ppl", systems)] == ["fluent", "clumsy"]
    assert [r.system for r in rank("joint", systems)] == ["clumsy", "fluent"]


def test_undefined_values_have_no_place():
    systems = {
        "good": bootstrapped(30, NOISE),
        "hopeless": bootstrapped(math.inf, NOISE),
        "none": bootstrapped(math.nan, NOISE),
    }
    assert [(r.system, r.low, r.high) for r in rank("ppl", systems)] == [("good", 1, 1)]
    assert rank("ppl", {}) == []
