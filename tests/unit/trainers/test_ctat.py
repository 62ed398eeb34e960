"""CTAT: its latent vector and its edits against plain computations, and a training on mini."""

import math
from dataclasses import replace

import pytest
import torch
from prepared import BACK, DIRECTION
from word_systems import BAD, GOOD, N_WORDS

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import TrainingData, TrainingPart
from tstbench.trainers import ctat
from tstbench.trainers.ctat import (
    Ctat,
    CtatConfig,
    CtatSettings,
    LatentClassifier,
    SinusoidalWords,
    edited,
    noam,
)
from tstbench.trainers.system import Generation
from tstbench.trainers.training.networks import Shape
from tstbench.trainers.training.run import Run
from tstbench.trainers.training.words import END, PAD

CONFIG = CtatConfig.tiny(parse_direction(DIRECTION))


def autoencoder(**settings):
    torch.manual_seed(0)
    return Ctat.new_network(N_WORDS, replace(CONFIG, **settings)).autoencoder.eval()


@pytest.fixture
def classifier():
    torch.manual_seed(0)
    network = LatentClassifier(32).requires_grad_(False)
    for parameter in network.parameters():  # one that has opinions, as after training
        parameter *= 2.5
    return network


@pytest.fixture
def latent():
    return 3 * torch.rand(6, 32, generator=torch.Generator().manual_seed(1))


TARGET = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])


# -- the networks ----------------------------------------------------------------------------------


def test_the_latent_vector_is_the_sum_of_the_words_gates(words):
    network = autoencoder()
    row = words[:1, :5]
    encoded = network.encoder(network.words(row), row != PAD)[0]
    by_hand = sum(1 / (1 + (-place).exp()) for place in encoded)
    assert torch.allclose(network.encode(words)[0], by_hand, atol=1e-5)


@pytest.mark.parametrize(
    "settings", [{}, {"gru": True}, {"mask_pads": False}, {"gru": True, "mask_pads": False}]
)
def test_a_sentence_has_one_latent_vector_whatever_its_batch(words, settings):
    network = autoencoder(**settings)
    together = network.encode(words)
    for row, expected in zip(words, together, strict=True):
        assert torch.allclose(network.encode(row[row != PAD][None])[0], expected, atol=1e-5)


def test_padding_counts_only_where_it_is_asked_for(words):
    masked, released = autoencoder().encode(words), autoencoder(mask_pads=False).encode(words)
    assert (masked.sum(dim=1) < released.sum(dim=1)).all()
    assert (masked[2] < 2).all(), "a sentence of two words: two gates"


def test_writing_word_by_word_is_what_teaching_predicts(words):
    network = autoencoder()
    with torch.no_grad():
        latent = network.encode(words)
        written = network.greedy(latent)
        again = network.teach(latent, written).argmax(dim=-1)
    for row, expected in zip(written, again, strict=True):
        size = row.tolist().index(END) + 1 if END in row else len(row)
        assert torch.equal(row[:size], expected[:size])
    assert written.shape[1] <= CONFIG.max_length


def test_a_word_is_predicted_from_those_before_it(words):
    network = autoencoder()
    latent = network.encode(words)
    changed = words.clone()
    changed[:, 5:] = 3
    one, other = network.teach(latent, words), network.teach(latent, changed)
    assert torch.allclose(one[:, :6], other[:, :6], atol=1e-5)
    assert not torch.allclose(one[:, 6:], other[:, 6:], atol=1e-3)


def test_a_fifth_of_what_is_below_zero_goes_on_in_the_classifier(classifier, latent):
    first, second, last = (one for one in classifier.modules() if isinstance(one, torch.nn.Linear))
    found = latent
    for layer in (first, second):
        found = layer(found)
        found = found.where(found > 0, found / 5)
    torch.testing.assert_close(classifier(latent), last(found)[:, 0])


def test_positions_are_the_published_waves():
    """Vaswani et al. 2017, section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i / D)), 2i + 1 its cos."""
    found = SinusoidalWords(9, Shape(6, 1, 1), 4).positions
    expected = [
        [wave(place / 10_000 ** (2 * i / 6)) for i in range(3) for wave in (math.sin, math.cos)]
        for place in range(4)
    ]
    torch.testing.assert_close(found, torch.tensor(expected))


# -- losses ----------------------------------------------------------------------------------------


def test_the_rate_rises_and_falls_as_published():
    rates = [noam(step, 256, 1.0, 2000) for step in (1, 1000, 2000, 8000)]
    assert rates[0] == pytest.approx(256**-0.5 * 2000**-1.5)
    assert rates[2] == pytest.approx(2 * rates[1]) == pytest.approx(2 * rates[3])
    assert max(rates) == pytest.approx(1 / (16 * math.sqrt(2000)))


# -- the edit --------------------------------------------------------------------------------------


def probability(classifier, latent):
    """Of the target style."""
    return torch.where(TARGET == 1, classifier(latent).sigmoid(), 1 - classifier(latent).sigmoid())


def test_an_edit_is_descent_on_the_classifiers_loss(classifier, latent):
    """Two modifications, the second with the decayed weight, one sentence at a time."""
    settings = CtatSettings(iterations=2, decay=0.5, tolerance=0.0)
    found = edited(latent, TARGET, classifier, (3.0,), settings)
    for row, target, expected in zip(latent, TARGET, found, strict=True):
        z = row.clone()
        for weight in (3.0, 1.5):
            z.requires_grad_()
            p = classifier(z[None]).sigmoid()[0]
            loss = -torch.log(p if target == 1 else 1 - p)
            (gradient,) = torch.autograd.grad(loss, z)
            z = (z - weight * gradient).detach()
        assert torch.allclose(z, expected, atol=1e-5)


def test_a_sentence_stops_by_itself_when_the_classifier_is_convinced(classifier, latent):
    how = CtatSettings(iterations=200, decay=1.0, tolerance=0.2)
    found = edited(latent, TARGET, classifier, (0.1,), how)
    before, reached = probability(classifier, latent), probability(classifier, found)
    assert (reached > 0.8).all()
    assert (reached < torch.maximum(before + 1e-6, torch.tensor(0.9))).all(), "no further"
    convinced = edited(found, TARGET, classifier, (5.0,), how)
    assert torch.equal(convinced, found)
    for i in range(len(latent)):
        alone = edited(latent[i : i + 1], TARGET[i : i + 1], classifier, (0.1,), how)
        assert torch.allclose(alone[0], found[i], atol=1e-5)


def test_the_smallest_sufficient_weight_is_kept(classifier, latent):
    """Algorithm 1: each weight begins at the original vector."""
    how = CtatSettings(tolerance=0.3)
    ladder = (0.01, 1.0, 30.0)
    found = edited(latent, TARGET, classifier, ladder, how)
    singles = [edited(latent, TARGET, classifier, (weight,), how) for weight in ladder]
    for i in range(len(latent)):
        enough = [k for k, one in enumerate(singles) if probability(classifier, one)[i] > 0.7]
        expected = singles[enough[0] if enough else -1][i]
        assert torch.allclose(found[i], expected, atol=1e-5)


def test_an_edit_reaches_nothing_but_the_vector(latent):
    torch.manual_seed(0)
    network = LatentClassifier(32)
    with torch.no_grad():  # as while validating
        found = edited(latent, TARGET, network, (2.0,), CtatSettings())
    assert not torch.equal(found, latent)
    assert not found.requires_grad
    assert all(p.grad is None for p in network.parameters())


# -- learning --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_weight_that_was_chosen_is_used(data):
    system = Ctat.train(data, replace(CONFIG, epochs=1), Run(device="cpu"))
    assert system.card.scores["weight"] in CONFIG.weights
    assert system.card.scores["weight"] == system.network.weight.item()
    chosen = Generation(settings={"weights": [system.card.scores["weight"]]})
    sources = data.train.source[:5]
    usual = list(system.transfer(sources, DIRECTION))
    assert list(system.transfer(sources, DIRECTION, generation=chosen)) == usual


@pytest.mark.slow
def test_a_toy_style_is_edited_both_ways(monkeypatch):
    data = TrainingData(parse_direction(DIRECTION), "paper-v1", TrainingPart("train", BAD, GOOD))
    config = replace(CONFIG, hold_out=2, epochs=200, dropout=0.0, factor=1.0, validate_every=100)
    system = Ctat.train(data, config, Run(device="cpu"))
    # By a weight of our own: on two held-out sentences the choice of one is a lottery.
    for sources, direction, words in ((BAD, DIRECTION, "good lovely"), (GOOD, BACK, "bad awful")):

        def answers(weight, sources=sources, direction=direction):
            generation = Generation(settings={"weights": [weight]})
            return list(system.transfer(sources, direction, generation=generation))

        def changed(answers, words=words):
            return sum(bool({*one.rstrip(".").split()} & {*words.split()}) for one in answers)

        assert changed(answers(4.0)) == len(sources)
        barely = answers(1e-9)
        with monkeypatch.context() as without:
            without.setattr(ctat, "edited", lambda latent, *_: latent)
            assert answers(4.0) == barely, "what the autoencoder makes of its own sentences"
        # Those held out were never learned, and may come out as others.
        assert changed(barely) <= config.hold_out
