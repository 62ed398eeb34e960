"""Training data of a direction: nothing of the test in it, and no way to the test."""

from dataclasses import fields, replace

import pytest
from gyafc_copy import write
from prepared import BACK, DIRECTION

from tstbench.datasets_scripts.catalog import DATASETS
from tstbench.datasets_scripts.cleaning import match_key
from tstbench.datasets_scripts.load import (
    TrainingData,
    TrainingPart,
    keys_under_test,
    load_styles,
    load_test_set,
    load_training,
)

I2F = "gyafc_em/informal-to-formal"


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
    fewer = replace(data.train, target=data.train.target[1:])
    others = [
        load_training(BACK),
        replace(data, train=fewer),
        replace(data, validation=None),
    ]
    assert data.fingerprint.startswith("03626fe28d599c7e")  # it is in the cards of systems
    assert data.fingerprint not in {other.fingerprint for other in others}


def test_no_field_leads_to_the_test():
    names = [f.name for kind in (TrainingData, TrainingPart) for f in fields(kind)]
    assert not [name for name in names if "test" in name]


def test_training_data_hold_all_pairs_and_are_told_apart_by_them(corpus):
    data = load_training(I2F, data_dir=corpus)
    assert data.train.pairs == (
        ("luv that song", "I love that song."),
        ("who cares?", "It is not important."),
        ("dunno", "I do not know."),
    )
    assert len(data.validation.pairs) == 4
    fewer = replace(data.train, pairs=data.train.pairs[1:])
    turned = replace(data.train, pairs=data.train.pairs[::-1])
    others = [replace(data, train=part) for part in (fewer, turned)]
    assert len({one.fingerprint for one in (data, *others)}) == 3
    raw = load_training(I2F, data_dir=corpus, cleaning="raw")
    assert (str(raw.direction), raw.cleaning) == (I2F, "raw")
    assert raw.train.pairs[1] == ("who cares ?", "It is not important .")
    assert raw.train.target[1] == "It is not important ."


def test_a_pair_with_a_test_sentence_on_either_side_is_not_learned_and_counted(corpus):
    # A test source of this direction, a test source of the other, and a rewrite of a test sentence.
    folder = corpus / "Entertainment_Music"
    write(folder / "train/informal", ["Ur  right", "who cares ?", "its fine", "yep"])
    formal = ["You are right.", "it begins at nine .", "ITS ON TV 2nite , formal 3", "Yes."]
    write(folder / "train/formal", formal)
    write(folder / "tune/informal", ["ur right"])
    data = load_training(I2F, data_dir=corpus)
    assert data.train.pairs == (("yep", "Yes."),)
    assert data.train.source == ("who cares?", "its fine", "yep")
    assert data.train.target == ("You are right.", "Yes.")
    assert (data.train.removed_pairs, data.train.removed_sentences) == (3, 3)
    assert (data.validation.removed_pairs, data.validation.removed_sentences) == (4, 1)
    assert data.n_removed == 11
    # By raw lines, another spacing is the same sentence still; by the split that is asked for.
    raw = load_training(I2F, data_dir=corpus, cleaning="raw", split="validation")
    assert (raw.train.name, raw.train.removed_pairs, raw.validation) == ("validation", 4, None)
    assert raw.n_removed == 5
    # Raw lines are compared whole, although the usual cleaning cuts them after 64 words.
    long = " ".join(map(str, range(70)))
    write(folder / "test/informal", ["ur right", long])
    write(folder / "train/informal", [long, "who cares ?", "its fine", "yep"])
    assert load_training(I2F, data_dir=corpus, cleaning="raw").train.pairs == (("yep", "Yes."),)


def test_labels_alone_have_nothing_under_test():
    assert keys_under_test("cds") == frozenset()
    assert keys_under_test("mini") == held_out("mini")


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
