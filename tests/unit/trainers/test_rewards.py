"""Rewards, policy gradients and pseudo-pairs, against oracles and plain loops."""

import random

import numpy as np
import pytest
import torch
from nltk.translate.bleu_score import SmoothingFunction
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu
from rapidfuzz.distance import Levenshtein

from tstbench.trainers.training.pairs import clear_in_style, lexical_pairs, semantic_pairs
from tstbench.trainers.training.rewarded_bart import (
    DiversityMemory,
    log_probabilities,
    salience,
    self_critical,
    sentence_bleu,
    sentence_policy_loss,
    style_gap,
    style_probability,
    text_bleu,
    token_policy_loss,
    up_to_end,
)

WEIGHTS = [(0.25, 0.25, 0.25, 0.25), (0.15, 0.15, 0.35, 0.35), (1.0,)]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_bleu_is_nltks_with_smoothing_1(weights):
    draw = random.Random(0)
    rows = [
        ([draw.randrange(5) for _ in range(draw.randrange(1, 12))],
         [draw.randrange(5) for _ in range(draw.randrange(1, 12))])
        for _ in range(300)
    ]  # fmt: skip
    rows += [([1], [1]), ([1, 1, 1, 1], [1]), ([2], [1]), ([1, 2, 3, 4], [1, 2, 3, 4])]

    def padded(side):
        # What follows a sentence must not count, even if it looks like the other sentence.
        width = 15
        ids = [[*row[side], *row[1 - side], *[0] * width][:width] for row in rows]
        return torch.tensor(ids), torch.tensor([len(row[side]) for row in rows])

    found = sentence_bleu(*padded(0), *padded(1), weights)
    smooth = SmoothingFunction().method1
    for (written, reference), value in zip(rows, found.tolist(), strict=True):
        expected = nltk_bleu([reference], written, weights, smoothing_function=smooth)
        assert value == pytest.approx(float(expected), abs=1e-6), (written, reference)


def test_bleu_of_texts_and_of_nothing():
    texts = ["the food was good", "", "a b c"]
    assert text_bleu(texts, texts).tolist() == pytest.approx(
        [1.0, 0.0, float(nltk_bleu([["a", "b", "c"]], ["a", "b", "c"],
         smoothing_function=SmoothingFunction().method1))], abs=1e-6
    )  # fmt: skip
    assert text_bleu(["good"], [""]).tolist() == [0.0]
    assert text_bleu([], []).tolist() == []


def test_style_rewards():
    logits = torch.tensor([[0.0, 2.0], [0.0, 2.0], [5.0, -5.0]], requires_grad=True)
    target = torch.tensor([1, 0, 0])
    p = 1 / (1 + np.exp(-2.0))
    assert style_probability(logits, target).tolist() == pytest.approx([p, 1 - p, 1], abs=1e-4)
    assert style_probability(logits, target, top=0.8).tolist() == pytest.approx([0.8, 1 - p, 0.8])
    assert style_gap(logits, target).tolist() == pytest.approx([2 * p - 1, 1 - 2 * p, 1], abs=1e-3)
    assert not style_gap(logits, target).requires_grad


def test_self_critical_advantage():
    sampled, greedy = torch.tensor([0.5, 0.1]), torch.tensor([0.2, 0.4])
    assert self_critical(sampled, greedy).tolist() == pytest.approx([0.3, -0.3])
    assert self_critical(sampled, greedy, only_better=True).tolist() == pytest.approx([0.3, 0.0])


@pytest.mark.parametrize("reward", [1.0, -1.0])
def test_a_reward_raises_the_probability_of_what_was_drawn_a_penalty_lowers_it(reward):
    for loss in (sentence_policy_loss, token_policy_loss):
        logits = torch.zeros(2, 4, 6, requires_grad=True)
        ids = torch.tensor([[3, 4, 2, 0], [5, 2, 0, 0]])
        mask = up_to_end(ids, end=2)
        weight = torch.full((2,) if loss is sentence_policy_loss else (2, 4), reward)
        before = log_probabilities(logits, ids)
        loss(before, mask, weight).backward()
        after = log_probabilities(logits - 0.1 * logits.grad, ids)
        change = (after - before)[mask]
        assert (change > 0).all() if reward > 0 else (change < 0).all()
        assert (logits.grad[~mask] == 0).all(), "no gradient behind the end"
        assert (logits.grad[mask] != 0).any(dim=-1).all()


def test_reductions_against_a_plain_loop():
    generator = torch.Generator().manual_seed(0)
    log_p = torch.randn(3, 5, generator=generator)
    mask = torch.tensor([[1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]]).bool()
    reward, weight = torch.tensor([1.0, -2.0, 0.5]), torch.rand(3, 5, generator=generator)
    expected = sum(
        -reward[b] * sum(log_p[b, t] for t in range(5) if mask[b, t]) / mask[b].sum()
        for b in range(3)
    )
    assert sentence_policy_loss(log_p, mask, reward).item() == pytest.approx(expected.item())
    total = sum(-log_p[b, t] * weight[b, t] for b in range(3) for t in range(5) if mask[b, t])
    assert token_policy_loss(log_p, mask, weight).item() == pytest.approx(total.item() / 8)


def test_salience_is_the_largest_look_of_the_last_layers():
    attentions = [torch.zeros(1, 2, 4, 4) for _ in range(3)]
    attentions[0][0, 0, 0] = torch.tensor([0.0, 0.0, 0.0, 1.0])  # too early a layer
    attentions[1][0, 1, 0] = torch.tensor([0.0, 0.9, 0.1, 0.0])
    attentions[2][0, 0, 0] = torch.tensor([0.0, 0.4, 0.3, 0.0])
    attentions[2][0, 0, 1] = 1.0  # another place looks
    assert salience(attentions).tolist() == [pytest.approx([0.2, 0.5, 0.3, 0.2])]


def test_words_drawn_too_often_are_penalised_for_a_while():
    memory = DiversityMemory(5, window=2, most=3, duration=4)
    ids = torch.tensor([[1, 1, 2]])
    everywhere = torch.ones_like(ids).bool()
    for step in range(12):
        memory.begin(step)
        memory.begin(step)  # asked again, as after a resumed training
        worn = memory.factor(torch.tensor([[1, 2]])).tolist()
        # Two steps with two 1s each make 4 > 3 at step 2; at step 3 the window has only two.
        assert worn == [[0.5 if 2 <= step < 6 else 1.0, 1.0]], step
        if step < 2:
            memory.add(ids, everywhere)
            memory.add(ids, torch.zeros_like(ids).bool())
    again = DiversityMemory(5, window=2, most=3, duration=4)
    again.load_state_dict(memory.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(memory.buffers(), again.buffers(), strict=True))


SOURCES = [
    "the food was terrible and cold",
    "i hated the rude waiter here",
    "so bad",
    "parking lots are never empty downtown",
]
TARGETS = [
    "the food was terrific and hot",
    "i loved the nice waiter here",
    "so good",
    "the staff was really wonderful to us all",
    "parking lots are always empty downtown",
]


def key(text):
    return " ".join(word for word in text.split() if len(word) > 3)


def test_lexical_pairs_against_every_comparison():
    expected = []
    for source in SOURCES:
        near = [t for t in TARGETS if key(t) and abs(len(key(t)) - len(key(source))) < 15]
        if not key(source) or not near:
            continue
        best = min(near, key=lambda t: Levenshtein.distance(key(source), key(t)))
        shared = {w for w in source.split() if len(w) > 1} & set(best.split())
        if len(shared) >= 2:
            expected.append((source, best))
    assert lexical_pairs(SOURCES, TARGETS) == expected
    assert (SOURCES[0], TARGETS[0]) in expected
    assert (SOURCES[3], TARGETS[4]) in expected
    assert lexical_pairs(SOURCES, TARGETS, most=1) == expected[:1]
    assert lexical_pairs(SOURCES, []) == []
    assert lexical_pairs(["word " * 40], TARGETS) == [], "lengths differ too much"


def test_semantic_pairs_are_the_closest_and_close_enough():
    def vectors(texts):
        wheel = {"food": 0.0, "waiter": 1.5, "parking": 3.0, "staff": 4.5}
        angles = [next(a for w, a in wheel.items() if w in t.split()) for t in texts]
        angles = [a + 0.01 * ("hot" in t) for a, t in zip(angles, texts, strict=True)]
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    found = semantic_pairs(SOURCES, TARGETS, vectors, chunk=2)
    assert found == [
        (SOURCES[0], TARGETS[0]), (SOURCES[1], TARGETS[1]), (SOURCES[3], TARGETS[4]),
    ]  # fmt: skip
    assert semantic_pairs(SOURCES, TARGETS[3:4], vectors) == []
    assert semantic_pairs(SOURCES[2:3], TARGETS, vectors) == [], "too short"


def test_only_sentences_with_a_clear_style_are_mined():
    own = {"good": 0.9, "odd": 0.7, "bad": 0.1}
    assert clear_in_style(list(own), lambda texts: np.array([own[t] for t in texts])) == ["good"]
    assert clear_in_style([], lambda texts: np.zeros(0)) == []
