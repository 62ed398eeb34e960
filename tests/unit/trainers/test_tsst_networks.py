"""TSST: its networks against plain computations."""

import pytest
import torch
from word_systems import N_WORDS, three_sentences

from tstbench.trainers.training.words import END, PAD, UNKNOWN, lengths_of
from tstbench.trainers.tsst import bag_of, bag_of_words_loss, neutrality
from tstbench.trainers.tsst_networks import Attention, BiLstm, Discriminator, Generator, closed


@pytest.fixture
def generator():
    torch.manual_seed(0)
    return Generator(torch.rand(N_WORDS), 16, 12, dropout=0.0, attention_dropout=0.0)


@pytest.fixture
def words():
    return three_sentences()


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


def test_neither_padding_nor_neighbours_change_an_answer(generator, words, style):
    with torch.no_grad():
        _, together = generator.write(generator.reader(words), style, 12, (PAD, UNKNOWN))
        for place in range(3):
            alone = words[place][words[place] != PAD][None]
            one = slice(place, place + 1)
            _, found = generator.write(generator.reader(alone), style[one], 12, (PAD, UNKNOWN))
            assert found[0].tolist() == together[place][: found.shape[1]].tolist()
    assert not torch.isin(together[:, 0], torch.tensor([PAD, UNKNOWN])).any()


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
