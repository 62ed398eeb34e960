"""Training data of a direction: nothing of the test in it, and no way to the test."""

import dataclasses

import pytest
from prepared import BACK, DIRECTION

from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import (
    TrainingData,
    TrainingPart,
    load_styles,
    load_test_set,
    load_training,
)


def held_out(dataset):
    """Every test sentence and rewrite of a dataset, case and spaces apart."""
    test_sets = [load_test_set(direction) for direction in DATASETS[dataset].directions]
    keys = {match_key(text) for some in test_sets for text in some.sources}
    return keys | {match_key(t) for some in test_sets for refs in some.references for t in refs}


def texts(data):
    """Everything that can be read in training data."""
    for part in (data.train, data.validation):
        if part is not None:
            yield from (*part.source, *part.target)
            yield from (text for pair in part.pairs for text in pair)


@pytest.mark.parametrize(("direction", "source"), [(DIRECTION, 0), (BACK, 1)])
def test_sentences_are_those_that_scorers_learn_from(direction, source):
    data = load_training(direction)
    styles = load_styles("mini")
    assert data.train.source == styles.splits["train"].of(source)
    assert data.train.target == styles.splits["train"].of(1 - source)
    assert data.validation.source == styles.splits["validation"].of(source)
    assert (data.train.name, data.train.pairs, data.n_removed) == ("train", (), 0)
    assert data.n_sentences == len(styles.splits["train"])
    assert not held_out("mini") & set(map(match_key, texts(data)))


def test_the_fingerprint_tells_data_apart():
    data = load_training(DIRECTION)
    fewer = dataclasses.replace(data.train, target=data.train.target[1:])
    others = [
        load_training(BACK),
        dataclasses.replace(data, train=fewer),
        dataclasses.replace(data, validation=None),
    ]
    assert load_training(DIRECTION).fingerprint == data.fingerprint
    assert data.fingerprint not in {other.fingerprint for other in others}


def test_no_field_leads_to_the_test():
    fields = [f.name for kind in (TrainingData, TrainingPart) for f in dataclasses.fields(kind)]
    assert not [name for name in fields if "test" in name]


# What upstream's training files hold of their own test pairs, source and rewrite alike verbatim.
LEAKS = [
    ("styptb_tfu/present-to-future", 25, 364),
    ("shakespeare/shakespearean-to-modern", 18, 1462),
    ("styptb_arr/modified-to-unmodified", 8, 243),
]


@pytest.mark.realdata
@pytest.mark.parametrize(("direction", "leaked", "of"), LEAKS)
def test_test_pairs_that_upstream_trains_on_are_gone(sources, direction, leaked, of):
    test_set = load_test_set(direction)
    raw = load_test_set(direction, "train")
    upstream = {(s, r) for s, some in zip(raw.sources, raw.references, strict=True) for r in some}
    pairs = list(zip(test_set.sources, (some[0] for some in test_set.references), strict=True))
    assert (sum(pair in upstream for pair in pairs), len(pairs)) == (leaked, of)
    data = load_training(direction)
    assert not set(pairs) & set(data.train.pairs)
    assert len(raw) - len(data.train.pairs) == data.train.removed_pairs >= leaked


@pytest.mark.realdata
@pytest.mark.parametrize(
    "direction",
    [
        "yelp/negative-to-positive",
        "amazon/positive-to-negative",
        "shakespeare/modern-to-shakespearean",
        "styptb_tfu/present-to-future",
        "styptb_arr/modified-to-unmodified",
    ],
)
def test_no_test_sentence_is_left_in_real_data(sources, direction):
    data = load_training(direction)
    assert data.n_sentences > 5000
    assert not held_out(data.direction.dataset) & set(map(match_key, texts(data)))
