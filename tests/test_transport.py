"""Exact optimal transport against POT's checked solver, gensim, and plans made by hand."""

import numpy as np
import ot
import pytest
from gensim.models import KeyedVectors

from tstbench.errors import InputError
from tstbench.metrics.functional.transport import transport_distances


def points(words=60, dimensions=8, seed=0):
    vectors = np.random.RandomState(seed).randn(words, dimensions)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def whole_problem(one, two, vectors):
    """POT's checked solver on all words, common ones included."""
    words = sorted({*one, *two})
    a, b = (np.array([bag.count(w) / len(bag) for w in words]) for bag in (one, two))
    ground = np.linalg.norm(vectors[words][:, None] - vectors[words][None], axis=2)
    return ot.emd2(a, b, ground)


def bags(n, most, words, seed):
    rng = np.random.RandomState(seed)
    return [rng.randint(0, words, size=rng.randint(1, most + 1)).tolist() for _ in range(n)]


@pytest.mark.parametrize(("most", "words"), [(2, 60), (4, 5), (12, 60), (12, 9)])
def test_every_shape_equals_the_whole_problem(most, words):
    """Few words make many repeated and common ones; the sides have one, two and more words left."""
    vectors = points()
    first, second = bags(300, most, words, 1), bags(300, most, words, 2)
    found = transport_distances(first, second, vectors)
    expected = [whole_problem(a, b, vectors) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_rewrites_equal_gensim():
    """Near copies and unrelated pairs, unit vectors as gensim takes them."""
    rng = np.random.RandomState(3)
    kv = KeyedVectors(8)
    names = [f"w{i}" for i in range(60)]
    kv.add_vectors(names, rng.randn(60, 8).astype(np.float32) * 3)
    first = bags(200, 12, 60, 4)
    second = [[*bag[:-1], int(rng.randint(60))] for bag in first[:100]] + bags(100, 12, 60, 5)
    found = transport_distances(first, second, kv.get_normed_vectors())
    expected = [
        kv.wmdistance([names[w] for w in a], [names[w] for w in b])
        for a, b in zip(first, second, strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_by_hand():
    square = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0], [6.0, 8.0]])
    # One word each: 5. Half stays, half moves 1. Masses 1/2 and 1/2 against 1: (5 + 0) / 2.
    # Two to two without a crossing: 0 -> 2 is 1 and 1 -> 3 is 5, (1 + 5) / 2.
    found = transport_distances([[0], [0, 1], [0, 1], [0, 1]], [[1], [1, 2], [0], [3, 2]], square)
    np.testing.assert_allclose(found, [5.0, 0.5, 2.5, 3.0])


def test_it_is_a_distance():
    vectors = points(seed=6)
    first, second, third = (bags(100, 9, 60, seed) for seed in (7, 8, 9))
    there = transport_distances(first, second, vectors)
    np.testing.assert_allclose(there, transport_distances(second, first, vectors), atol=1e-12)
    detour = there + transport_distances(second, third, vectors)
    assert (transport_distances(first, third, vectors) <= detour + 1e-9).all()
    assert (transport_distances(first, [bag[::-1] for bag in first], vectors) == 0).all()
    doubled = [[*bag, *bag] for bag in second]
    np.testing.assert_allclose(transport_distances(first, doubled, vectors), there, atol=1e-9)


def test_a_text_without_words_has_no_distance():
    found = transport_distances([[], [0], [], [1]], [[0], [], [], [1]], points())
    np.testing.assert_array_equal(np.isnan(found), [True, True, True, False])
    assert found[3] == 0
    assert transport_distances([], [], points()).shape == (0,)


def test_batches_do_not_change_a_value(monkeypatch):
    first, second = bags(100, 12, 60, 10), bags(100, 12, 60, 11)
    together = transport_distances(first, second, points())
    monkeypatch.setattr("tstbench.metrics.functional.transport._FLOATS_AT_ONCE", 1)
    np.testing.assert_allclose(transport_distances(first, second, points()), together, atol=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([[0]], [], "1 texts against 0"),
        ([[60]], [[0]], "rows 0 to 60 of 60"),
        ([[-1]], [[0]], "rows -1 to 0 of 60"),
    ],
)
def test_wrong_words(first, second, message):
    with pytest.raises(InputError, match=message):
        transport_distances(first, second, points())


def test_vectors_that_are_not_finite():
    vectors = points()
    vectors[3, 0] = np.nan
    with pytest.raises(InputError, match="not finite"):
        transport_distances([[0]], [[1]], vectors)


def test_vectors_of_any_length_equal_the_whole_problem():
    """Vectors of lengths 1 to 9, and texts of unequal lengths either way round."""
    vectors = np.random.RandomState(12).randn(9, 3) * np.arange(1, 10)[:, None]
    first = [[0, 1, 1, 2, 3, 4, 4], [5, 6, 7], [8], [0, 0, 1]]
    second = [[5, 6, 7], [0, 1, 1, 2, 3, 4, 4], [1, 2, 3, 5], [2, 2, 3]]
    expected = [whole_problem(a, b, vectors) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(transport_distances(first, second, vectors), expected, atol=1e-9)


def test_vectors_that_are_not_a_table():
    with pytest.raises(InputError, match=r"shape \(3,\): a row per word"):
        transport_distances([[0]], [[1]], np.array([1.0, 2.0, 3.0]))


def test_a_row_past_the_last_is_refused_in_the_second_texts_too():
    with pytest.raises(InputError, match="rows 59 to 60 of 60"):
        transport_distances([[59]], [[60]], points())
    assert transport_distances([[59]], [[59]], points()) == 0


def test_infinite_vectors():
    vectors = points()
    vectors[-1, -1] = -np.inf
    with pytest.raises(InputError, match="not finite"):
        transport_distances([[0]], [[1]], vectors)
