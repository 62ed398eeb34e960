"""When a classifier is trained again, and what its card says of what it learned from."""

from classifier_toys import LABELS, SENTENCES, STYLES

from tstbench.metrics.scorers.linear import LinearConfig
from tstbench.metrics.scorers.train import train_classifier

ABOUT = {"dataset": "mini", "trained_on": "toys"}


def trained(sentences=SENTENCES, labels=LABELS, styles=STYLES, config=None, **more):
    return train_classifier("linear", sentences, labels, styles, config, **{**ABOUT, **more})


def test_it_is_trained_again_if_anything_that_counts_is_new(capsys):
    first = trained()
    assert "training the linear style classifier of mini" in capsys.readouterr().err
    flipped = [1 - LABELS[0], *LABELS[1:]]
    others = {
        "labels": trained(labels=flipped),
        "order": trained(SENTENCES[::-1], LABELS[::-1]),
        "styles": trained(styles=STYLES[::-1]),
        "setting": trained(config=LinearConfig(min_count=3)),
        "name": trained(name="other"),
        "role": trained(role="acceptability"),
        "dataset": trained(dataset="yelp"),
        "left out": trained(exclude=SENTENCES[:1]),
        "held out": trained(held_out=(SENTENCES[1::70], LABELS[1::70])),
    }
    assert capsys.readouterr().err.count("training the linear") == len(others)
    assert len({first.hash, *(one.hash for one in others.values())}) == 1 + len(others)
    # The name in the cache is the newest one's: the others are trained again, to the same bytes.
    assert trained().hash == first.hash
    capsys.readouterr()
    assert trained().hash == first.hash
    assert "training" not in capsys.readouterr().err


def test_its_card_counts_what_was_left_out():
    held = (SENTENCES[::50], LABELS[::50])
    some = [SENTENCES[1].upper(), f" {SENTENCES[2]} ", "nothing of the kind", SENTENCES[0]]
    card = trained(exclude=some, n_excluded=5, held_out=held, measure=lambda _: {"twice": 2.0}).card
    kept = len(SENTENCES) - 3 - len(held[0]) + 1  # one sentence is in both
    assert (card.n_sentences, card.n_excluded) == (kept, 8)
    assert card.scores.keys() == {"held_out_accuracy", "twice"}
    assert (card.dataset, card.trained_on, card.styles) == ("mini", "toys", STYLES)
    assert card.settings["recipe_version"] == 1


def test_the_held_out_accuracy_is_that_of_sentences_it_has_not_seen():
    wrong = [1 - label for label in LABELS[::40]]
    assert trained(held_out=(SENTENCES[::40], wrong)).card.scores == {"held_out_accuracy": 0}
    right = trained(held_out=(SENTENCES[1::40], LABELS[1::40]))
    assert right.card.scores == {"held_out_accuracy": 1}
