"""TSST: its losses against plain computations, and what reaches what."""

from dataclasses import replace

import pytest
import torch
from prepared import DIRECTION
from word_systems import learner_of, moved

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.datasets_scripts.load import load_training
from tstbench.trainers.system import Generation
from tstbench.trainers.training.loop import _step
from tstbench.trainers.training.sampler import InTurn
from tstbench.trainers.training.words import PAD, lengths_of
from tstbench.trainers.tsst import Tsst, TsstConfig, ids_of

CONFIG = TsstConfig.tiny(parse_direction(DIRECTION))


@pytest.fixture(scope="module")
def data():
    return load_training(DIRECTION)


@pytest.fixture
def learner(data):
    return learner_of(Tsst, data, replace(CONFIG, pretrain_epochs=0.5, teacher_forcing=1.0), few=48)


def test_batches_are_of_one_style_and_both_come_in_turn(learner):
    order = InTurn(learner._corpus.lengths, 8, seed=3, grouping=2)
    styles = []
    for step in range(20):
        batch = order.at(step)
        style = set((batch >= learner._corpus.n_source).tolist())
        assert len(style) == 1
        assert len(batch) == 8
        styles += style
    assert all(sorted(styles[i : i + 2]) == [0, 1] for i in range(0, 20, 2))
    assert styles[::2] != [styles[0]] * 10, "not always the same first"


@pytest.mark.slow
def test_losses_fall_on_a_batch_seen_again(data):
    config = replace(CONFIG, pretrain_epochs=5.0, self_epochs=5.0, teacher_forcing=1.0)
    learner = learner_of(Tsst, data, config, few=24)
    warm = CONFIG.warm_up - 1  # the highest rate
    cases = {"language_model/back": warm, "generator/self": learner._pretraining + warm}
    for name, step in cases.items():
        curve = [_step(learner, step)[name] for _ in range(60)]
        assert curve[-1] < curve[0] / 2
    every = learner._pretraining + learner._repeating
    curve = [sum(_step(learner, every).values()) for _ in range(15)]
    assert curve[-1] < 0.9 * curve[0]


def test_each_step_moves_its_own_weights(learner):
    seen, start = {}, learner._pretraining
    for name, step in (("language", 0), ("generator", start), ("discriminator", start + 1)):
        update = learner.update(step)
        terms, names = moved(learner, step)
        rate = learner.optimizers[update.name].param_groups[0]["lr"]
        seen[name] = (names, {name.split("/")[1] for name in terms}, rate)
    names, terms, rate = seen["language"]
    assert terms == {"forth", "back"}
    assert rate == pytest.approx(1e-5 + (5e-3 - 1e-5) / 5)
    assert {"generator.reader.words.weight", "generator.output.bias"} <= names
    assert not any("decoder" in name or "attention" in name for name in names)
    names, terms, rate = seen["generator"]
    assert terms == {"self", "cycle", "style", "query", "words"}
    every = {n for n, _ in learner.network["generator"].named_parameters()}
    assert {f"generator.{n}" for n in every} == names
    names, terms, _ = seen["discriminator"]
    assert terms == {"real", "repeated", "own", "other", "rewritten"}
    assert {name.split(".")[0] for name in names} == {"discriminator"}


def gradients(learner, name):
    part = learner._batches.at(0)
    learner.network.zero_grad()
    for parameter in learner.network.parameters():
        parameter.requires_grad_(True)
    torch.manual_seed(0)
    learner._generator_loss(part)[name].backward()
    return {
        n for n, p in learner._generator.named_parameters() if p.grad is not None and p.grad.any()
    }


def test_what_each_loss_reaches(learner):
    decoder = {"decoder.cell.weight_ih", "decoder.attentions.1.key.weight", "output.weight"}
    for name in ("self", "cycle", "style", "words"):
        assert decoder | {"reader.lstm.lstm.weight_ih_l0", "start"} <= gradients(learner, name)
    asked = gradients(learner, "query")
    assert "reader.weights" in asked
    assert not decoder & asked, "no gradient through words that were chosen"


def test_the_bag_of_words_has_its_weight(data):
    config = replace(CONFIG, words_weight=0.25)
    terms = []
    for learner in (learner_of(Tsst, data, CONFIG, few=48), learner_of(Tsst, data, config, few=48)):
        learner.network.eval()
        part = learner._batches.at(0)
        terms.append({n: t.item() for n, t in learner._generator_loss(part).items()})
    assert terms[1] == pytest.approx({**terms[0], "words": 0.25 * terms[0]["words"]})


def test_the_discriminator_has_a_rate_of_its_own(data):
    learner = learner_of(Tsst, data, replace(CONFIG, discriminator_rate=1e-2, epochs=5.0), few=48)
    top = learner._pretraining + 2 * (CONFIG.warm_up - 1)
    assert learner.update(top).rates == {"generator": pytest.approx(CONFIG.highest_rate)}
    assert learner.update(top + 1).rates == {"discriminator": pytest.approx(1e-2)}


@pytest.mark.parametrize("turn", [0, 1])
def test_who_is_said_to_have_written_what(learner, turn):
    """The discriminator's five labels, and that the generator wants its rewrite's turned."""
    part, generator = learner._batches.at(turn), learner._generator
    learner.network.eval()
    words, side = learner._batch(part)
    rows, table = ids_of(words), generator.reader.words
    with torch.no_grad():
        reading = generator.reader(words)
        query = generator.reader.query(words, reading)
        own, other = (learner._retrieved(of, rows, query) for of in (side, 1 - side))
        repeated = generator.teach(reading, generator.style(own), words, 1.0)
        rewritten, ids = generator.write(reading, generator.style(other), learner._longest)
        told = {
            "real": (table(words), words, side),
            "repeated": (repeated.softmax(dim=-1) @ table.weight, words, side),
            "own": (table(own.flatten(0, 1)), own.flatten(0, 1), side),
            "other": (table(other.flatten(0, 1)), other.flatten(0, 1), 1 - side),
            "rewritten": (rewritten.softmax(dim=-1) @ table.weight, ids, 2),
        }
        terms = learner._discriminator_loss(part)
        wanted = learner._generator_loss(part)["style"].item()
        for name, (vectors, text, label) in told.items():
            log_p = learner.discriminator(vectors, lengths_of(text)).log_softmax(dim=-1)
            assert terms[name].item() == pytest.approx(-log_p[:, label].mean().item(), rel=1e-4)
            if name == "rewritten":
                assert wanted == pytest.approx(-log_p[:, 1 - side].mean().item(), rel=1e-4)


def test_word_losses_are_means_over_words(learner):
    part = learner._batches.at(0)
    learner.network.eval()
    terms = learner._generator_loss(part)
    words, side = learner._batch(part)
    total, count = 0.0, 0
    for row in words:
        alone = row[row != PAD][None]
        reading = learner._generator.reader(alone)
        query = learner._generator.reader.query(alone, reading)
        own = learner._retrieved(side, ids_of(alone), query)
        style = learner._generator.style(own)
        log_p = learner._generator.teach(reading, style, alone, 1.0)[0].log_softmax(dim=-1)
        total -= log_p[torch.arange(len(alone[0])), alone[0]].sum().item()
        count += len(alone[0])
    assert terms["self"].item() == pytest.approx(total / count, rel=1e-4)


@pytest.mark.parametrize(("leaky", "offset"), [(False, -1), (True, 1)])
def test_the_way_back_predicts_the_word_before(learner, leaky, offset):
    learner._config = replace(learner._config, leaky_language_model=leaky)
    part = learner._mixed.at(0)
    learner.network.eval()
    found = learner._language_loss(part)
    forth, back, count = 0.0, 0.0, 0
    for i in part:
        row = learner._corpus.rows[i]
        logits = learner._generator.language(torch.tensor([row]))
        log_p = [one[0].log_softmax(dim=-1) for one in logits]
        forth -= sum(log_p[0][t, word].item() for t, word in enumerate(row))
        places = [t for t in range(len(row)) if 0 <= t + offset < len(row)]
        back -= sum(log_p[1][t, row[t + offset]].item() for t in places)
        count += len(row)
    assert found["forth"].item() == pytest.approx(forth / count / 2, rel=1e-4)
    assert found["back"].item() == pytest.approx(back / (count - len(part)) / 2, rel=1e-4)


def test_the_style_is_what_was_retrieved(data):
    """The same words, rewritten either way: only the sentences that are looked at differ."""
    learner = learner_of(Tsst, data, CONFIG, few=48)
    learner.network.eval()
    with torch.no_grad():
        for weight in learner._generator.parameters():
            weight.mul_(4)
    system, sources = learner._system, [*data.train.source[:8]]
    assert system.rewritten(sources, 0) != system.rewritten(sources, 1)
    seeds = [Generation(seed=seed) for seed in range(6)]  # no word of "zzz" is known: all is drawn
    drawn = {next(system.transfer(["zzz"], DIRECTION, generation=seed)) for seed in seeds}
    assert len(drawn) > 1
