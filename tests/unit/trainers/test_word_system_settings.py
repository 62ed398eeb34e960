"""The settings that all word-level systems share reach what they learn from and what they write."""

from dataclasses import replace

import pytest

from tstbench.datasets_scripts.cleaning import paper_v1
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.trainers.system import system_class
from tstbench.trainers.training.run import Run

DIRECTION = Direction("mini", "negative", "positive")
THINGS = ("soup", "room", "bill", "waiter", "pool", "lamp", "tea", "door", "bed", "view")
BAD = tuple(
    f"the {thing} wo n't do , it 's {word} ." for thing in THINGS for word in ("bad", "ill")
)
GOOD = tuple(f"the {thing} is good , it 's {word} !" for thing in THINGS for word in ("fine", "ok"))


def learned(name="stytrans", source=BAD, **settings):
    data = TrainingData(DIRECTION, "paper-v1", TrainingPart("train", source, GOOD))
    kind = system_class(name)
    config = replace(kind.Config.tiny(DIRECTION), **{"hold_out": 2, **settings})
    return kind.train(data, config, Run(device="cpu"))


def test_words_that_are_too_rare_or_too_many_are_not_learned():
    source = (*BAD, "seldom the soup .", "seldom the room .", "seldom the bill .")
    usual = learned(source=source, min_count=1, rounds=1)
    assert "seldom" in usual.vocabulary.words
    assert "seldom" not in learned(source=source, min_count=4, rounds=1).vocabulary.words


def test_what_is_written_is_clean():
    system = learned()
    answers = list(system.transfer(BAD, DIRECTION.name))
    # Its words are split off as in training; what it writes is attached again.
    assert answers == [paper_v1(answer) for answer in answers]
    assert any(mark in answer for answer in answers for mark in (".", ",", "!", "'s", "n't"))


@pytest.mark.slow
def test_the_seed_of_the_settings_is_that_of_the_weights():
    one, again, other = (learned(seed=seed, rounds=1) for seed in (0, 0, 1))
    states = [system.network.state_dict() for system in (one, again, other)]
    same = [all(bool((state[k] == states[0][k]).all()) for k in state) for state in states]
    assert same == [True, True, False]
    assert one.card.recipe == again.card.recipe != other.card.recipe
