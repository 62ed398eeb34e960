"""CAAE: its pieces against plain computations, what reaches what, the gate."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from prepared import DIRECTION
from word_systems import N_WORDS, learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.caae import Caae, CaaeConfig, CaaeGeneration, GruAutoencoder, Sizes
from tstbench.trainers.training.loop import _step
from tstbench.trainers.training.words import UNKNOWN, lengths_of

CONFIG = CaaeConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture
def autoencoder():
    torch.manual_seed(0)
    return GruAutoencoder(N_WORDS, Sizes(style=6, content=10, words=8), dropout=0.5).eval()


def test_a_word_after_the_other_is_teaching(autoencoder, words):
    first = torch.randn(3, 16)
    taught = autoencoder.teach(first, words)
    assert taught.shape == (3, words.shape[1] + 1, 16)
    assert torch.equal(taught[:, 0], first)
    state, before = (first,), None
    for place in range(words.shape[1]):
        logits, state = autoencoder.step(before, state)
        assert torch.allclose(state[0], taught[:, place + 1], atol=1e-6)
        assert torch.allclose(logits, autoencoder.logits(taught)[:, place], atol=1e-5)
        before = words[:, place]


def test_the_autoencoder_warms_up_at_its_own_rate_and_every_step_is_clipped():
    config = replace(CONFIG, warm_up=1.0, warm_up_rate=0.5, learning_rate=0.25, clip=7.0)
    learner = learner_of(Caae, load_training(DIRECTION), config)
    some = [learner.update(step) for step in (0, learner.steps - 2, learner.steps - 1)]
    assert [one.clip for one in some] == [7.0] * 3
    rates = {"autoencoder": 0.5}, {"discriminators": 0.25}, {"autoencoder": 0.25}
    assert [one.rates for one in some] == [*rates]


def test_a_sharp_soft_word_is_a_word_that_was_drawn(autoencoder):
    """At a low temperature the free states are those of teaching the words that were drawn."""
    first = torch.randn(2, 16)
    torch.manual_seed(5)
    free = autoencoder.unroll(first, 7, temperature=1e-6)
    torch.manual_seed(5)
    drawn, state, before = [], (first,), None
    for place in range(7):
        logits, state = autoencoder.step(before, state)
        assert torch.allclose(state[0], free[:, place + 1], atol=1e-5)
        before = F.gumbel_softmax(logits, tau=1.0).argmax(dim=-1)
        drawn.append(before)
    assert len(torch.stack(drawn).unique()) > 3


def test_the_style_is_a_part_of_the_first_state_alone(autoencoder, words):
    styles = torch.tensor([0, 1, 1])
    content = autoencoder.encode(words, lengths_of(words) - 1, styles)
    first = autoencoder.begin(content, styles)
    assert torch.equal(first[:, 6:], content)
    assert torch.equal(first[1, :6], first[2, :6])
    assert not torch.equal(first[0, :6], first[1, :6])
    assert not torch.allclose(content, autoencoder.encode(words, lengths_of(words) - 1, 1 - styles))


def made(data, **settings):
    usual = {"warm_up": 0.0, "warm_up_rate": 5e-4, "dropout": 0.5}
    return learner_of(Caae, data, replace(CONFIG, **{**usual, **settings}))


def test_a_poor_discriminator_is_not_heard(data):
    learner = made(data, gate=1.2)
    assert not learner.gate_is_open, "nothing is known of them yet"
    for losses, is_open in (((1.1, 1.3), False), ((1.3, 1.1), False), ((1.1, 1.1), True)):
        learner.hear({f"discriminators/style_{s}": loss for s, loss in enumerate(losses)})
        assert learner.gate_is_open == is_open
        terms = _step(learner, 1)
        assert ("autoencoder/style_0" in terms) == is_open
    learner.hear({"autoencoder/reconstruction": 99.0})
    assert learner.gate_is_open, "other losses are none of its business"
    assert not made(data, rho=0.0).gate_is_open


def test_the_unknown_word_is_never_written(data):
    learner = made(data)
    with torch.no_grad():
        learner._system.network.output.bias[UNKNOWN] = 100.0
    for beams in (1, 4):
        [answer] = learner._system.rewritten(["anything"], 0, CaaeGeneration(beams=beams))
        assert "<" not in answer
