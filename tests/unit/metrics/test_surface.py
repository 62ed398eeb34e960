"""Length ratio and copy rate, by hand."""

import numpy as np
import pytest

import tstbench
from tstbench.datasets_scripts.load import load_test_set
from tstbench.metrics.inputs import check_inputs
from tstbench.metrics.measure import measure
from tstbench.metrics.options import choices
from tstbench.metrics.registry import METRICS
from tstbench.metrics.scorers.profile import PROFILES, Scorers
from tstbench.metrics.statistics import interval
from tstbench.metrics.surface.surface import copy_rate, length_ratio

SCORERS = Scorers(PROFILES["embedded"], None)
DIRECTION = "mini/negative-to-positive"


def test_a_ratio_of_sums_not_a_mean_of_ratios():
    found = length_ratio([2, 4, 3] * 7, [4, 4, 0] * 7)
    assert found.value == pytest.approx(9 / 8)
    np.testing.assert_allclose(found.per_sentence, [0.5, 1.0, np.nan] * 7)
    assert interval(found).low < 9 / 8 < interval(found).high


def test_words_are_separated_as_for_the_language_model():
    inputs = check_inputs(["good food , good wine!"], ["good food"])
    found = measure(["length_ratio"], inputs, SCORERS)["length_ratio"]
    assert found.value == pytest.approx(6 / 2)  # with signs left at their words: 4 / 2
    assert "|text:paper-v1+lower+13a|" in str(found.signature)


@pytest.mark.parametrize(
    ("equal", "copies"),
    [("letters", [1, 1, 1, 0, 0]), ("clean", [1, 1, 0, 0, 0]), ("raw", [1, 0, 0, 0, 0])],
)
def test_what_is_a_copy(equal, copies):
    sources = ["it's fine."] * 5
    predictions = ["it's fine. ", "it 's fine .", "It's FINE .", "it's fine!", ""]
    inputs = check_inputs(predictions, sources)
    found = measure(["copy_rate"], inputs, SCORERS, choices({"surface": {"equal": equal}}))
    assert found["copy_rate"].statistics.per_sentence.tolist() == [100.0 * c for c in copies]
    assert f"|equal:{equal}|" in str(found["copy_rate"].signature)
    assert copy_rate(["a"], ["a"]).value == 100
    with pytest.raises(ValueError, match="zip"):
        copy_rate(["a", "b"], ["a"])


def test_no_length_is_the_best_one():
    sources = load_test_set(DIRECTION).sources
    longer = [f"{text} and so it was" for text in sources]
    found = tstbench.evaluate({"a": longer, "b": sources}, DIRECTION, metrics=["surface"])
    lines = str(found).splitlines()
    assert "copies ↓  length ratio" in lines[1]  # no arrow
    assert [line.split()[1:] for line in lines[3:5]] == [
        ["a", "0.0*", "1.30"],
        ["b§", "100.0", "1.00"],
    ]
    assert "Ranked by copies." in str(found)
    assert METRICS["length_ratio"].better == "neither"
