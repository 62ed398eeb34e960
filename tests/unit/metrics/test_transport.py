"""Exact optimal transport against POT's checked solver, gensim, and plans made by hand."""

import re
import sys

import numpy as np
import ot
import pytest

from tstbench.errors import InputError, MissingExtraError
from tstbench.metrics.wmd import transport
from tstbench.metrics.wmd.transport import transport_distances


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


def test_by_hand():
    square = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0], [6.0, 8.0]])
    # One word each: 5. Half stays, half moves 1. Masses 1/2 and 1/2 against 1: (5 + 0) / 2.
    # Two to two without a crossing: 0 -> 2 is 1 and 1 -> 3 is 5, (1 + 5) / 2.
    found = transport_distances([[0], [0, 1], [0, 1], [0, 1]], [[1], [1, 2], [0], [3, 2]], square)
    np.testing.assert_allclose(found, [5.0, 0.5, 2.5, 3.0])


def test_batches_do_not_change_a_value(monkeypatch):
    first, second = bags(100, 12, 60, 10), bags(100, 12, 60, 11)
    together = transport_distances(first, second, points())
    monkeypatch.setattr("tstbench.metrics.wmd.transport._FLOATS_AT_ONCE", 1)
    np.testing.assert_allclose(transport_distances(first, second, points()), together, atol=1e-12)


def test_vectors_of_any_length_equal_the_whole_problem():
    """Vectors of lengths 1 to 9, and texts of unequal lengths either way round."""
    vectors = np.random.RandomState(12).randn(9, 3) * np.arange(1, 10)[:, None]
    first = [[0, 1, 1, 2, 3, 4, 4], [5, 6, 7], [8], [0, 0, 1]]
    second = [[5, 6, 7], [0, 1, 1, 2, 3, 4, 4], [1, 2, 3, 5], [2, 2, 3]]
    expected = [whole_problem(a, b, vectors) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(transport_distances(first, second, vectors), expected, atol=1e-9)


LINE = np.array([[0.0], [1.0], [3.0], [7.0], [20.0]])


def without_pot(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)  # as if it were not installed


def test_one_or_two_words_left_on_either_side_need_no_solver(monkeypatch):
    """On a line, the area between both distributions (Vallender, 1974), by hand.

    One against three: (1 + 3 + 7) / 3. Two against three: of the halves at 0 and 20, the first
    gives a third to 1 and a sixth to 3, the second a sixth to 3 and a third to 7:
    1/3 + 3/6 + 17/6 + 13/3. Three against four that have two in common: 0 at a third of the first
    and 1 and 3 at a quarter of the second each: what is left is 1/3 at 0 and 1/12 at 1 and at 3
    on one side, 1/4 at 7 and at 20 on the other: the area is 1/3 + 2 5/12 + 4/2 + 13/4.
    """
    without_pot(monkeypatch)
    one, three, two = [0], [1, 2, 3], [0, 4]
    found = transport_distances([one, three, two, three], [three, one, three, two], LINE)
    np.testing.assert_allclose(found, [11 / 3, 11 / 3, 8, 8], rtol=1e-14)
    found = transport_distances([[0, 1, 2], [3, 1, 4, 2]], [[3, 1, 4, 2], [0, 1, 2]], LINE)
    area = 1 / 3 + 2 * (1 / 3 + 1 / 12) + 4 * 0.5 + 13 * 0.25
    np.testing.assert_allclose(found, [area, area], rtol=1e-14)


def test_words_that_both_have_are_on_neither_side(monkeypatch):
    """Three of six are common: one word that is said three times is left against three words."""
    without_pot(monkeypatch)
    line = np.arange(7.0)[:, None] ** 2
    one, three = [0, 5, 6, 4, 4, 4], [0, 5, 6, 1, 2, 3]
    found = transport_distances([one, three], [three, one], line)
    np.testing.assert_allclose(found, [(15 + 12 + 7) / 6] * 2, rtol=1e-14)


def test_three_words_left_on_both_sides_need_pot(monkeypatch):
    """0, 1, 3 against 7, 20 and 20: moved as they stand, on a line."""
    first, second, vectors = [0, 1, 2], [3, 4, 5], np.array([*LINE, [26.0]])
    assert transport_distances([first], [second], vectors).tolist() == [(7 + 19 + 23) / 3]
    without_pot(monkeypatch)
    said = "POT is not installed: pip install 'tstbench[vectors]'"
    with pytest.raises(MissingExtraError, match=f"^{re.escape(said)}$"):
        transport_distances([first], [second], vectors)


def test_the_solver_is_never_given_what_does_not_balance():
    ground = np.ones((2, 3, 3))
    mass = np.array([[1.0, 2, 3], [2, 2, 2]])
    assert transport._simplex(mass, mass[:, ::-1].copy(), ground).tolist() == [6, 6]
    more = np.array([[1.0, 2, 3], [2, 2, 3]])
    said = "both sides must have the same mass: the solver would not survive it"
    with pytest.raises(RuntimeError, match=f"^{said}$"):
        transport._simplex(mass, more, ground)


def test_a_solver_that_gives_up_is_not_believed(monkeypatch):
    monkeypatch.setattr(transport, "_MOST_STEPS", 1)
    first, second = bags(1, 40, 60, 13), bags(1, 40, 60, 14)
    with pytest.raises(RuntimeError, match=r"^the transport solver ended with status \{3\}$"):
        transport_distances([first[0] * 2 + [*range(30)]], [second[0] + [*range(30, 60)]], points())


def test_a_batch_holds_as_many_problems_as_it_may(monkeypatch):
    """For each shape: (m + n) D numbers of the words' vectors and m n distances a problem."""
    shapes = []
    ground = transport._ground

    def noted(one, two, points, squares):
        shapes.append((len(one), one.shape[1], two.shape[1]))
        return ground(one, two, points, squares)

    monkeypatch.setattr(transport, "_ground", noted)
    monkeypatch.setattr(transport, "_FLOATS_AT_ONCE", 500)
    # 20 problems of 1 against 2 words, of (1 + 2) 8 + 2 = 26 numbers; 9 of 3 against 4, of 68;
    # two that are larger than a batch, with 20 against 30, one at a time.
    first = [[0]] * 20 + [[0, 1, 2]] * 9 + [[*range(20)]] * 2
    second = [[1, 2]] * 20 + [[3, 4, 5, 6]] * 9 + [[*range(20, 50)]] * 2
    transport_distances(first, second, points())
    assert sorted(shapes) == [(1, 1, 2), (1, 20, 30), (1, 20, 30), (2, 3, 4), (7, 3, 4), (19, 1, 2)]


def test_a_pair_in_which_nothing_is_left_may_be_anywhere(recwarn):
    """Equal texts and empty ones, at the ends and between; the first word of all is not 0."""
    first = [[1], [2, 0], [], [3], [0, 1, 1], [2], []]
    second = [[2], [0, 2], [1], [3, 3], [3, 0, 1], [], []]
    found = transport_distances(first, second, LINE)
    np.testing.assert_array_equal(found, [2, 0, np.nan, 0, 2, np.nan, np.nan])
    assert transport_distances([[2, 2]], [[2]], LINE).tolist() == [0]
    assert np.isnan(transport_distances([[]], [[]], LINE)).tolist() == [True]
    assert not recwarn.list


def test_words_with_the_same_vector_are_0_apart(recwarn):
    """Rounding would make a squared distance negative, and its root no number."""
    vectors = np.random.RandomState(15).randn(200, 6) * 9
    vectors = np.concatenate([vectors, vectors])
    found = transport_distances([[i] for i in range(200)], [[i + 200] for i in range(200)], vectors)
    np.testing.assert_allclose(found, 0, atol=1e-5)
    assert not recwarn.list


def test_single_precision_is_computed_in_double():
    vectors = points().astype(np.float32)
    first, second = bags(30, 6, 60, 16), bags(30, 6, 60, 17)
    found = transport_distances(first, second, vectors)
    exact = transport_distances(first, second, vectors.astype(np.float64))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize(
    ("first", "second", "vectors", "said"),
    [
        ([[0], [1]], [[0]], LINE, "2 texts against 1: they must be pairs"),
        ([[0]], [[1]], LINE[:, 0], "word vectors have shape (5,): a row per word is needed"),
        ([[0]], [[1]], LINE[None], "word vectors have shape (1, 5, 1): a row per word is needed"),
        ([[0]], [[1]], [*LINE, [np.nan]], "a word vector has a number that is not finite"),
        ([[0]], [[1]], [*LINE, [-np.inf]], "a word vector has a number that is not finite"),
        ([[1, 3]], [[2, 5]], LINE, "a word has no vector: rows 1 to 5 of 5"),
        ([[5]], [[1]], LINE, "a word has no vector: rows 1 to 5 of 5"),
        ([[1, 3]], [[2, -2]], LINE, "a word has no vector: rows -2 to 3 of 5"),
    ],
)
def test_what_cannot_be_transported(first, second, vectors, said):
    with pytest.raises(InputError, match=f"^{re.escape(said)}$"):
        transport_distances(first, second, np.array(vectors))


def test_a_batch_is_of_16_megabytes_at_most(monkeypatch):
    """Two million numbers of 8 bytes: of 905 each, for 1 against 2 words of 301 dimensions."""
    sizes = []
    ground = transport._ground

    def noted(one, two, points, squares):
        sizes.append(len(one))
        return ground(one, two, points, squares)

    monkeypatch.setattr(transport, "_ground", noted)
    vectors = points(3, 301)
    found = transport_distances([[0]] * 2500, [[1, 2]] * 2500, vectors)
    assert sizes == [2**21 // 905, 2500 - 2**21 // 905]
    np.testing.assert_allclose(found, whole_problem([0], [1, 2], vectors), atol=1e-12)


def test_texts_of_many_words_are_solved_to_the_end():
    """Scipy's assignment: every word has one of the other text. Ten thousand steps are too few."""
    from scipy.optimize import linear_sum_assignment

    vectors = np.random.RandomState(18).randn(2000, 5)
    ground = np.linalg.norm(vectors[:1000, None] - vectors[None, 1000:], axis=2)
    (found,) = transport_distances([range(1000)], [range(1000, 2000)], vectors)
    assert found == pytest.approx(ground[linear_sum_assignment(ground)].mean(), abs=1e-12)
