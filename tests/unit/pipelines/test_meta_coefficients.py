"""The numbers of a meta-evaluation: against scipy in every resample, published values, by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from tstbench.metrics.statistics import resample
from tstbench.pipelines.meta.coefficients import (
    COEFFICIENTS,
    SYSTEM_COEFFICIENTS,
    Pairs,
    Settings,
    coefficient,
    correlate,
    draw,
    replicates,
)
from tstbench.pipelines.meta.differences import (
    MOST,
    perm_both,
    perm_both_systems,
    sentence_differences,
    williams,
)
from tstbench.pipelines.meta.levels import tied_accuracy

SCIPY = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall_b": stats.kendalltau,
    "kendall_c": lambda x, h: stats.kendalltau(x, h, variant="c"),
}


def study(steps=6, digits=1, seed=0):
    """60 outputs of 15 sentences, unequally many each; scores with many ties, or with none."""
    stream = np.random.RandomState(seed)
    items = np.concatenate([np.arange(15), stream.randint(0, 15, 45)])
    human = np.round(stream.rand(60) * steps) / 3
    return np.round(human + stream.randn(60), digits), human, items


@pytest.mark.parametrize(("steps", "digits"), [(6, 1), (6, 9), (2, 0), (100_000, 9)])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_a_replicate_is_scipys_coefficient_of_the_longer_list(name, steps, digits):
    metric, human, items = study(steps, digits)
    counts = draw(15, 600)  # more than a block
    found = replicates([name], metric, Pairs(human, items, counts))[name]
    for value, count in list(zip(found, counts, strict=True))[::30]:
        rows = np.repeat(np.arange(60), count[items].astype(int))
        want = SCIPY[name](metric[rows], human[rows])[0]
        # tau-c of a metric with very many values takes all of them for drawn; see `distinct`
        assert value == pytest.approx(want, abs=2e-6)
    assert coefficient(name, metric, human) == pytest.approx(SCIPY[name](metric, human)[0])


def test_draws_are_those_of_the_benchmarks_intervals():
    assert (draw(7, 50, 3) == resample(7, 50, 3)).all()


def test_a_constant_metric_has_no_coefficient():
    human = np.array([1.0, 2.0, 3.0])
    for name in COEFFICIENTS:
        assert np.isnan(coefficient(name, np.ones(3), human))
        assert np.isnan(coefficient(name, human, np.ones(3)))


def every_threshold(metric, human, items):
    """The best mean accuracy over items, trying every difference as the threshold."""
    groups = [np.flatnonzero(items == item) for item in np.unique(items)]
    pairs = [[(a, b) for a in g for b in g if a < b] for g in groups if len(g) > 1]
    best = (-1.0, 0.0)
    for epsilon in sorted({0.0} | {abs(metric[a] - metric[b]) for some in pairs for a, b in some}):
        right = [
            np.mean(
                [
                    (human[a] == human[b])
                    if abs(metric[a] - metric[b]) <= epsilon
                    else human[a] != human[b] and (metric[a] > metric[b]) == (human[a] > human[b])
                    for a, b in some
                ]
            )
            for some in pairs
        ]
        if np.mean(right) > best[0] + 1e-9:
            best = (float(np.mean(right)), epsilon)
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_the_calibrated_threshold_is_the_best_of_all(seed, digits):
    metric, human, items = study(3, digits, seed)
    found = tied_accuracy(metric, human, items)
    value, epsilon = every_threshold(metric, human, items)
    assert found.value == pytest.approx(value)
    assert found.epsilon == pytest.approx(epsilon)


def test_ties_by_hand():
    # One sentence, three outputs: people tie the first two, and the metric nearly does.
    metric, human = np.array([0.50, 0.52, 0.90]), np.array([2.0, 2.0, 4.0])
    items = np.zeros(3, dtype=int)
    found = tied_accuracy(metric, human, items, np.ones((1, 1)))
    assert (found.value, found.pairs) == (1.0, 3)
    assert found.epsilon == pytest.approx(0.02)
    assert found.replicates[0] == pytest.approx(1.0)
    assert tied_accuracy(metric, human, np.arange(3)) is None


def test_where_people_prefer_nothing_no_metric_agrees_with_them():
    """A threshold that ties everything made the accuracy 1, of any metric."""
    metric, items = np.array([1.0, 5, 2, 9]), np.array([0, 0, 1, 1])
    counts = np.array([[2.0, 0], [1, 1], [0, 2]])
    assert tied_accuracy(metric, np.full(4, 3.0), items, counts) is None
    assert tied_accuracy(metric, np.array([3.0, 3, 4, 4]), items, counts) is None  # items differ
    found = tied_accuracy(metric, np.array([3.0, 3, 1, 4]), items, counts)
    # Up to 4 the first item's tie is right, above it the second's order is wrong.
    assert (found.value, found.epsilon) == (1.0, 4.0)
    assert found.replicates == pytest.approx([np.nan, 1.0, 1.0], nan_ok=True)
    three = np.arange(3.0)[None]
    assert np.isnan(correlate("accuracy", three, np.full((1, 3), 2.0))[0])
    assert correlate("accuracy", np.full((1, 3), 2.0), three)[0] == 0.0


def test_every_replicate_chooses_its_own_threshold():
    metric, human, items = study(3, 1, 5)
    counts = draw(15, 40)
    found = tied_accuracy(metric, human, items, counts)
    for value, count in list(zip(found.replicates, counts, strict=True))[::8]:
        chosen = [
            np.flatnonzero(items == item) for item in np.repeat(np.arange(15), count.astype(int))
        ]
        rows = np.concatenate(chosen)
        copies = np.repeat(np.arange(len(chosen)), [len(some) for some in chosen])
        assert value == pytest.approx(every_threshold(metric[rows], human[rows], copies)[0])


def test_williams_is_the_psych_packages():
    """r.test of R's psych gives 0.2716978, as the tests of nlpstats (Deutsch) record."""
    stream = np.random.RandomState(12)
    x, y, z = (stream.random_sample((9, 5)).ravel() for _ in range(3))
    r = [abs(stats.pearsonr(*pair)[0]) for pair in ((x, z), (y, z), (x, y))]
    assert williams(*r, 45) / 2 == pytest.approx(0.2716978, abs=1e-6)
    # The example of the Python translation of Graham and Baldwin's script.
    assert williams(0.65, 0.55, 0.3, 50) / 2 == pytest.approx(0.20928617286753592)


def test_williams_where_nothing_can_be_said():
    assert np.isnan(williams(0.5, 0.4, 0.3, 3))
    assert np.isnan(williams(float("nan"), 0.4, 0.3, 30))
    assert williams(0.5, 0.5, 1.0, 30) == 1.0


def test_perm_both_by_all_permutations():
    stream = np.random.RandomState(1)
    a, b, h = stream.randn(3, 9) * [[50], [1], [1]]  # of two scales
    standard = [(v - v.mean()) / v.std() for v in (a, b)]

    def gap(x, y):
        return stats.pearsonr(x, h)[0] - stats.pearsonr(y, h)[0]

    observed, extreme = abs(gap(*standard)), 0
    for number in range(2**9):
        coin = np.array([number >> bit & 1 for bit in range(9)], dtype=bool)
        x, y = np.where(coin, standard[1], standard[0]), np.where(coin, standard[0], standard[1])
        extreme += abs(gap(x, y)) >= observed - 1e-9
    assert perm_both(a, b, h, resamples=20_000) == pytest.approx(extreme / 2**9, abs=0.012)


def test_perm_both_of_equal_and_of_different_metrics():
    stream = np.random.RandomState(2)
    human = stream.randn(300)
    good, bad = human + 0.3 * stream.randn(300), stream.randn(300)
    assert perm_both(good, bad, human, resamples=500) == pytest.approx(1 / 501)
    assert perm_both(good, good, human, resamples=500) == 1.0
    assert np.isnan(perm_both(np.ones(300), good, human, resamples=100))


def test_perm_both_of_systems():
    stream = np.random.RandomState(4)
    quality = np.arange(8.0)
    systems = np.tile(np.arange(8), 30)
    good = quality[systems] + stream.randn(240)
    bad = stream.randn(240)

    assert perm_both_systems(good, bad, quality, systems, resamples=300) < 0.05
    again = good + 0.01 * stream.randn(240)
    assert perm_both_systems(good, again, quality, systems, resamples=300) > 0.1


@pytest.mark.parametrize("name", SYSTEM_COEFFICIENTS[:3])
def test_coefficients_of_systems_are_scipys(name):
    stream = np.random.RandomState(5)
    metric, human = np.round(stream.rand(2, 20, 6) * 4)
    metric[0] = 1
    found = correlate(name, metric, human)
    assert np.isnan(found[0])
    for row in range(1, 20):
        assert found[row] == pytest.approx(SCIPY[name](metric[row], human[row])[0])
    for scale in (1e-30, 1e30):
        assert correlate(name, metric * scale, human) == pytest.approx(found, nan_ok=True)
        assert correlate(name, metric, human * scale) == pytest.approx(found, nan_ok=True)


def test_of_rounding_alone_there_is_no_correlation():
    metric, human = np.array([[0.3, 0.1 + 0.2, 0.3]]), np.array([[1.0, 2.0, 3.5]])
    assert np.isnan(
        [correlate("pearson", *pair) for pair in ((metric, human), (human, metric))]
    ).all()


def test_accuracy_of_systems_by_hand():
    assert correlate("accuracy", np.array([[1.0, 2, 2]]), np.array([[3.0, 4, 4]]))[0] == 1.0
    assert correlate("accuracy", np.array([[1.0, 2, 3]]), np.array([[3.0, 2, 1]]))[0] == 0.0


# -- whether one metric agrees better than another -------------------------------------------------

WHERE = {"study": "s", "direction": None, "model": None, "aspect": "style"}


def differences(drawn):
    random = np.random.RandomState(0)
    human = random.randn(30)
    table = {name: human + random.randn(30) for name in drawn}
    return sentence_differences(WHERE, table, human, drawn, Settings(resamples=100))


def test_the_interval_is_that_of_the_differences_of_each_replicate():
    """Replicates of both metrics move together, and only their difference counts.

    Of 101 differences the ends are halfway between the third and the fourth, 0 and 0.05, and
    between the 98th and the 99th. As far from 0.15 as that is from 0 are the three that are 0.
    """
    gaps = np.r_[np.zeros(3), np.linspace(0.05, 0.25, 98)]
    together = np.random.RandomState(1).permutation(np.linspace(-0.9, 0.6, 101))
    drawn = {"worse": (0.5, together), "better": (0.65, together + gaps)}
    (gap,) = differences(drawn)
    assert (gap.first, gap.second, gap.level, gap.study) == ("better", "worse", "sentence", "s")
    assert gap.difference == pytest.approx(0.15)
    assert gap.low == pytest.approx(0.025, abs=1e-6)
    assert gap.high == pytest.approx(0.05 + 0.2 * 94.5 / 97, abs=1e-6)
    assert gap.p_bootstrap == pytest.approx(4 / 102, abs=1e-6)


def test_replicates_without_a_correlation_do_not_count():
    some = np.array([0.1, np.nan, 0.2, 0.3, np.inf, 0.4])
    (gap,) = differences({"a": (0.4, some), "b": (0.1, np.zeros(6))})
    assert gap.low == pytest.approx(0.1 + 0.075 * 0.1, abs=1e-6)
    assert gap.high == pytest.approx(0.4 - 0.075 * 0.1, abs=1e-6)
    (gap,) = differences({"a": (0.4, np.full(6, np.nan)), "b": (0.1, np.zeros(6))})
    assert (gap.low, gap.high, gap.difference) == (None, None, 0.3)


def test_of_many_metrics_the_best_is_compared_with_each():
    values = [0.1, 0.7, 0.3, 0.6, 0.2, 0.5, np.nan]
    drawn = {f"m{n}": (value, np.zeros(9)) for n, value in enumerate(values)}
    order = ["m1", "m3", "m5", "m2", "m4", "m0"]
    assert len(order) == MOST
    assert [(gap.first, gap.second) for gap in differences(drawn)] == list(combinations(order, 2))
    drawn["m6"] = (0.65, np.zeros(9))
    others = ["m6", *order[1:]]
    assert [(gap.first, gap.second) for gap in differences(drawn)] == [
        ("m1", name) for name in others
    ]
