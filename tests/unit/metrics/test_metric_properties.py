"""What holds for every metric, whatever the sentences: ranges, order, batches, intervals."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metric_kinds import KINDS

from tstbench.metrics.statistics import bootstrap, interval, paired_p_value

# The same examples every time: a failure can be repeated, and a lucky run does not exist.
steady = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
NEARLY = 1e-9  # sums of floats in another order


def same(one, other):
    return one == pytest.approx(other, rel=NEARLY, abs=NEARLY, nan_ok=True)


every_metric = pytest.mark.parametrize("name", KINDS)


@every_metric
@steady
@given(data=st.data())
def test_scores_are_in_their_range_in_any_order_and_any_batches(name, data):
    kind = KINDS[name]
    sentences = data.draw(st.lists(kind.sentence, min_size=2, max_size=9))
    order = data.draw(st.permutations(range(len(sentences))))
    cut = data.draw(st.integers(1, len(sentences) - 1))
    whole = kind.measure(sentences)
    values = [whole.value, *([] if whole.per_sentence is None else whole.per_sentence)]
    for value in values:
        assert np.isnan(value) or kind.low - NEARLY <= value <= kind.high + NEARLY
    assert np.isfinite(whole.rows).all()

    other = kind.measure([sentences[i] for i in order])
    assert same(other.value, whole.value)
    assert other.rows == pytest.approx(whole.rows[list(order)], rel=NEARLY)

    parts = [kind.measure(sentences[:cut]), kind.measure(sentences[cut:])]
    rows = np.concatenate([part.rows for part in parts])
    assert whole.rows == pytest.approx(rows, rel=NEARLY)
    assert same(whole.value, float(whole.aggregate(rows.sum(axis=0))))
    if whole.per_sentence is not None:
        assert same(other.per_sentence, whole.per_sentence[list(order)])
        assert same(whole.per_sentence, np.concatenate([part.per_sentence for part in parts]))


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.alone])
@steady
@given(data=st.data())
def test_a_sentences_score_is_that_of_a_corpus_with_nothing_else(name, data):
    kind = KINDS[name]
    statistics = kind.measure([data.draw(kind.sentence)])
    assert same(statistics.per_sentence, [statistics.value])


# The smoothing of 13a does depend on it: where nothing matches, half a match of all n-grams.
@pytest.mark.parametrize("name", [name for name in KINDS if name != "bleu, 13a"])
@steady
@given(data=st.data())
def test_repeating_every_sentence_changes_nothing(name, data):
    kind = KINDS[name]
    sentences = data.draw(st.lists(kind.sentence, min_size=1, max_size=5))
    one, thrice = kind.measure(sentences), kind.measure(sentences * 3)
    assert same(thrice.value, one.value)


@every_metric
@settings(steady, max_examples=10)
@given(data=st.data())
def test_intervals_hold_the_value_and_stay_in_range(name, data):
    kind = KINDS[name]
    statistics = kind.measure(data.draw(st.lists(kind.sentence, min_size=1, max_size=12)))
    bounds, narrow = interval(statistics), interval(statistics, level=0.5)
    (replicates,) = bootstrap(statistics)
    if bounds is None:
        assert not np.isfinite(statistics.value) or not np.isfinite(replicates).any()
        return
    slack = NEARLY * max(1, abs(statistics.value))
    assert bounds.low - slack <= statistics.value <= bounds.high + slack
    assert kind.low - slack <= bounds.low <= bounds.high <= kind.high + slack
    assert bounds.low <= narrow.low <= narrow.high <= bounds.high


@every_metric
@settings(steady, max_examples=10)
@given(data=st.data())
def test_a_comparison_has_no_direction(name, data):
    kind = KINDS[name]
    n = data.draw(st.integers(1, 9))
    some = st.lists(kind.sentence, min_size=n, max_size=n)
    one, other = kind.measure(data.draw(some)), kind.measure(data.draw(some))
    p, back = paired_p_value(one, other), paired_p_value(other, one)
    assert p == back or (np.isnan(p) and np.isnan(back))
    assert np.isnan(p) or 1 / 1001 <= p <= 1
    itself = paired_p_value(one, one)
    assert itself == 1 or np.isnan(itself)
