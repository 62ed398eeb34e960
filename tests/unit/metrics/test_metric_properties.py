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

every_metric = pytest.mark.parametrize("name", KINDS)


@every_metric
@steady
@given(data=st.data())
def test_scores_are_in_their_range(name, data):
    kind = KINDS[name]
    statistics = kind.measure(data.draw(st.lists(kind.sentence, min_size=1, max_size=9)))
    values = [statistics.value]
    if statistics.per_sentence is not None:
        values.extend(statistics.per_sentence)
    for value in values:
        assert np.isnan(value) or kind.low - NEARLY <= value <= kind.high + NEARLY
    assert np.isfinite(statistics.rows).all()


@every_metric
@steady
@given(data=st.data())
def test_the_order_of_sentences_does_not_matter(name, data):
    kind = KINDS[name]
    sentences = data.draw(st.lists(kind.sentence, min_size=2, max_size=9))
    order = data.draw(st.permutations(range(len(sentences))))
    one, other = kind.measure(sentences), kind.measure([sentences[i] for i in order])
    assert other.value == pytest.approx(one.value, rel=NEARLY, abs=NEARLY, nan_ok=True)
    assert other.rows == pytest.approx(one.rows[list(order)], rel=NEARLY)
    if one.per_sentence is not None:
        expected = one.per_sentence[list(order)]
        assert other.per_sentence == pytest.approx(expected, rel=NEARLY, abs=NEARLY, nan_ok=True)


@every_metric
@steady
@given(data=st.data())
def test_batches_do_not_matter(name, data):
    kind = KINDS[name]
    sentences = data.draw(st.lists(kind.sentence, min_size=2, max_size=9))
    cut = data.draw(st.integers(1, len(sentences) - 1))
    whole = kind.measure(sentences)
    parts = [kind.measure(sentences[:cut]), kind.measure(sentences[cut:])]
    rows = np.concatenate([part.rows for part in parts])
    assert whole.rows == pytest.approx(rows, rel=NEARLY)
    assert whole.value == pytest.approx(
        float(whole.aggregate(rows.sum(axis=0))), rel=NEARLY, abs=NEARLY, nan_ok=True
    )
    if whole.per_sentence is not None:
        expected = np.concatenate([part.per_sentence for part in parts])
        assert whole.per_sentence == pytest.approx(expected, rel=NEARLY, abs=NEARLY, nan_ok=True)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.alone])
@steady
@given(data=st.data())
def test_a_sentences_score_is_that_of_a_corpus_with_nothing_else(name, data):
    kind = KINDS[name]
    statistics = kind.measure([data.draw(kind.sentence)])
    assert statistics.per_sentence == pytest.approx(
        [statistics.value], rel=NEARLY, abs=NEARLY, nan_ok=True
    )


# The smoothing of 13a does depend on it: where nothing matches, half a match of all n-grams.
@pytest.mark.parametrize("name", [name for name in KINDS if name != "bleu, 13a"])
@steady
@given(data=st.data())
def test_repeating_every_sentence_changes_nothing(name, data):
    kind = KINDS[name]
    sentences = data.draw(st.lists(kind.sentence, min_size=1, max_size=5))
    one, thrice = kind.measure(sentences), kind.measure(sentences * 3)
    assert thrice.value == pytest.approx(one.value, rel=NEARLY, abs=NEARLY, nan_ok=True)


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
