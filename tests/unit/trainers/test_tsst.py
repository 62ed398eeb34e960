"""TSST: its losses against plain computations, and what reaches what."""

from dataclasses import replace

import pytest
import torch
from prepared import DIRECTION
from word_systems import N_WORDS, learner_of

from tstbench.datasets_scripts.catalog import parse_direction
from tstbench.trainers.system import Generation
from tstbench.trainers.training.sampler import InTurn
from tstbench.trainers.training.words import END, PAD, UNKNOWN, lengths_of
from tstbench.trainers.tsst import Tsst, TsstConfig, bag_of, bag_of_words_loss, neutrality
from tstbench.trainers.tsst_networks import Attention, BiLstm, Discriminator, Generator, closed

CONFIG = TsstConfig.tiny(parse_direction(DIRECTION))


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


def test_the_discriminator_has_a_rate_of_its_own(data):
    learner = learner_of(Tsst, data, replace(CONFIG, discriminator_rate=1e-2, epochs=5.0), few=48)
    assert learner.update(0).rates == {"language_model": pytest.approx(1e-5 + (5e-3 - 1e-5) / 5)}
    top = learner._pretraining + 2 * (CONFIG.warm_up - 1)
    assert learner.update(top).rates == {"generator": pytest.approx(CONFIG.highest_rate)}
    assert learner.update(top + 1).rates == {"discriminator": pytest.approx(1e-2)}


def test_queries_are_asked_again_after_every_few_steps_of_the_generator(data):
    """Four steps of repeating, and rounds of a generator's step and two of the discriminator."""
    config = replace(CONFIG, retriever="dense", refresh_every=2, pretrain_epochs=0.0, epochs=1.0)
    learner = learner_of(Tsst, data, replace(config, self_epochs=1.0, discriminator_steps=2), 48)
    reader, fresh = learner._generator.reader, []
    for step in range(16):
        with torch.no_grad():
            reader.weights.add_(1.0)
        learner.update(step)
        fresh.append(torch.equal(learner.network["refreshed"].weights, reader.weights))
    assert learner.steps == 16
    assert fresh == [True, False] * 2 + [True, *[False] * 5] * 2


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


# -- its networks ----------------------------------------------------------------------------------


@pytest.fixture
def generator():
    torch.manual_seed(0)
    return Generator(torch.rand(N_WORDS), 16, 12, dropout=0.0, attention_dropout=0.0)


@pytest.fixture
def style():
    torch.manual_seed(1)
    return torch.randn(3, 2, 24)


def test_reading_both_ways_is_one_sentence_at_a_time():
    torch.manual_seed(0)
    lstm, vectors, lengths = BiLstm(5, 4), torch.randn(3, 6, 5), torch.tensor([6, 2, 4])
    places, (hidden, cell) = lstm(vectors, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone, (h, c) = lstm.lstm(vectors[row : row + 1, :length])
        assert torch.allclose(places[row, :length], alone[0], atol=1e-6)
        assert not places[row, length:].any()
        assert torch.allclose(hidden[row], h.flatten(), atol=1e-6)
        assert torch.allclose(cell[row], c.flatten(), atol=1e-6)


def test_attention_is_bahdanaus():
    torch.manual_seed(0)
    attention = Attention(4, 6, dropout=0.0, mapped=True)
    values, query = torch.randn(2, 5, 6), torch.randn(2, 4)
    mask = torch.tensor([[True] * 5, [True, True, False, False, False]])
    found = attention(query, attention.memory(values, mask))
    for row, many in enumerate((5, 2)):
        mapped = [attention.value_map(values[row, place]) for place in range(many)]
        asked = attention.query(attention.query_map(query[row]))
        scores = [attention.score @ torch.tanh(asked + attention.key(v)) for v in mapped]
        weights = torch.stack(scores).softmax(dim=0)
        expected = sum(weight * value for weight, value in zip(weights, mapped, strict=True))
        assert torch.allclose(found[row], expected, atol=1e-6)


def test_teaching_is_writing_over_the_same_words(generator, words, style):
    with torch.no_grad():
        reading = generator.reader(words)
        logits, written = generator.write(reading, style, 12)
        taught = generator.teach(reading, style, written, rate=1.0)
        free = generator.teach(reading, style, words, rate=0.0)
    inside = (torch.arange(written.shape[1]) < lengths_of(written)[:, None])[..., None]
    assert torch.allclose(logits * inside, taught * inside, atol=1e-5)
    shared = min(free.shape[1], logits.shape[1])
    assert torch.allclose(free[:, :shared], logits[:, :shared], atol=1e-5), "the right word unread"
    assert torch.equal(written, closed(written))


def test_a_sentence_is_closed_at_its_first_end():
    rows = torch.tensor([[5, END, 6, END], [5, 6, 7, 8], [END, 4, 4, 4]])
    assert closed(rows).tolist() == [[5, END, 0, 0], [5, 6, 7, END], [END, 0, 0, 0]]


def test_a_query_weighs_words_by_their_softmax(generator, words):
    reading = generator.reader(words)
    query = generator.reader.query(words, reading)
    weights = generator.reader.weights[words[0, :5]].softmax(dim=0)
    assert torch.allclose(query[0], weights @ reading.places[0, :5], atol=1e-6)
    neutral = neutrality([[(4, 4, 5, END)], [(4, 6, UNKNOWN), (6,)]], 8)
    assert neutral.tolist() == pytest.approx([0, 0, 0, 0, 1 - 1 / 3, 0, 0, 0])


def test_the_language_model_sees_nothing_of_what_it_predicts(generator, words):
    forth, back = generator.language(words)
    for place in range(9):
        changed = words.clone()
        changed[1, place] = 3 + (words[1, place] - 2) % 20
        other_forth, other_back = generator.language(changed)
        # Forth, place t predicts word t; back, it predicts word t - 1, from word t on.
        assert torch.allclose(forth[1, : place + 1], other_forth[1, : place + 1], atol=1e-6)
        assert torch.allclose(back[1, place + 1 :], other_back[1, place + 1 :], atol=1e-6)
        assert not torch.allclose(back[1, place], other_back[1, place], atol=1e-5)


def test_the_decoder_begins_with_the_language_model(generator):
    generator.reader.lstm.start(generator.decoder.cell)
    vectors = torch.randn(1, 3, 16)
    places, _ = generator.reader.lstm(vectors, torch.tensor([3]))
    state = (torch.zeros(1, 12), torch.zeros(1, 12))
    for place in range(3):
        state = generator.decoder.cell(vectors[:, place], state)
        assert torch.allclose(state[0], places[:, place, :12], atol=1e-6)


def test_the_bag_is_what_was_retrieved_and_not_read():
    retrieved = torch.tensor([[[4, 5, END, PAD], [6, UNKNOWN, 7, END]], [[4, END, PAD, PAD]] * 2])
    bag = bag_of(retrieved, torch.tensor([[5, 8, END], [4, END, PAD]]), 10)
    assert [row.nonzero().flatten().tolist() for row in bag] == [[4, 6, 7], []]
    torch.manual_seed(0)
    logits, lengths = torch.randn(2, 5, 10, requires_grad=True), torch.tensor([3, 5])
    lost = bag_of_words_loss(logits, lengths, bag)
    log_p = logits.log_softmax(dim=-1)
    expected = -sum(log_p[0, t, w] for t in range(3) for w in (4, 6, 7)) / 9
    assert lost.tolist() == pytest.approx([expected.item(), 0.0], abs=1e-6)
    lost.sum().backward()
    assert not logits.grad[0, 3:].any(), "behind the end"
    assert (logits.grad[0, :3, [4, 6, 7]] < 0).all()


def test_spectral_norms_move_when_told_and_tend_to_one():
    torch.manual_seed(0)
    critic = Discriminator(6, 4, 0.0)
    vectors, lengths = torch.randn(2, 9, 6), torch.tensor([9, 3])
    critic.train()
    assert torch.equal(critic(vectors, lengths), critic(vectors, lengths))
    for _ in range(60):
        critic.iterate()
    assert torch.linalg.matrix_norm(critic.output.weight, 2).item() == pytest.approx(1, abs=1e-3)
    assert critic(vectors, lengths).shape == (2, 3)
