"""Beams against every sentence there is, noise against its definition."""

import itertools

import numpy as np
import pytest
import torch

from tstbench.trainers.caae import slightly_shuffled
from tstbench.trainers.training.words import END, PAD, UNKNOWN, beam_search

N_WORDS, LENGTH = 6, 4


@pytest.fixture
def tables():
    """Logits of a word after a word, for each of five sentences; row 0 is of the beginning."""
    torch.manual_seed(3)
    return 2 * torch.randn(5, N_WORDS + 1, N_WORDS)


def step(words, state):
    (tables,) = state
    before = torch.zeros(len(tables), dtype=torch.long) if words is None else words + 1
    return tables[torch.arange(len(tables)), before], state


def likeliest(table, forbidden):
    """By trying all sentences of one to ``LENGTH`` words."""
    best = (-np.inf, ())
    log_p = table.log_softmax(dim=-1)
    words = [w for w in range(N_WORDS) if w not in (*forbidden, END)]
    for size in range(1, LENGTH + 1):
        for start in itertools.product(words, repeat=size):
            sentence = start if size == LENGTH else (*start, END)
            places = zip((-1, *sentence[:-1]), sentence, strict=True)
            score = sum(log_p[before + 1, word].item() for before, word in places)
            best = max(best, (score, sentence))
    return list(best[1])


def cut(ids):
    ids = ids.tolist()
    return ids[: ids.index(END) + 1] if END in ids else ids


def test_a_wide_beam_finds_the_likeliest_sentence(tables):
    found = beam_search(step, (tables,), length=LENGTH, beams=4**LENGTH, forbidden=(PAD, UNKNOWN))
    assert [cut(row) for row in found] == [likeliest(t, (PAD, UNKNOWN)) for t in tables]


def plain_beam(table, beams, forbidden):
    """The same search over lists: a finished sentence takes one place, and stays."""
    kept = [(0.0, [])]
    for log_p in table.log_softmax(dim=-1):
        longer = []
        for score, sentence in kept:
            if sentence[-1:] == [END]:
                longer.append((score, sentence))
                continue
            before = sentence[-1] + 1 if sentence else 0
            longer += [
                (score + log_p[before, word].item(), [*sentence, word])
                for word in range(N_WORDS)
                if word not in forbidden and (sentence or word != END)
            ]
        kept = sorted(longer, key=lambda one: -one[0])[:beams]
    return kept[0][1]


def placed_step(words, state):
    """As :func:`step`, with a table for each place: no two sentences are as likely."""
    tables, places = state
    logits, _ = step(words, (tables[torch.arange(len(tables)), places],))
    return logits, (tables, places + 1)


@pytest.mark.parametrize("beams", [1, 2, 3])
def test_a_narrow_beam_keeps_what_a_plain_search_keeps(beams):
    torch.manual_seed(0)
    tables = 2 * torch.randn(300, LENGTH, N_WORDS + 1, N_WORDS)
    state = (tables, torch.zeros(300, dtype=torch.long))
    found = beam_search(placed_step, state, length=LENGTH, beams=beams, forbidden=(PAD, UNKNOWN))
    assert [cut(row) for row in found] == [plain_beam(t, beams, (PAD, UNKNOWN)) for t in tables]


@pytest.mark.parametrize("beams", [1, 3])
def test_a_sentence_does_not_depend_on_its_neighbours(tables, beams):
    search = {"length": LENGTH, "beams": beams, "forbidden": (PAD, UNKNOWN)}
    together = beam_search(step, (tables,), **search)
    assert not (together == UNKNOWN).any()
    for table, row in zip(tables, together, strict=True):
        assert cut(beam_search(step, (table[None],), **search)[0]) == cut(row)
        assert all(word == PAD for word in row[len(cut(row)) :])


def test_noise_moves_a_word_by_three_places_at_most():
    torch.manual_seed(0)
    lengths = torch.tensor([12, 5, 0, 1])
    words = torch.arange(14).repeat(4, 1)
    seen = set()
    for _ in range(200):
        noisy = slightly_shuffled(words, lengths, 3)
        for row, length in zip(noisy.tolist(), lengths.tolist(), strict=True):
            assert sorted(row[:length]) == list(range(length))
            assert row[length:] == list(range(length, 14)), "the end stays"
            seen |= {word - place for place, word in enumerate(row[:length])}
    assert seen == set(range(-3, 4))
    assert torch.equal(slightly_shuffled(words, lengths, 0), words)
