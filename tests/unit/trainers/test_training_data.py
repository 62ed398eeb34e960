"""What a system learns from, what chooses its weights, and what a training leaves to continue."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tstbench.datasets_scripts.cleaning import paper_v1
from tstbench.datasets_scripts.directions import Direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.errors import InputError
from tstbench.metrics.scorers.fitting import (
    Progress,
    load_checkpoint,
    save_checkpoint,
)
from tstbench.trainers.system import system_class
from tstbench.trainers.train import Clock
from tstbench.trainers.training.pairs import Paired
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.selection import Sides, hold_out, selection
from tstbench.trainers.training.words import Vocabulary
from tstbench.trainers.word_system import Corpus

DIRECTION = Direction("mini", "negative", "positive")
BAD = tuple(f"food {i} was bad ." for i in range(9))
GOOD = tuple(f"room {i} was good ." for i in range(7))


def data(source=BAD, target=GOOD, validation=None, pairs=()):
    train = TrainingPart("train", tuple(source), tuple(target), tuple(pairs))
    return TrainingData(DIRECTION, "paper-v1", train, validation)


# -- held out --------------------------------------------------------------------------------------


def test_held_out_sentences_leave_the_training_with_all_their_copies():
    given = data(source=(*BAD, *BAD[:4]), target=(*GOOD, GOOD[0]))
    train, held = hold_out(given, 3, seed=0)
    for side, every in enumerate(((*BAD, *BAD[:4]), (*GOOD, GOOD[0]))):
        assert len(held[side]) == len(set(held[side])) == 3
        assert train[side] == tuple(text for text in every if text not in held[side])
        assert list(held[side]) == sorted(held[side], key=every.index)
    others = [hold_out(given, 3, seed=seed)[1] for seed in range(1, 6)]
    assert any(other != held for other in others)
    assert hold_out(given, 3, seed=0) == (train, held)


def test_a_copy_in_other_case_or_with_other_spaces_is_a_copy():
    shouted = [text.upper().replace(" .", ".") for text in (*BAD, *GOOD)]
    train, held = hold_out(data((*BAD, *shouted[:9]), (*GOOD, *shouted[9:])), 2, seed=0)
    for side, every in enumerate((BAD, GOOD)):
        keys = {text.lower().replace(" ", "") for text in held[side]}
        others = [text for text in every if text.replace(" ", "") not in keys]
        assert len(others) == len(every) - len(keys)
        assert [text for text in train[side] if text in every] == others
        assert len(train[side]) == 2 * len(others)


def test_a_validation_split_chooses_where_there_is_one():
    some = TrainingPart("validation", ("a", "b", "a", "c"), ("d", "d", "e"))
    train, held = hold_out(data(validation=some), 2, seed=0)
    assert train == (BAD, GOOD)
    assert held == (("a", "b"), ("d", "e"))
    empty = replace(some, target=())
    assert hold_out(data(validation=empty), 2, seed=0) == hold_out(data(), 2, seed=0)


def test_a_selection_counts_style_and_content_of_each_way():
    shouted = tuple(text.upper() for text in GOOD[:2])
    judge = selection(Sides(BAD * 20, GOOD * 20), Sides(BAD[:3], shouted), seed=0)

    def rewrite(sentences, side):
        if side == 0:  # two of three get the other style
            return [GOOD[0], GOOD[1], sentences[2].upper()]
        assert tuple(sentences) == shouted
        return list(GOOD[:2])

    found = judge.scores(rewrite)
    assert found["acc_forward"] == pytest.approx(2 / 3)
    assert found["acc_back"] == 0
    assert found["self_bleu_back"] == pytest.approx(1)  # case does not count
    assert 0 < found["self_bleu_forward"] < 1
    assert found["selection"] == pytest.approx(found["self_bleu_forward"] / 3)
    with pytest.raises(InputError, match="no sentences are held out"):
        selection(Sides(BAD, GOOD), Sides(BAD, ()), seed=0).scores(rewrite)


def test_a_corpus_is_cut_counted_and_held_out_as_asked():
    def corpus(**more):
        asked = {"min_count": 1, "max_length": 9, "held_out": 2, "seed": 0, **more}
        return Corpus.of(data(source=(*BAD, "Rare Food ."), target=GOOD), **asked)

    usual = corpus()
    assert (usual.n_source, len(usual.rows)) == (8, 13)
    assert [len(side) for side in usual.judge.held_out] == [2, 2]
    words = set(usual.vocabulary.words)
    assert {"food", "room", "was", "."} <= words
    often = set(corpus(min_count=6).vocabulary.words)
    assert {"food", "was", "."} <= often <= {"food", "was", "bad", "."}
    assert len(corpus(max_words=3).vocabulary.words) == 3
    assert max(map(len, corpus(max_length=4).rows)) == 4
    assert max(map(len, usual.rows)) == 6
    assert len(corpus(held_out=3).rows) == 11


def test_the_most_frequent_words_come_first_and_ties_by_spelling():
    rows = [text.split() for text in ("b a c", "c a", "c d d")]
    assert Vocabulary.of(rows, 1).words == ("c", "a", "d", "b")
    assert Vocabulary.of(rows, 2).words == ("c", "a", "d")
    assert Vocabulary.of(rows, 1, 2).words == ("c", "a")
    with pytest.raises(InputError, match="no word occurs 4 times"):
        Vocabulary.of(rows, 4)


# -- pairs -----------------------------------------------------------------------------------------


def pairs_of(n):
    return [(f"Food {i} was bad .", f"Food {i} was good .") for i in range(n)]


def paired(given, choice="auto", mined=(), most=2, seed=0):
    return Paired.of(given, choice, lambda _: list(mined), hold_out=most, seed=seed, system="tyb")


def test_pairs_that_are_held_out_have_no_source_in_training():
    given = data(pairs=[*pairs_of(30), *((s, f"so {t}") for s, t in pairs_of(30)), (" ", "x")])
    found = paired(given)
    assert not found.mined
    held = {source for source, _ in found.held_out}
    assert (len(held), len(found.held_out), len(found.train)) == (2, 4, 56)
    assert not held & {source for source, _ in found.train}
    assert ("food 0 was bad.", "food 0 was good.") in (*found.train, *found.held_out)
    assert len(paired(given, most=50).held_out) == 6  # at most a tenth of the sources
    assert any(paired(given, seed=seed).held_out != found.held_out for seed in range(1, 6))
    with pytest.raises(InputError, match="only 9 pairs are there to learn mini"):
        paired(data(pairs=pairs_of(9)))


def test_nothing_is_mined_where_a_style_has_no_sentence_left():
    for empty, style in (({"source": ()}, "negative"), ({"target": ()}, "positive")):
        with pytest.raises(InputError, match=f"no {style} sentences to learn from"):
            paired(data(**empty), "mined", mined=pairs_of(30))


def test_validation_pairs_are_held_out_as_published_and_no_more_than_asked():
    split = TrainingPart("validation", (), (), tuple(pairs_of(5)))
    found = paired(data(pairs=pairs_of(12), validation=split))
    assert len(found.train) == 12
    assert found.held_out == tuple((s.lower(), t.lower()) for s, t in (
        ("food 0 was bad.", "food 0 was good."), ("food 1 was bad.", "food 1 was good."),
    ))  # fmt: skip


def test_validation_pairs_without_two_sides_choose_nothing():
    split = TrainingPart("validation", (), (), (("good .", " "), ("", "fine .")))
    found = paired(data(pairs=pairs_of(30), validation=split))
    assert found == paired(data(pairs=pairs_of(30)))
    assert len(found.held_out) == 2
    good = replace(split, pairs=tuple(pairs_of(5)))
    with pytest.raises(InputError, match="only 0 pairs are there to learn mini"):
        paired(data(pairs=split.pairs, validation=good))


def test_pairs_are_mined_if_asked_for_or_if_there_are_none():
    mined = [(f"a{i}", f"b{i}") for i in range(20)]
    split = TrainingPart("validation", (), (), tuple(pairs_of(5)))
    for given, choice in ((data(), "auto"), (data(pairs=pairs_of(30), validation=split), "mined")):
        found = paired(given, choice, [*mined, *mined[:3], ("", "x")])
        assert found.mined
        assert sorted((*found.train, *found.held_out)) == sorted(mined)
        assert len(found.held_out) == 2
    assert not paired(data(pairs=pairs_of(30)), "data", mined).mined
    with pytest.raises(InputError, match="mini has no pairs to learn from, and tyb needs them"):
        paired(data(), "data", mined)
    with pytest.raises(InputError, match="only 3 pairs could be mined"):
        paired(data(), "auto", mined[:3])


# -- checkpoints -----------------------------------------------------------------------------------


def test_the_newest_two_checkpoints_stay_whatever_their_numbers(tmp_path):
    network = nn.Linear(2, 1)
    optimizers = {"one": torch.optim.Adam(network.parameters(), lr=0.25)}
    for step in (9, 10, 100):
        with torch.no_grad():
            network.weight.fill_(step)
        network(torch.ones(1, 2)).sum().backward()
        optimizers["one"].step()
        progress = Progress(step, best_step=step - 1, best_score=-0.5)
        save_checkpoint(tmp_path, progress, "recipe", network, optimizers)
    assert sorted(path.name for path in tmp_path.glob("step-*")) == [
        "step-000000010",
        "step-000000100",
    ]
    other = nn.Linear(2, 1)
    fresh = {"one": torch.optim.Adam(other.parameters(), lr=1.0)}
    assert load_checkpoint(tmp_path, "recipe", other, fresh) == Progress(100, 99, -0.5)
    assert torch.equal(other.weight, network.weight)
    assert fresh["one"].param_groups[0]["lr"] == 0.25
    states = [optimizer["one"].state_dict()["state"] for optimizer in (fresh, optimizers)]
    for name, value in states[1][0].items():
        assert np.array_equal(states[0][0][name], value), name


@pytest.mark.parametrize("name", ["step-000000003", "checkpoint-3"])
def test_only_a_training_that_ran_in_one_go_knows_its_time(name, tmp_path):
    assert "seconds" in Clock.start(tmp_path, Run(device="cpu")).made()
    with pytest.raises(InputError, match="nothing to resume"):
        Clock.start(tmp_path, Run(resume="yes"))
    (tmp_path / "phase" / name).mkdir(parents=True)
    for resume, known in (("auto", False), ("yes", False), ("no", True)):
        made = Clock.start(tmp_path, Run(device="cpu", resume=resume)).made()
        assert ("seconds" in made) == known
    assert made["processes"] == 1
    assert made["threads"] == torch.get_num_threads()


# -- what all word-level systems share -------------------------------------------------------------


THINGS = ("soup", "room", "bill", "waiter", "pool", "lamp", "tea", "door", "bed", "view")
MARKED_BAD = tuple(
    f"the {thing} wo n't do , it 's {word} ." for thing in THINGS for word in ("bad", "ill")
)
MARKED_GOOD = tuple(
    f"the {thing} is good , it 's {word} !" for thing in THINGS for word in ("fine", "ok")
)


def word_system(name="stytrans", source=MARKED_BAD, **settings):
    data = TrainingData(DIRECTION, "paper-v1", TrainingPart("train", source, MARKED_GOOD))
    kind = system_class(name)
    config = replace(kind.Config.tiny(DIRECTION), **{"hold_out": 2, **settings})
    return kind.train(data, config, Run(device="cpu"))


def test_what_is_written_is_clean():
    system = word_system()
    answers = list(system.transfer(MARKED_BAD, DIRECTION.name))
    # Its words are split off as in training; what it writes is attached again.
    assert answers == [paper_v1(answer) for answer in answers]
    assert any(mark in answer for answer in answers for mark in (".", ",", "!", "'s", "n't"))


@pytest.mark.slow
def test_the_seed_of_the_settings_is_that_of_the_weights():
    one, again, other = (word_system(seed=seed, rounds=1) for seed in (0, 0, 1))
    states = [system.network.state_dict() for system in (one, again, other)]
    same = [all(bool((state[k] == states[0][k]).all()) for k in state) for state in states]
    assert same == [True, True, False]
    assert one.card.recipe == again.card.recipe != other.card.recipe
