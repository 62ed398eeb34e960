"""The arithmetic of single metrics without their scorers: by hand, or against scipy and sklearn.

Fast, so that mutation tests can run it for every changed line. No case is symmetric: weights
differ, styles are out of order, and texts are of unequal lengths.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import cosine
from scipy.special import expit
from scipy.stats import gmean, hmean
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.cps.cps import cps_statistics
from tstbench.metrics.fluency.fluency import graded_statistics
from tstbench.metrics.joint.calibration import (
    CalibratedPart,
    calibrated_scores,
    calibrated_statistics,
)
from tstbench.metrics.joint.joint import (
    JointWeights,
    joint_score,
    joint_statistics,
    sentence_statistics,
)
from tstbench.metrics.logprop.logprop import logprop_statistics
from tstbench.metrics.naturalness.naturalness import (
    CrossFitted,
    Texts,
    cross_fit,
    folds_of,
    log_probability_per_word,
    naturalness_statistics,
    unigram_features,
)
from tstbench.metrics.ppl.ppl import ppl_statistics
from tstbench.metrics.scorers.masking import (
    style_words,
    without_words,
    word_attributions,
    word_spans,
)
from tstbench.metrics.statistics import resample, share_statistics

# -- Joint ---------------------------------------------------------------------------------------


def test_unequal_weights_of_joint_by_hand():
    """Weights 3, 1, 2 are the exponents 1/2, 1/6 and 1/3; ln e^4 is 4."""
    weights = JointWeights(3, 1, 2)
    want = 0.5**0.5 * 0.2 ** (1 / 6) * 0.25 ** (1 / 3)
    assert joint_score(50, 20, np.e**4, weights) == pytest.approx(want, abs=1e-12)
    assert joint_score(50, 20, np.e**4, JointWeights(ppl=0)) == pytest.approx(0.1**0.5, abs=1e-12)
    assert joint_score(100, 100, 1.0, weights) == 1


def test_each_of_many_joints_is_its_own(recwarn):
    """The third has fluency 1 although its perplexity is below e, the fourth no accuracy."""
    acc, bleu = np.array([90.0, 40, 64, 0, 50]), np.array([10.0, 80, 100, 50, np.nan])
    ppl = np.array([np.e**2, np.e**5, 2.0, 30, 9])
    found = joint_score(acc, bleu, ppl)
    want = [(0.9 * 0.1 / 2) ** (1 / 3), (0.4 * 0.8 / 5) ** (1 / 3), 0.64 ** (1 / 3), 0, np.nan]
    assert found == pytest.approx(want, abs=1e-12, nan_ok=True)
    assert joint_score(acc[:3], 80.0, np.inf).tolist() == [0, 0, 0]
    assert joint_score(50, 0, 50) == 0
    assert joint_score(25, 0, 50, JointWeights(acc=1, bleu=0, ppl=0)) == pytest.approx(0.25)
    assert np.isnan(joint_score(1.0, 1.0, np.nan))
    assert np.isnan(joint_score(np.array([np.nan, 9]), 1, 1, JointWeights(0, 1, 2))).tolist() == [
        *(True, False)
    ]
    assert not recwarn.list


def test_a_joint_with_other_weights_from_its_parts():
    """Hits 2 of 3; 4 digits in 5 words; the weights are no others than those given."""
    acc = share_statistics(np.array([[0.1, 0.9], [0.7, 0.3], [0.2, 0.8]]), 1)
    bleu = bleu_statistics(["a b c d e", "a b c x", "y"], [["a b c d f"], ["a b c d"], ["z"]])
    ppl = ppl_statistics(np.array([-1.0, -2, -1]), np.array([3, 1, 1]))
    found = joint_statistics(acc, bleu, ppl, JointWeights(3, 1, 2))
    assert found.rows.shape == (3, 2 + bleu.rows.shape[1] + 2)
    assert found.per_sentence is None
    fluency = 1 / np.log(10**0.8)  # of a perplexity of 6.3
    want = (2 / 3) ** (1 / 2) * (bleu.value / 100) ** (1 / 6) * fluency ** (1 / 3)
    assert found.value == pytest.approx(want, abs=1e-12)
    equal = ((2 / 3) * (bleu.value / 100) * fluency) ** (1 / 3)
    assert joint_statistics(acc, bleu, ppl).value == pytest.approx(equal, abs=1e-12)
    counts = resample(3, 5, 1)
    drawn, *parts = (one.aggregate(counts @ one.rows) for one in (found, acc, bleu, ppl))
    assert drawn == pytest.approx(joint_score(*parts, JointWeights(3, 1, 2)), nan_ok=True)


def test_weights_of_joint_are_written_as_they_are_given():
    assert str(JointWeights(3, 0.5, 2.25)) == "3,0.5,2.25"
    assert str(JointWeights(0, 1, 0)) == "0,1,0"
    assert JointWeights(0, 0, 0.25).ppl == 0.25  # any one above 0 will do


# -- the calibrated Joint ------------------------------------------------------------------------


def test_a_rating_is_scipys_logistic_curve_and_of_full_precision():
    part = CalibratedPart("acc", "style", 1.0, slope=0.7, offset=-1.3, missing=0.2)
    values = np.array([2.5, np.nan, -4.0], dtype=np.float32)
    found = part.rating(values)
    assert found.dtype == np.float64
    want = [1 / (1 + np.exp(-(-1.3 + 0.7 * 2.5))), 0.2, 1 / (1 + np.exp(-(-1.3 - 0.7 * 4)))]
    assert found == pytest.approx(want, abs=1e-15)
    assert CalibratedPart("a", "style", 1.0, 0.7, -1.3).rating([np.nan]).tolist() == [0]
    assert part.rating(np.array([np.inf, -np.inf])).tolist() == [1, 0]  # values, not missing ones


def test_calibrated_weights_are_relative_and_may_be_0_but_for_one():
    parts = [
        CalibratedPart("a", "style", 3.0, 0.5, 0.1),
        CalibratedPart("b", "content", 0.0, 1.0, 5.0),
        CalibratedPart("c", "fluency", 0.5, -0.25, 0.0),
    ]
    values = {"c": np.array([1.0, 8, 2]), "a": np.array([0.0, 1, 3]), "b": np.array([7.0, 7, 7])}
    failed = np.array([False, True, False])
    found = calibrated_scores(parts, values, failed)
    first = (3 * expit(0.1) + 0.5 * expit(-0.25)) / 3.5
    third = (3 * expit(1.6) + 0.5 * expit(-0.5)) / 3.5
    assert found == pytest.approx([first, 0, third], abs=1e-12)
    statistics = calibrated_statistics(parts, values, failed)
    assert statistics.per_sentence == pytest.approx([first, 0, third], abs=1e-12)
    assert statistics.value == pytest.approx((first + third) / 3, abs=1e-12)


# -- CPS -----------------------------------------------------------------------------------------


def test_cps_is_scipys_cosine_in_double_precision():
    """The encoder gives single precision; lengths are from below 1 to above."""
    stream = np.random.RandomState(0)
    one, two = (
        (stream.randn(6, 5) * [[0.01], [0.3], [1], [2], [9], [70]]).astype(np.float32)
        for _ in range(2)
    )
    want = [1 - cosine(a.astype(float), b.astype(float)) for a, b in zip(one, two, strict=True)]
    found = cps_statistics(one, two)
    np.testing.assert_allclose(found.per_sentence, want, rtol=0, atol=1e-14)
    assert found.value == pytest.approx(np.mean(want), abs=1e-14)
    failed = [False, True, False, False, True, False]
    want[1] = want[4] = 0.0
    np.testing.assert_allclose(cps_statistics(one, two, failed).per_sentence, want, atol=1e-14)


def test_a_zero_vector_is_near_nothing(recwarn):
    """Each sort of memory that the result may get holds other numbers than 0."""
    one, two = np.full((50, 3), 5.0), np.full((50, 3), 7.0)
    one[::2], two[1::4] = 0, 0
    found = cps_statistics(one, two).per_sentence
    assert found.tolist() == pytest.approx([0, 0, 0, 1] * 12 + [0, 0])
    assert not recwarn.list


def test_no_cosine_is_beyond_1():
    """Rounding alone would take some of these beyond it."""
    rows = np.random.RandomState(1).randn(500, 7)
    plain = (rows * rows).sum(axis=1) / np.linalg.norm(rows, axis=1) ** 2
    assert plain.max() > 1, "nothing is shown otherwise"
    assert cps_statistics(rows, rows).per_sentence.max() == 1
    assert cps_statistics(rows, -rows).per_sentence.min() == -1


# -- PPL, graded scores, LogProP -----------------------------------------------------------------


def test_perplexity_of_three_sentences_by_hand():
    """With the ends counted: 1 + 6 + 2 digits in 2 + 3 + 5 words, of which three are ends."""
    log10, words = np.array([-1.0, -6, -2]), np.array([1, 2, 4])
    found = ppl_statistics(log10, words)
    assert found.value == pytest.approx(10 ** (9 / 7))
    assert found.per_sentence == pytest.approx([10, 1000, 10**0.5])
    ends = ppl_statistics(log10, words, "words+1")
    assert ends.value == pytest.approx(10 ** (9 / 10))
    assert ends.per_sentence == pytest.approx([10**0.5, 100, 10**0.4])
    assert ends.rows.tolist() == [[-1, 2], [-6, 3], [-2, 5]]
    assert np.isnan(ppl_statistics(np.array([-1.0]), np.array([0])).per_sentence[0])


def test_words_are_counted_beyond_what_a_byte_holds():
    found = ppl_statistics(np.array([-256.0]), np.array([255], dtype=np.uint8), "words+1")
    assert found.value == pytest.approx(10)


def test_a_very_improbable_sentence_is_infinitely_perplexing_in_silence(recwarn):
    found = ppl_statistics(np.array([-4000.0, -2.0]), np.array([2, 1]))
    assert found.per_sentence.tolist() == [np.inf, pytest.approx(100)]
    assert found.value == np.inf
    assert not recwarn.list


def test_a_graded_score_of_three_classes():
    rows = [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [0.7, 0.1, 0.2], [0.6, 0.4, 0.0]]
    failed = [False, False, True, False]
    for wanted, want in ((0, [0.2, 0, 0, 0.6]), (1, [0.3, 1, 0, 0.4]), (2, [0.5, 0, 0, 0])):
        found = graded_statistics(rows, wanted, failed)
        assert found.per_sentence.tolist() == want
        assert found.value == pytest.approx(sum(want) / 4)


def test_a_likelihood_per_token_less_that_without_the_source():
    """-6 / 3 and -10 / 4, less -9 / 2 and -1 / 1; the third output is empty."""
    given = np.array([[-6.0, 3], [-10.0, 4], [0, 0]])
    alone = np.array([[-9.0, 2], [-1.0, 1], [0, 0]])
    failed = np.array([False, False, True])
    plain = logprop_statistics(given, None, failed, 50)
    assert plain.per_sentence == pytest.approx([-2, -2.5, -np.log(50)])
    assert plain.value == pytest.approx((-4.5 - np.log(50)) / 3)
    less = logprop_statistics(given, alone, failed, 50)
    assert less.per_sentence == pytest.approx([2.5, -1.5, 0])
    assert less.value == pytest.approx(1 / 3)


# -- style words ---------------------------------------------------------------------------------


def test_words_are_letters_with_their_apostrophes_or_one_mark():
    text = "Café's 9,50\u20ac: don\u2019t_x ''ok'' rock'n'roll!?"
    words = [text[a:b] for a, b in word_spans(text)]
    assert words == [
        *("Café's", "9", ",", "50", "\u20ac", ":", "don\u2019t_x"),
        *("'", "'", "ok", "'", "'", "rock'n'roll", "!", "?"),
    ]
    assert word_spans(" \n\t") == []


def test_pieces_are_shared_by_the_words_they_overlap():
    """Words at 0-3, 4-6 and 7-12. The first piece has 1 sign in the first word and none beside it;
    the second has 2, 2 and 1 in the three; the third lies between two words, the fourth is special.
    """
    words = [(0, 3), (4, 6), (7, 12)]
    pieces = [(0, 1), (1, 8), (3, 4), (0, 0), (8, 12)]
    found = word_attributions(pieces, [0.5, 10.0, 7.0, 9.0, -3.0], words)
    assert found.tolist() == [0.5 + 4, 4, 2 - 3]
    assert found.dtype == np.float64
    assert word_attributions([], [], words).tolist() == [0, 0, 0]
    assert word_attributions([(0, 2)], [1.0], []).tolist() == []


def test_style_words_of_equal_shares_are_the_first():
    """A hundred shares of two sizes: more than a sort keeps in order by accident."""
    values = np.array([1.0, -3.0, 1.0, 1.0] * 25)
    assert style_words(values, 0.5, "covering") == list(range(1, 100, 4))
    assert style_words(values, 1.0, "covering") == [
        *range(1, 100, 4),
        *(i for i in range(100) if i % 4 != 1),
    ]
    assert style_words(values, 0.5) == list(range(1, 100, 4))


def test_single_precision_adds_no_word():
    """Three of seven equal shares hold 3/7; in single precision their sum falls short of it."""
    values = np.full(7, 0.1, dtype=np.float32)
    assert style_words(values, 3 / 7, "covering") == [0, 1, 2]
    assert style_words(values.tolist(), 5 / 7, "covering") == [0, 1, 2, 3, 4]
    assert style_words(values, 3 / 7) == [0, 1, 2]


def test_how_much_is_asked_and_taken():
    values = np.array([0.0, 2.0, -6.0, 4.0, 0.0])
    assert style_words(values, 0.5, "covering") == [2]
    assert style_words(values, 0.5 + 1e-9, "covering") == [2, 3]
    assert style_words(values, 1, "covering") == [2, 3, 1]
    assert style_words(values, 0, "covering") == style_words(values, 1e-12, "covering") == []
    assert style_words(np.array([0.25, 0.75]), 0.1, "covering") == [
        1
    ]  # a sum of 1 is no special one
    assert style_words(np.zeros(2), 1, "covering") == []


def test_words_are_masked_where_they_stand_and_removed_with_their_space():
    text = "No, the  soup's\tcold!"
    spans = word_spans(text)
    assert without_words(text, spans, {3, 0}, "<m>") == "<m>, the  <m>\tcold!"
    assert without_words(text, spans, [3, 0], None) == ", the cold!"
    assert without_words(text, spans, [], "<m>") == text
    assert without_words(text, spans, [], None) == "No, the soup's cold!"
    assert without_words(text, spans, [5, 4], "") == "No, the  soup's\t"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(alphabet="ab '.,é-", max_size=20), st.data())
def test_words_hold_what_their_pieces_hold(text, data):
    words = word_spans(text)
    assert [a < b for a, b in words] == [True] * len(words)
    assert "".join(text[a:b] for a, b in words) == "".join(text.split())
    shares = st.lists(st.floats(-5, 5), min_size=len(words), max_size=len(words))
    values = np.array(data.draw(shares))
    assert word_attributions(words, values, words) == pytest.approx(values)
    threshold = data.draw(st.floats(0, 1))
    chosen = style_words(values, threshold, "covering")
    assume(values.any())
    held = np.abs(values)[chosen].sum() / np.abs(values).sum()
    assert held >= threshold - 1e-9
    fewer = style_words(values, threshold)
    held = np.abs(values)[fewer].sum() / np.abs(values).sum()
    assert held <= threshold + 1e-9 or len(fewer) == 1
    assert sorted(np.abs(values)[chosen], reverse=True) == list(np.abs(values)[chosen])
    left = without_words(text, words, chosen, None)
    kept = [text[a:b] for i, (a, b) in enumerate(words) if i not in chosen]
    assert "".join(left.split()) == "".join(kept)


# -- naturalness ---------------------------------------------------------------------------------


def test_naturalness_counts_wins_and_grades_chances():
    """Two wins, a tie, a loss and a failed win: (2 + 1/2) of 5."""
    differences = np.array([0.1, 0.0, 2.0, -0.3, 4.0], dtype=np.float32)
    found = naturalness_statistics(differences, [False, False, False, False, True])
    assert found.value == pytest.approx(50)
    assert found.rows.tolist() == [[1, 1], [0.5, 1], [1, 1], [0, 1], [0, 1]]
    want = 100 * expit(differences.astype(float))
    want[-1] = 0
    np.testing.assert_allclose(found.per_sentence, want, rtol=0, atol=1e-12)
    assert naturalness_statistics(np.array([1, 1, -1]), np.zeros(3)).value == pytest.approx(200 / 3)
    with np.errstate(all="raise"):
        far = naturalness_statistics(np.array([1e4, -1e4]), np.zeros(2))
    assert far.per_sentence.tolist() == [100, 0]
    counts = np.array([[5.0, 0, 0, 0, 0], [0, 1, 0, 3, 1], [0, 0, 4, 1, 0]])
    assert found.aggregate(counts @ found.rows).tolist() == pytest.approx([100, 10, 80])


def test_folds_are_numpys_permutation_dealt_out():
    """Seven sources of which two are one: six are dealt to four folds, 2, 2, 1 and 1."""
    texts = ["f", "a", "e", "a", "d", "b", "c"]
    place = {text: i for i, text in enumerate("faedbc")}
    order = np.random.RandomState(3).permutation(6).tolist()
    found = folds_of(texts, 4, 3)
    assert found.tolist() == [order.index(place[text]) % 4 for text in texts]
    assert np.issubdtype(found.dtype, np.integer)
    assert sorted(folds_of("ab", 2, 0).tolist()) == [0, 1]
    assert sorted(folds_of("abc", 3, 0).tolist()) == [0, 1, 2]


def test_examples_of_some_sentences_by_hand():
    """Of sentences 2 and 0: 1 of 2 sources' weight is a half of a half; three machine texts."""
    texts = Texts(
        ["s0", "s1", "s2"],
        [("r0",), ("r1",), ("r2", "q2")],
        {"x": ["x0", "x1", "r2"], "y": ["s0", "y1", "y2"], "z": ["r1", "", "s0"]},
    )
    some, labels, weights = texts.examples([2, 0])
    # A copy of another sentence's source or reference is machine text.
    assert some == ["s2", "s0", "r2", "q2", "r0", "x0", "y2", "s0", "r1"]
    assert labels.tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert weights == pytest.approx([1 / 4] * 2 + [1 / 6] * 3 + [1 / 4] * 4)
    some, labels, weights = Texts(texts.sources, [()] * 3, texts.outputs).examples([1])
    assert (some, labels.tolist()) == (["s1", "x1", "y1"], [1, 0, 0])
    assert weights.tolist() == [0.5, 0.25, 0.25]
    given = Texts(texts.sources, texts.references, texts.outputs, learn_sources=False)
    some, labels, weights = given.examples([0, 1, 2])
    assert some[:4] == ["r0", "r1", "r2", "q2"]
    assert labels.tolist() == [1] * 4 + [0] * 6  # a source is human text, learned from or not
    assert weights.tolist() == [1.5 / 4] * 4 + [1.5 / 6] * 6


def test_a_margin_is_that_of_the_sentences_own_fold():
    fitted = CrossFitted(
        np.array([2, 0, 1]), np.array([[1.0, 10], [2, 20], [3, 30]]), np.array([0.1, 0.2, 0.3])
    )
    assert fitted.margins(np.array([[1.0, 0], [0, 1], [1, 1]])).tolist() == [3.3, 10.1, 22.2]


def toy(n, features, seed=0):
    """Each sentence has a human and a machine text; row 2 i and 2 i + 1 of the features."""
    sources, outputs = [f"h{i}" for i in range(n)], [f"m{i}" for i in range(n)]
    row = {
        text: 2 * i + k for k, some in enumerate((sources, outputs)) for i, text in enumerate(some)
    }
    values = np.random.RandomState(seed).randn(2 * n, len(features)) * features
    values[1::2] += 0.5 * np.array(features)
    return Texts(sources, [()] * n, {"m": outputs}), values, row


def objective(values, labels, penalty):
    """What logistic regression minimises: scikit-learn's user guide, with C."""

    def loss(parameters):
        margins = values @ parameters[:-1] + parameters[-1]
        signed = np.where(labels == 1, margins, -margins)
        errors = penalty * 0.5 * np.logaddexp(0, -signed)  # each example weighs a half
        slopes = penalty * 0.5 * np.where(labels == 1, -expit(-signed), expit(-signed))
        gradient = np.append(values.T @ slopes + parameters[:-1], slopes.sum())
        return errors.sum() + 0.5 * (parameters[:-1] ** 2).sum(), gradient

    return loss


@pytest.mark.parametrize(
    ("sentences", "sizes", "penalty"),
    [
        (24, [1.0, 30.0, 0.02, 4.0], 0.3),
        (24, [1.0, 30.0, 0.02, 4.0], 40.0),
        (60, np.logspace(-1, 1, 40), 40.0),  # hundreds of steps
    ],
)
def test_each_fold_is_fitted_to_the_minimum(sentences, sizes, penalty, recwarn):
    """Columns of very different sizes take many steps; scipy's minimum of the written loss."""
    texts, values, row = toy(sentences, sizes)
    fitted = cross_fit(texts, values, row, penalty=penalty, standardize=False, folds=3, seed=5)
    assert fitted.fold.tolist() == folds_of(texts.sources, 3, 5).tolist()
    for number in range(3):
        kept = np.flatnonzero(fitted.fold != number)
        rows = np.sort([*(2 * kept), *(2 * kept + 1)])
        loss = objective(values[rows], 1 - rows % 2, penalty)
        start = np.zeros(len(sizes) + 1)
        want = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9}).x
        np.testing.assert_allclose(fitted.coefficients[number], want[:-1], rtol=0, atol=1e-4)
        assert fitted.intercepts[number] == pytest.approx(want[-1], abs=1e-4)
    assert not recwarn.list


def test_what_is_the_same_in_all_texts_is_no_feature():
    """A constant column cannot be scaled by what it varies: it is left as it is, with no weight."""
    texts, values, row = toy(12, [1.0, 0.0, 5.0])
    values[:, 1] = 7
    fitted = cross_fit(texts, values, row, penalty=2.0, standardize=True, folds=2, seed=1)
    assert fitted.coefficients[:, 1].tolist() == [0, 0]
    for number in range(2):
        kept = np.flatnonzero(fitted.fold != number)
        rows = [*(2 * kept), *(2 * kept + 1)]
        some = values[rows][:, [0, 2]]
        model = LogisticRegression(C=1.0, tol=1e-10)  # half the penalty, for weights of a half
        model.fit((some - some.mean(axis=0)) / some.std(axis=0), [1] * 6 + [0] * 6)
        held = np.flatnonzero(fitted.fold == number)
        scaled = (values[2 * held][:, [0, 2]] - some.mean(axis=0)) / some.std(axis=0)
        margins = values[2 * held] @ fitted.coefficients[number] + fitted.intercepts[number]
        np.testing.assert_allclose(margins, model.decision_function(scaled), atol=1e-5)


def test_a_fold_without_machine_text_is_left_out_alone():
    """Only sentences of the first fold were changed: without them there is nothing to learn."""
    texts, values, row = toy(9, [1.0, 2.0])
    fold = folds_of(texts.sources, 3, 0)
    outputs = [f"m{i}" if fold[i] == 0 else f"h{i}" for i in range(9)]
    some = Texts(texts.sources, texts.references, {"m": outputs})
    fitted = cross_fit(some, values, row, penalty=1.0, standardize=False, folds=3, seed=0)
    assert fitted.coefficients[0].tolist() == [0, 0]
    assert fitted.intercepts[0] == 0
    assert (fitted.coefficients[1:] != 0).all()
    assert (fitted.intercepts[1:] != 0).all()


class Watched(np.ndarray):
    """Features that note with how many threads sums are made when they are read."""

    def __getitem__(self, rows):
        self.threads.update(one["num_threads"] for one in threadpool_info())
        return np.asarray(self)[rows]


def test_classifiers_are_trained_on_one_thread_however_many_there_are():
    """Sums of many threads differ in their last digits from machine to machine."""
    texts, values, row = toy(6, [1.0, 2.0])
    watched = values.view(Watched)
    watched.threads = set()
    with threadpool_limits(2, user_api="blas"):
        cross_fit(texts, watched, row, penalty=1.0, standardize=False, folds=2, seed=0)
    assert watched.threads == {1}


def test_a_word_is_there_or_not_however_often():
    found = unigram_features(["b a b", "", "c b"])
    assert found.shape == (3, 3)
    assert found.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 1]]
    assert unigram_features(["", ""]).shape == (2, 1)
    assert unigram_features(["", ""]).toarray().tolist() == [[0], [0]]
    assert unigram_features(["a"]).shape == (1, 1)
    # Split-off marks and capitals make no other word.
    written = unigram_features(["I don't go.", "i do n't go ."]).toarray()
    assert written.tolist() == [[1] * 5] * 2


def test_a_mixture_of_three_language_models_by_hand():
    """Means of the probabilities, by words and one end each; very small ones do not vanish."""
    models = [[-1.0, -2.0, -900.0], [-2.0, -1.0, -901.0], [-3.0, -4.0, -1000.0]]
    found = log_probability_per_word(models, [1, 4, 0])
    want = [
        np.log((0.1 + 0.01 + 0.001) / 3) / 2,
        np.log((0.01 + 0.1 + 0.0001) / 3) / 5,
        -900 * np.log(10) + np.log(1.1 / 3),
    ]
    np.testing.assert_allclose(found, want, rtol=1e-12)
    single = [np.array(one, dtype=np.float32) for one in ([-1.1, -7.3], [-2.7, -0.3])]
    double = [one.astype(float) for one in single]
    many = log_probability_per_word(single, np.array([2, 3]))
    assert many.dtype == np.float64
    np.testing.assert_allclose(many, log_probability_per_word(double, np.array([2, 3])), rtol=1e-14)


@pytest.mark.parametrize(
    ("mean", "oracle"),
    [("geometric", gmean), ("harmonic", hmean), ("arithmetic", np.mean), ("minimum", np.min)],
)
def test_each_mean_is_that_of_others(mean, oracle):
    parts = np.random.default_rng(0).uniform(0.01, 1, (3, 50))
    found = sentence_statistics(list(parts), mean)
    np.testing.assert_allclose(found.per_sentence, oracle(parts, axis=0))
    assert found.value == pytest.approx(oracle(parts, axis=0).mean())
    without = sentence_statistics([np.array([0.0, -0.1]), np.array([1.0, 0.9])], mean)
    assert without.per_sentence.tolist() == ([0.5, 0.45] if mean == "arithmetic" else [0, 0])
