"""ARAE: its pieces against plain computations, and what each step learns."""

from dataclasses import replace

import pytest
import torch
from prepared import DIRECTION
from word_systems import N_WORDS, learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.trainers.arae import (
    Arae,
    AraeConfig,
    CodeAutoencoder,
    gradient_penalty,
    normalised_mlp,
)
from tstbench.trainers.training.words import PAD, lengths_of

CONFIG = AraeConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture
def autoencoder():
    torch.manual_seed(0)
    return CodeAutoencoder(N_WORDS, word_size=8, code_size=10)


def test_a_code_has_unit_length_and_knows_nothing_of_padding(autoencoder, words):
    codes = autoencoder.encode(words, lengths_of(words))
    assert torch.allclose(codes.norm(dim=1), torch.ones(3), atol=1e-6)
    for row, expected in zip(words, codes, strict=True):
        alone = row[row != PAD][None]
        assert torch.allclose(autoencoder.encode(alone, lengths_of(alone))[0], expected, atol=1e-6)
    torch.manual_seed(0)
    many = words[:1].repeat(4000, 1)
    noise = autoencoder.encode(many, lengths_of(many), noise=0.1) - codes[0]
    assert noise.std().item() == pytest.approx(0.1, rel=0.02)


def test_a_code_is_as_long_as_it_is_told(autoencoder, words):
    torch.manual_seed(0)
    longer = CodeAutoencoder(N_WORDS, word_size=8, code_size=10, code_length=4.0)
    codes, long = (net.encode(words, lengths_of(words)) for net in (autoencoder, longer))
    assert torch.allclose(4 * codes, long, atol=1e-5)


def test_first_weights_that_remember_let_the_first_word_reach_the_code(autoencoder, words):
    """How much the code of nine words changes with the first one."""
    torch.manual_seed(0)
    kept = CodeAutoencoder(N_WORDS, word_size=8, code_size=10, remembering=True)
    bias = kept.encoder.lstm.bias_ih_l0.view(4, 10)
    assert bias[1].min() >= 0.9
    assert bias[[0, 2, 3]].abs().max() <= 0.1
    assert kept.encoder.words.weight[PAD].abs().max() == 0
    assert 0.5 < kept.encoder.words.weight[3:].abs().max() <= 1
    other = words.clone()
    other[1, 0] = 3 if words[1, 0] != 3 else 4
    moved = [
        (net.encode(words, lengths_of(words)) - net.encode(other, lengths_of(other)))[1].norm()
        for net in (autoencoder, kept)
    ]
    assert moved[1] > 5 * moved[0]


@pytest.mark.parametrize("style", [0, 1])
@pytest.mark.parametrize("code_is_state", [False, True])
def test_a_word_after_the_other_is_teaching(autoencoder, words, style, code_is_state):
    torch.manual_seed(0)
    same = CodeAutoencoder(N_WORDS, word_size=8, code_size=10, code_is_state=code_is_state)
    code = same.encode(words, lengths_of(words))
    assert torch.allclose(
        same.teach(style, code, words)[:, 0],
        autoencoder.teach(style, code, words)[:, 0],
        atol=1e-5,
    ) == (not code_is_state)
    autoencoder = same
    code = autoencoder.encode(words, lengths_of(words))
    logits = autoencoder.teach(style, code, words)
    state, before = autoencoder.begin(code), None
    for place in range(words.shape[1]):
        found, state = autoencoder.step(style, before, state)
        assert torch.allclose(found, logits[:, place], atol=1e-6)
        before = words[:, place]
    assert not torch.allclose(logits, autoencoder.teach(1 - style, code, words), atol=1e-3)


def test_the_penalty_of_a_linear_critic_is_known():
    """Its gradient is its weights everywhere: (|w| - 1)^2, which falls towards length 1."""
    critic = torch.nn.Linear(4, 1)
    with torch.no_grad():
        critic.weight.copy_(torch.tensor([[2.0, 0.0, 0.0, 1.5]]))  # length 2.5
    penalty = gradient_penalty(critic, torch.randn(6, 4))
    assert penalty.item() == pytest.approx(1.5**2)
    penalty.backward()
    assert critic.weight.grad[0].tolist() == pytest.approx([2.4, 0.0, 0.0, 1.8], abs=1e-5)


def test_small_networks_normalise_by_the_batch_at_hand():
    net = normalised_mlp((4, 6, 6, 1), slope=0.2, first_is_normalised=False)
    kinds = [type(layer).__name__ for layer in net]
    hidden = ["Linear", "LeakyReLU", "Linear", "BatchNorm1d", "LeakyReLU", "Linear"]
    assert kinds == hidden
    assert [type(x).__name__ for x in normalised_mlp((4, 6, 1), first_is_normalised=True)][1] == (
        "BatchNorm1d"
    )
    x = torch.randn(5, 4)
    assert torch.equal(net.train()(x), net.eval()(x))
    assert not list(net.buffers()), "nothing is remembered of earlier batches"


def made(data, **settings):
    return learner_of(Arae, data, replace(CONFIG, **settings))


def test_the_released_batches_have_one_style_and_weights_of_0_leave_steps_out(data):
    learner = made(data, mixed=False)
    names = [learner.update(step).name for step in range(10)]
    assert names[2:6] == ["classifier", "classifier", "adversary", "adversary"]
    styles = []
    for step in (0, 1, 2, 3, 6, 7, 9, 19):
        update = learner.update(step)
        styles.append({int(i >= 8) for i in update.order.at(update.number)})
    assert styles == [{0}, {1}, {0}, {1}, {0}, {1}, {0}, {1}], "the last two: two rounds' encoder"
    both = made(data).update(2)
    assert {int(i >= 8) for i in both.order.at(both.number)} == {0, 1}
    plain = made(data, class_weight=0.0, critic_weight=0.0)
    assert [plain.update(step).name for step in range(4)] == ["autoencoder"] * 4
    plain = made(data, class_weight=0.0)
    assert "adversary" not in [plain.update(step).name for step in range(16)]


def test_critic_batches_differ_within_a_round(data):
    learner = made(data, critic_steps=5, batch_size=2)
    drawn = []
    for step in range(4, 9):
        update = learner.update(step)
        drawn.append(tuple(update.order.at(update.number)))
    assert len(set(drawn)) == 5
