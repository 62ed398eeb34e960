"""What classifiers are trained on: never test sentences, never held-out ones, nothing odd."""

import json

from classifier_toys import (
    LABELS,
    SENTENCES,
    STYLES,
)

from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.train import labelled, split_held_out, train_classifier


def test_test_sentences_are_never_trained_on():
    """A word that only test sentences hold cannot get into the vocabulary."""
    sentences = [*SENTENCES, "the xylophone was awful .", "the xylophone was a joy ."]
    labels = [*LABELS, 0, 1]
    options = {"dataset": "toy", "trained_on": "toy/train", "config": LinearConfig(min_count=1)}
    excluded = ["The  XYLOPHONE was awful.", " the xylophone was a joy .", "not in there"]
    with_them = train_classifier("linear", sentences, labels, STYLES, **options)
    without = train_classifier("linear", sentences, labels, STYLES, **options, exclude=excluded)
    words = [json.loads((a.folder / "vocabulary.json").read_text()) for a in (with_them, without)]
    assert ["xylophone" in w for w in words] == [True, False]
    assert (with_them.card.n_excluded, without.card.n_excluded) == (0, 2)
    assert with_them.card.recipe != without.card.recipe


def test_held_out_sentences_are_not_trained_on_either():
    held = (["the xylophone was awful .", "a joy ."], [0, 1])
    artefact = train_classifier(
        "linear",
        [*SENTENCES, *held[0]],
        [*LABELS, *held[1]],
        STYLES,
        LinearConfig(min_count=1),
        dataset="toy",
        trained_on="toy",
        held_out=held,
    )
    assert "xylophone" not in json.loads((artefact.folder / "vocabulary.json").read_text())
    assert artefact.card.n_sentences == len(SENTENCES)
    assert artefact.card.scores == {"held_out_accuracy": 1.0}


def test_the_split_depends_on_the_sentence_alone():
    data = labelled(SENTENCES, LABELS, STYLES, what="toy")
    train_part, held = split_held_out(data)
    assert 0.05 < len(held) / len(data) < 0.15
    mixed = labelled([*SENTENCES[::-1], *SENTENCES], [*LABELS[::-1], *LABELS], STYLES, what="toy")
    again = split_held_out(mixed)
    assert set(again[1].sentences) == set(held.sentences)
    assert set(again[0].sentences) == set(train_part.sentences)
