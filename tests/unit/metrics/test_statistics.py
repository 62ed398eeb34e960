"""Intervals, significance, and the small arithmetic, against scipy, kenlm's formula and by hand."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tstbench.metrics import statistics as statistics_module
from tstbench.metrics.bleu.bleu import bleu_statistics
from tstbench.metrics.signature import Signature
from tstbench.metrics.statistics import (
    Statistics,
    bootstrap,
    concatenate,
    divide,
    interval,
    mean_statistics,
    p_value,
    p_values,
    paired_p_value,
    percentile_interval,
    resample,
    share_statistics,
    too_few,
)

RNG = np.random.RandomState(7)


def test_interval_of_a_mean_agrees_with_scipys_bootstrap():
    values = RNG.rand(300)
    ours = interval(mean_statistics(values))
    theirs = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=5000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert [ours.low, ours.high] == pytest.approx([theirs.low, theirs.high], abs=0.004)


def test_replicates_of_bleu_are_bleu_of_the_resampled_corpora():
    texts = "the food was good here, we love it, bad bad place, not good at all now, good, bad"
    texts = texts.split(", ") * 4
    references = [[text.replace("good", "bad").replace("love", "hate")] for text in texts]
    (found,) = bootstrap(bleu_statistics(texts, references, "13a"), resamples=20)
    for replicate, drawn in zip(found, resample(24, resamples=20), strict=True):
        rows = np.repeat(np.arange(24), drawn.astype(int))
        again = bleu_statistics([texts[i] for i in rows], [references[i] for i in rows], "13a")
        assert replicate == pytest.approx(again.value, abs=1e-9)


def test_p_value_is_near_that_of_a_paired_test():
    base = RNG.rand(400)
    same = mean_statistics(base + 0.3 * RNG.randn(400))
    ours = paired_p_value(same, mean_statistics(base))
    theirs = scipy_stats.ttest_rel(same.per_sentence, base).pvalue
    assert ours == pytest.approx(theirs, abs=0.05)


def test_counts_of_a_byte_have_the_value_of_floats():
    """A difference of sums below 0 would be a huge number if they were without a sign."""
    rows = np.array([[200, 201], [100, 102]], np.uint8)
    assert Statistics(rows, lambda sums: sums[..., 0] - sums[..., 1], None).value == -3


@pytest.mark.parametrize("how", [{}, {"resamples": 40, "seed": 5}])
def test_a_p_value_is_the_share_of_centred_differences_that_are_as_extreme(how):
    """Riezler and Maxwell's form, from the sentences drawn; neither near 0 nor near 1."""
    random = np.random.RandomState(4)
    one = random.rand(60)
    other = one + 0.05 + 0.3 * random.randn(60)
    seed, resamples = how.get("seed", 12345), how.get("resamples", 1000)
    drawn = np.random.RandomState(seed).randint(0, 60, size=(resamples, 60))
    differences = [other[some].mean() - one[some].mean() for some in drawn]
    observed = other.mean() - one.mean()
    extreme = sum(abs(one - observed) >= abs(observed) for one in differences)
    first, second = mean_statistics(other), mean_statistics(one)
    assert resamples / 100 < extreme < resamples / 2
    expected = pytest.approx((extreme + 1) / (resamples + 1))
    assert paired_p_value(first, second, **how) == expected
    assert paired_p_value(second, first, **how) == expected


def test_a_share_of_three_classes_in_any_order():
    """Most probable by hand: 2, 0, 2, 1; of two that are equally so, the first."""
    rows = np.array([[0.1, 0.3, 0.6], [0.5, 0.2, 0.3], [0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    assert [share_statistics(rows, wanted).value for wanted in (2, 0, 1)] == [50, 25, 25]
    assert share_statistics(np.array([[0.1, 0.9], [0.5, 0.5]]), 1).per_sentence.tolist() == [100, 0]


def test_a_failed_prediction_is_a_miss_whatever_the_classifier_says():
    distribution = np.array([[0.1, 0.9], [0.1, 0.9], [0.8, 0.2], [0.8, 0.2]])
    failed = np.array([False, True, False, True])
    stats = share_statistics(distribution, 1, failed)
    assert stats.per_sentence.tolist() == [100, 0, 0, 0]
    assert stats.value == 25
    assert share_statistics(distribution, 1, np.zeros(4, bool)).value == 50
    assert share_statistics(distribution.tolist(), 1, [0, 1, 0, 1]).value == 25  # as JSON has it


def test_signatures_carry_where_they_were_made():
    """Identity and provenance apart, each read back whole, also a version with a colon."""
    versions = {"torch": "2.2:cpu", "nltk": "3.9"}
    signature = Signature.of("acc", versions, v=2, protocol="own", data=None)
    assert str(signature) == "acc|v:2|protocol:own"
    assert signature.made_with == "torch:2.2:cpu|nltk:3.9"
    again = Signature.parse(str(signature), signature.made_with)
    assert again.provenance == (("torch", "2.2:cpu"), ("nltk", "3.9"))
    assert again.as_dict() == {"v": "2", "protocol": "own"}
    assert list(again) == [("v", "2"), ("protocol", "own")]
    other = Signature.of("acc", {"torch": "9"}, v=2, protocol="own")
    assert signature == other != Signature.of("acc", versions, v=3, protocol="own")
    assert Signature.parse("acc|v:2|protocol:own").provenance == ()
    assert Signature.parse("acc|data:a:b").fields == (("data", "a:b"),)


def test_a_p_value_by_hand():
    """Differences centred on 2 are -2, -1, 0, 3, of which two are as large as 2 either way."""
    assert p_value(2.0, np.array([0.0, 1, 2, 5])) == (2 + 1) / (4 + 1)
    assert p_value(-2.0, np.array([0.0, -1, -2, -5])) == (2 + 1) / (4 + 1)
    assert np.isnan(p_value(np.nan, np.zeros(4)))
    assert np.isnan(p_value(1.0, np.array([0.0, np.inf])))
    # The smallest that counts is the observed size less what rounding may take: 1 - 1e-12.
    assert p_value(1.0, np.array([2 - 1e-9, 9.0])) == (1 + 1) / (2 + 1)
    # Rounding does not decide: 0.1 + 0.2 is not 0.3 to the last digit.
    assert p_value(0.3, np.array([0.6 - 1e-15, 0.3])) == (1 + 1) / (2 + 1)
    assert p_value(1.0, np.array([9.0])) == 1
    assert np.isnan(p_value(1.0, np.zeros(0)))
    with np.errstate(all="raise"):
        assert np.isnan(p_value(np.inf, np.array([np.inf])))
    rows = np.array([[0.0, 1, 2, 5], [0.0, 1, 2, np.nan], [1.0, 1, 1, 1]])
    found = p_values(np.array([2.0, 2.0, 1.0]), rows)
    assert found == pytest.approx([3 / 5, np.nan, 1 / 5], nan_ok=True)


def test_percentiles_are_numpys_of_what_is_defined():
    """Of 0 to 100, the middle 80 % are 10 to 90; all replicates count as drawn."""
    replicates = np.array([*range(101), np.nan, np.inf], dtype=float)
    found = percentile_interval(33.0, replicates, 0.8, 7)
    assert (found.low, found.high) == (pytest.approx(10), pytest.approx(90))
    assert (found.level, found.resamples, found.seed) == (0.8, 103, 7)
    assert str(found) == "bootstrap-percentile|level:0.8|resamples:103|seed:7"
    assert percentile_interval(np.nan, replicates) is None
    assert percentile_interval(1.0, np.array([np.nan])) is None
    usual = percentile_interval(33.0, np.arange(101.0))
    assert (usual.low, usual.high) == (pytest.approx(2.5), pytest.approx(97.5))
    assert (usual.level, usual.seed) == (0.95, 12345)


def test_an_interval_says_how_it_was_drawn_and_was_drawn_so():
    values = np.array([3.0, 1, 2, 9, 4] * 4)
    statistics = mean_statistics(values)
    found = interval(statistics, resamples=40, level=0.6, seed=3)
    stream = np.random.RandomState(3)
    means = [values[stream.randint(0, 20, size=20)].mean() for _ in range(40)]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(means, [20, 80])))
    assert (found.level, found.resamples, found.seed) == (0.6, 40, 3)
    (drawn,) = bootstrap(statistics, resamples=40, seed=3)
    assert drawn == pytest.approx(np.array(means))
    assert resample(5, 40, 3).shape == (40, 5)
    assert resample(1, 3).tolist() == [[1], [1], [1]]
    assert not resample(5, 40, 3).flags.writeable  # every system shares them


@pytest.mark.parametrize("n", [1, 2, 19])
def test_too_few_sentences_have_no_interval_and_no_test(n):
    """Of one sentence every replicate is the observation: p was 1/1001, the interval [x, x]."""
    low, high = mean_statistics(np.zeros(n)), mean_statistics(np.ones(n))
    assert interval(high) is None
    assert np.isnan(paired_p_value(low, high))
    assert [np.isnan(one).all() for one in bootstrap(low, high, resamples=7)] == [True, True]
    assert too_few(n) == f"too few sentences for intervals and tests: {n}; 20 are needed"
    assert np.isnan(p_value(1.0, np.zeros(0)))


def test_twenty_sentences_find_equal_systems_different_as_often_as_theory_says():
    """The bootstrap's variance is (n - 1) / n of the sample's, and it knows no t distribution.

    So of equal systems 2 P(t_19 > 1.96 sqrt(19/20)) = 7.1 % differ at 0.05, within three standard
    deviations of 400 trials.
    """
    assert too_few(20) is None
    expected = 2 * scipy_stats.t.sf(scipy_stats.norm.isf(0.025) * (19 / 20) ** 0.5, 19)
    assert expected == pytest.approx(0.071, abs=5e-4)
    stream = np.random.RandomState(1)
    found = [paired_p_value(*map(mean_statistics, stream.normal(size=(2, 20)))) for _ in range(400)]
    share = np.mean(np.array(found) < 0.05)
    assert share == pytest.approx(expected, abs=3 * (expected * (1 - expected) / 400) ** 0.5)


def test_a_mean_leaves_out_what_is_undefined():
    statistics = mean_statistics([1.0, np.nan, 4.0], scale=10)
    assert statistics.value == 25
    assert statistics.rows.tolist() == [[1, 1], [0, 0], [4, 1]]
    assert statistics.per_sentence == pytest.approx([10, np.nan, 40], nan_ok=True)
    assert mean_statistics(np.array([1.0, 4.0])).value == 2.5
    assert mean_statistics(np.array([1, 4])).per_sentence.dtype == np.float64
    assert np.isnan(mean_statistics(np.array([np.nan])).value)


def test_nothing_divided_by_nothing_is_undefined_and_silent(recwarn):
    found = divide(np.array([[3.0], [5.0]]), np.array([2.0, 0.0, 1.0]))
    assert divide(6.0, np.array([2.0, 3.0])).tolist() == [3, 2]
    assert divide(np.array([2.0, 3.0]), 2.0).tolist() == [1, 1.5]
    assert found == pytest.approx(np.array([[1.5, np.nan, 3], [2.5, np.nan, 5]]), nan_ok=True)
    assert not recwarn.list


def test_rows_side_by_side_have_their_columns():
    one, two = mean_statistics(np.array([1.0, 2.0])), bleu_statistics(["a", "b"], [["a"], ["c"]])
    rows, columns = concatenate([one, two, one])
    assert np.array_equal(rows, np.concatenate([one.rows, two.rows, one.rows], axis=1))
    width = two.rows.shape[1]
    ends = [(part.start, part.stop) for part in columns]
    assert ends == [(0, 2), (2, 2 + width), (2 + width, 4 + width)]


def test_draws_that_do_not_fit_are_made_in_blocks(monkeypatch):
    """33 draws of 5 sentences, 40 counts at once: four blocks of 8 and the rest, the same draws."""
    whole = resample(5, 33, 3)
    monkeypatch.setattr(statistics_module, "_TOGETHER", 40)
    blocks = list(statistics_module._blocks(5, 33, 3))
    assert [len(block) for block in blocks] == [8, 8, 8, 8, 1]
    assert np.array_equal(np.concatenate(blocks), whole)
