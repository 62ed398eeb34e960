"""chrF against sacreBLEU: corpus, sentence, one and several references, and its options."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_kinds import TEXTS
from sacrebleu.metrics.chrf import CHRF

from tstbench.metrics import statistics
from tstbench.metrics.bleu import bleu
from tstbench.metrics.chrf import chrf
from tstbench.metrics.chrf.chrf import aggregate_chrf, chrf_statistics
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.scorers.profile import PROFILES, Scorers

SETTINGS = (
    {},
    {"beta": 1.0},
    {"beta": 0.5, "lowercase": True},
    {"word_order": 2},
    {"char_order": 3, "word_order": 1},
)


@pytest.mark.parametrize("how", SETTINGS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=6))
def test_corpus_and_sentences_are_sacrebleus(how, corpus):
    made, against = map(list, zip(*corpus, strict=True))
    found = chrf_statistics(made, against, **how)
    streams = [[some[k] if k < len(some) else None for some in against] for k in range(3)]
    streams = [stream for stream in streams if any(text is not None for text in stream)]
    tool = CHRF(**{"beta": 2, **how})
    assert found.value == pytest.approx(tool.corpus_score(made, streams).score, abs=1e-9)
    each = [tool.sentence_score(text, some).score for text, some in corpus]
    np.testing.assert_allclose(found.per_sentence, each, atol=1e-9)


def test_edges_by_hand():
    found = chrf_statistics(["", "ab", "xy", "any"], [["ab"], ["ab"], ["ab"], []])
    np.testing.assert_allclose(found.per_sentence, [0, 100, 0, np.nan])
    nothing = chrf_statistics(["a", "b"], [[], []])
    assert np.isnan(nothing.value)
    assert np.isnan(nothing.per_sentence).all()
    # "abc" and "abd": 2 of 3 letters, 1 of 2 pairs, 0 of 1 triples, either way.
    assert chrf_statistics(["abc"], [["abd"]]).value == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)
    # One order, precision 1/2, recall 1/4: F2 is 5 x 1/8 / (4 x 1/2 + 1/4).
    assert aggregate_chrf(np.array([4, 8, 2]), 2.0) == pytest.approx(100 * (5 / 8) / (9 / 4))


def test_what_counts_as_an_order_and_as_a_sentence_by_hand():
    # The first order has no n-gram of the references, the second F2 of 2/8 and 2/4.
    sums = np.array([4, 0, 0, 8, 4, 2])
    expected = 100 * 5 * (1 / 4 * 1 / 2) / (4 * 1 / 4 + 1 / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is divided by 0 where one can see it
        assert aggregate_chrf(sums, 2.0) == pytest.approx(expected)
        swapped = aggregate_chrf(np.array([0, 4, 0, 8, 4, 2]), 2.0)
        assert swapped == pytest.approx(expected)
        assert aggregate_chrf(np.array([[3, 2, 0, 0, 0, 0], [0] * 6]), 2.0).tolist() == [0, 0]
    odd = np.array([7, 11, 3, 6, 9, 1])
    for kind in (np.float32, np.int8):
        found = aggregate_chrf(odd.astype(kind), 2.0)
        assert found.dtype == np.float64
        assert found == aggregate_chrf(odd.astype(float), 2.0)
    # An empty reference is one: 0, as sacreBLEU says, and not undefined.
    found = chrf_statistics(["ab", "c", "d"], [[""], ["", "c"], []], char_order=2)
    assert found.per_sentence.tolist()[:2] == [0, 100]
    assert np.isnan(found.per_sentence[2])
    assert found.rows[:, -1].tolist() == [1, 1, 0]
    assert chrf_statistics(["ab"], [[""]]).value == 0


def test_case_counts_unless_it_is_ignored():
    assert chrf_statistics(["AB"], [["ab"]]).value == 0
    assert chrf_statistics(["AB"], [["ab"]], lowercase=True).value == pytest.approx(100)


@pytest.mark.parametrize(
    ("counting", "measure"), [(bleu, bleu.bleu_statistics), (chrf, chrf_statistics)]
)
def test_references_are_counted_once_for_all_systems_of_a_short_corpus(
    counting, measure, monkeypatch
):
    """Of a corpus longer than a block, nothing is kept, and all is counted; BLEU does as chrF."""
    long = ["once", "", "at all", "a third one"], [["once", "or"], ["not"], [], ["a third word"]]
    whole = measure(*long)
    for module in (counting, statistics):
        monkeypatch.setattr(module, "BLOCK", 2)
    monkeypatch.setattr(statistics, "_PART", 1)
    parts = measure(*long)
    np.testing.assert_array_equal(parts.rows, whole.rows)
    np.testing.assert_array_equal(parts.per_sentence, whole.per_sentence)
    refs = [["kept in a test", "once"], ["or not at all"], ["a third reference"]]
    counting._counter.cache_clear()
    for some, kept in ((refs, 0), (refs[:2], 1), ([*refs[:2], []], 1)):
        first = measure(["once"] * len(some), some)
        assert counting._counter.cache_info().currsize == kept
        assert first.value == measure(["once"] * len(some), some).value
    assert (counting._counter.cache_info().misses, counting._counter.cache_info().hits) == (1, 3)


def test_words_are_cleaned_and_letters_need_not_be():
    scorers = Scorers(PROFILES["embedded"], None)
    spaced = check_inputs(["it 's fine , too ."], None, [["it's fine, too."]])
    raw = {"word_order": "2", "clean": "false"}
    found = [
        measure(["r_chrf"], spaced, scorers, choices({"chrf": some}))["r_chrf"].value
        for some in ({}, {"clean": "false"}, {"word_order": "2"}, raw)
    ]
    assert found[:3] == pytest.approx([100] * 3)
    assert found[3] < 99, "words that are not cleaned are other words"
