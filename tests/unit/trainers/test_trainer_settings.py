"""Every setting of a trainer changes what it learns; every field of a card counts or does not."""

import random
from dataclasses import fields, replace

import numpy as np
import pytest

from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.errors import InputError
from tstbench.metrics.scorers.classifiers import KINDS
from tstbench.metrics.scorers.fasttext import FastTextConfig
from tstbench.metrics.scorers.lexicon import LexiconConfig, fit_lexicon
from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.textcnn import TextCnnConfig
from tstbench.metrics.scorers.train import LabelledSentences, fit
from tstbench.metrics.scorers.word_vectors import WordVectorsConfig, fit_word_vectors
from tstbench.settings import from_texts, read_settings
from tstbench.trainers.card import SystemCard
from tstbench.trainers.ctat import CtatConfig
from tstbench.trainers.system import SYSTEM_STORE
from tstbench.trainers.train import planned_system, system_config, train_system

DRAW = random.Random(3)
WORDS = [f"w{i}" for i in range(40)]
LABELS = tuple(DRAW.randrange(2) for _ in range(160))
# Style 1 prefers the later words; some words occur four times; nothing is certain.
SENTENCES = tuple(
    " ".join(
        WORDS[min(39, int(40 * DRAW.random() ** (2.0 - label)))]
        for _ in range(DRAW.randrange(2, 12))
    )
    + (f" rare{number // 4}" if number < 40 else "")
    for number, label in enumerate(LABELS)
)

# A second value of each setting; every other setting stays as in QUICK.
QUICK = {
    "linear": LinearConfig(),
    "fasttext": FastTextConfig(buckets=2000, dimension=4),
    "textcnn": TextCnnConfig(epochs=2, min_steps=1, batch_size=32, dimension=8, filters=4),
    "lexicon": LexiconConfig(deviations=0.0, inverse_penalty=2.0),
    "word vectors": WordVectorsConfig(dimensions=4, least_words=1, epochs=1),
}
OTHERS = {
    "linear": {
        "longest_ngram": 1,
        "min_count": 5,
        "inverse_penalty": 0.1,
        "tolerance": 1e-1,
        "max_iterations": 2,
    },
    "fasttext": {
        "epochs": 9,
        "learning_rate": 0.1,
        "longest_ngram": 1,
        "dimension": 5,
        "buckets": 50,
        "min_count": 9,
        "seed": 1,
    },
    "textcnn": {
        "epochs": 3,
        "min_steps": 40,
        "batch_size": 16,
        "learning_rate": 1e-2,
        "min_count": 9,
        "dimension": 12,
        "widths": (2, 3),
        "filters": 5,
        "dropout": 0.0,
        "seed": 1,
    },
    "lexicon": {
        "longest_ngram": 2,
        "min_count": 9,
        "binary": False,
        "inverse_penalty": 0.5,
        "deviations": 1.0,
        "max_iterations": 1,
        "tolerance": 0.5,
    },
    "word vectors": {
        "dimensions": 5,
        "window": 1,
        "min_count": 9,
        "epochs": 2,
        "least_words": 9000,
        "negative": 1,
        "skip_gram": False,
        "seed": 1,
    },
}


def learned(kind, config):
    """What a scorer of that kind has learned, as numbers."""
    if kind == "lexicon":
        return [*fit_lexicon(SENTENCES, LABELS, ("a", "b"), config).weights.items()]
    if kind == "word vectors":
        found = fit_word_vectors(SENTENCES, config)
        return [*found.rows], np.asarray(found.vectors).tolist()
    model = fit(kind, LabelledSentences(SENTENCES, LABELS), ("a", "b"), config)
    return model.distribution(SENTENCES[:30]).round(5).tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] * (k in KINDS)) for k in OTHERS]
)
def test_every_setting_of_a_scorer_reaches_its_trainer(kind):
    quick = QUICK[kind]
    assert {field.name for field in fields(quick)} - {"seed"} == OTHERS[kind].keys() - {"seed"}
    usual = learned(kind, quick)
    assert usual == learned(kind, quick)
    for name, value in OTHERS[kind].items():
        other = replace(quick, **{name: value})
        assert learned(kind, other) != usual, name
        assert other.settings() != quick.settings(), name


# -- what identifies a system ----------------------------------------------------------------------

CARD = SystemCard(name="a", kind="a", family="rule")
OTHER = {
    "name": "b",
    "kind": "b",
    "family": "fpft",
    "directions": ("mini/negative-to-positive",),
    "needs_parallel": True,
    "origin": "b",
    "trained_on": "b",
    "data_fingerprint": "b",
    "n_sentences": 1,
    "n_pairs": 1,
    "n_excluded": 1,
    "settings": {"seed": 1},
    "recipe_version": 2,
    "scores": {"b": 0.5},
    "versions": {"b": "1"},
    "made": {"b": "1"},
}
# Known before training, and able to change what is learned; and what changes no answer at all.
RECIPE = {
    *("name", "kind", "directions", "needs_parallel", "data_fingerprint", "settings"),
    "recipe_version",
}
IN_NO_HASH = {"versions", "made"}


def test_each_field_of_a_system_card_counts_or_does_not():
    assert {field.name for field in fields(CARD)} - {"schema_version"} == set(OTHER)
    digest = SYSTEM_STORE.hash_of(CARD)
    for name, value in OTHER.items():
        other = replace(CARD, **{name: value})
        assert (other.recipe != CARD.recipe) == (name in RECIPE), name
        assert (SYSTEM_STORE.hash_of(other) != digest) == (name not in IN_NO_HASH), name
        apart = name in RECIPE - {"name", "settings"}  # of which the seed does not count
        assert (other.seedless_recipe != CARD.seedless_recipe) == apart, name
    warmer = replace(CARD, settings={"rate": 1})
    assert warmer.seedless_recipe != CARD.seedless_recipe


DIRECTION = Direction("mini", "negative", "positive")


def training(source=("bad food", "so bad"), target=("good food", "so good"), **more):
    part = TrainingPart("train", tuple(source), tuple(target), **more)
    return TrainingData(DIRECTION, "paper-v1", part)


def test_a_planned_card_says_what_it_will_learn_from():
    data = training(
        source=("a", "b", "c"), pairs=(("a", "x"),), removed_sentences=4, removed_pairs=3
    )
    card = planned_system("delete-retrieve", data)
    assert (card.n_sentences, card.n_pairs, card.n_excluded) == (5, 1, 7)
    assert card.trained_on == "mini/train without test sentences, paper-v1"
    assert card.data_fingerprint == data.fingerprint
    assert card.directions == ("mini/negative-to-positive",)
    assert card.settings == system_config("delete-retrieve", DIRECTION).__dict__
    assert planned_system("delete-retrieve", data, called="mine").name == "mine"


def test_settings_of_another_system_are_refused():
    wrong = system_config("random-target", DIRECTION)
    with pytest.raises(InputError, match="trained with DeleteRetrieveConfig, got SystemConfig"):
        train_system("delete-retrieve", training(), wrong)


def test_a_truth_value_is_no_number():
    flags = from_texts(FastTextConfig, {"epochs": "true", "learning_rate": "7"}, "fasttext")
    for values in (flags, {"epochs": True}, {"learning_rate": True}):
        with pytest.raises(InputError, match="of fasttext is no truth value, got True"):
            read_settings(FastTextConfig, values, "fasttext")
    numbers = from_texts(FastTextConfig, {"epochs": "7", "learning_rate": "0.5"}, "fasttext")
    read = read_settings(FastTextConfig, numbers, "fasttext")
    assert (read.epochs, read.learning_rate) == (7, 0.5)
    assert read_settings(LexiconConfig, {"binary": False}, "lexicon").binary is False


def test_a_learning_rate_is_finite():
    with pytest.raises(InputError, match="classifier_rate"):
        read_settings(CtatConfig, {"classifier_rate": float("inf")}, "ctat")
