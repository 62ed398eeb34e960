"""NAST's alignment against brute force, and its noise against counting."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tstbench.trainers.nast import (
    MAX_JUMP,
    Noise,
    PositionModel,
    Slots,
    align,
    cumulative,
    dropped,
    fresh,
    inserted,
    noisy,
    shares,
)
from tstbench.trainers.stytrans import blanked
from tstbench.trainers.training.networks import Shape
from tstbench.trainers.training.words import END, UNKNOWN


def allowed(places, length):
    jumps = [b - a for a, b in pairwise([0, *places, length + 1])]
    return jumps[0] > 0 and all(0 <= jump <= MAX_JUMP for jump in jumps)


def cost(places, source, target):
    total = 0.0
    for before, place, word in zip([0, *places], places, target, strict=False):
        alone = place == before
        total += (word if alone else word - source[place - 1]).square().sum().item()
    return total


def test_the_programme_finds_what_brute_force_finds():
    torch.manual_seed(0)
    lengths = torch.tensor([4, 1, 5, 3, 2] * 8)
    target_lengths = torch.tensor([3, 4, 2, 5, 1] * 8)
    source, target = torch.randn(40, 5, 3), torch.randn(40, 5, 3)
    target[:20, 1], target[20:, 2] = source[:20, 1], source[20:, 0]  # words that stay
    found = align(source, lengths, target, target_lengths)
    for row in range(40):
        length, size = int(lengths[row]), int(target_lengths[row])
        paths = [p for p in product(range(1, length + 1), repeat=size) if allowed(p, length)]
        places = found[row, :size].tolist()
        assert allowed(places, length)
        best = min(cost(path, source[row], target[row]) for path in paths)
        assert cost(places, source[row], target[row]) == pytest.approx(best, rel=1e-4)
        assert (found[row, size:] == length + 1).all()


def test_a_word_too_many_has_no_place_of_its_own():
    torch.manual_seed(0)
    a, b, c, x = torch.randn(4, 8)
    places = align(
        torch.stack([a, b, c])[None],
        torch.tensor([3]),
        torch.stack([a, x, b, c])[None],
        torch.tensor([4]),
    )
    assert places.tolist() == [[1, 1, 2, 3]]
    assert fresh(places).tolist() == [[False, False, True, False, False]]


def test_an_impossible_alignment_is_an_alignment_still():
    places = align(
        torch.randn(1, 16, 4), torch.tensor([16]), torch.randn(1, 2, 4), torch.tensor([2])
    )
    assert 1 <= places[0, 0] <= places[0, 1] <= 16


@pytest.fixture
def position_model():
    torch.manual_seed(0)
    return PositionModel(Shape(16, 2, 1), max_length=8).eval()


@pytest.fixture
def slots():
    torch.manual_seed(1)
    return Slots(torch.randn(3, 6, 16), torch.tensor([5, 3, 2]), torch.randn(16), torch.randn(16))


MASK = torch.arange(6) <= torch.tensor([5, 3, 2])[:, None]


def test_walking_is_teaching_along_the_same_path(position_model, slots):
    """With the cache, each jump is the likeliest one that teaching gives for the walked path."""
    memory = torch.randn(3, 6, 16)
    places, written = position_model.walk(slots, memory, MASK)
    scores = position_model.teach(slots, memory, MASK, places)
    start = F.pad(places, (1, 0))
    for row, length in enumerate([5, 3, 2]):
        assert 1 <= written[row] <= 8
        for step in range(places.shape[1]):
            here = int(start[row, step])
            if here > length:
                break
            wanted = scores[row, step].clone()
            if step == 0:
                wanted[0] = -torch.inf
                wanted[length + 1 :] = -torch.inf
            jump = int(wanted.argmax())
            assert int(places[row, step]) == min(here + jump, length + 1)


def test_a_walk_does_not_depend_on_the_sentences_beside_it(position_model, slots):
    memory = torch.randn(3, 6, 16)
    together, counts = position_model.walk(slots, memory, MASK)
    for row, length in enumerate([5, 3, 2]):
        width = length + 1
        alone = Slots(
            slots.vectors[row : row + 1, :width],
            torch.tensor([length]),
            slots.blank,
            slots.vectors[0, -1],
        )
        mask = torch.ones(1, width, dtype=torch.bool)
        places, count = position_model.walk(alone, memory[row : row + 1, :width], mask)
        assert count == counts[row]
        assert places[0, :count].tolist() == together[row, :count].tolist()


def test_the_loss_of_jumps_by_hand(position_model):
    scores = torch.randn(2, 4, 4)
    places, lengths, written = (
        torch.tensor([[1, 1, 3], [2, 4, 4]]),
        torch.tensor([3, 3]),
        torch.tensor([3, 1]),
    )
    log_p = scores.log_softmax(dim=2)
    first = [1, 0, 2, 1]  # 0 to 1 to 1 to 3 to beyond the end, which is 4
    second = [2, 2]  # 0 to 2 to beyond the end
    by_hand = -sum(log_p[0, i, jump] for i, jump in enumerate(first))
    by_hand -= sum(log_p[1, i, jump] for i, jump in enumerate(second))
    assert torch.allclose(position_model.loss(scores, places, lengths, written), by_hand)


def test_a_slot_is_a_word_a_blank_or_the_end(slots):
    places = torch.tensor([[2, 2, 6], [4, 4, 4], [1, 2, 3]])
    seen = slots.at(F.pad(places, (1, 0)), fresh(places))
    assert torch.equal(seen[0, 1], slots.vectors[0, 2])
    assert torch.equal(seen[0, 2], slots.blank)
    assert torch.equal(seen[0, 3], slots.vectors[1, -1])  # beyond the end
    assert torch.equal(seen[2, 3], slots.vectors[1, -1])


ROW = [*range(3, 23), END]
FOREIGN = np.cumsum(np.eye(40)[33])  # the word 33, always


def test_noise_has_its_rates_and_leaves_the_end_alone():
    counts = {"blank": 0, "drop": 0, "insert": 0}
    for seed in range(300):
        random = np.random.default_rng(seed)
        words = blanked(ROW, 0.1, random)
        assert len(words) == len(ROW)
        counts["blank"] += words.count(UNKNOWN)
        short = dropped(ROW, 0.05, random)
        assert [word for word in ROW if word in short] == short, "the order stays"
        counts["drop"] += len(ROW) - len(short)
        long = inserted(ROW, 0.05, FOREIGN, 64, random)
        assert [word for word in long if word != 33] == ROW
        counts["insert"] += len(long) - len(ROW)
        assert words[-1] == short[-1] == long[-1] == END
    assert counts["blank"] / 300 / 20 == pytest.approx(0.1, abs=0.015)
    assert counts["drop"] / 300 / 20 == pytest.approx(0.05, abs=0.01)
    assert counts["insert"] / 300 / 20 == pytest.approx(0.05 / 0.95, abs=0.01)


def test_noise_keeps_a_word_and_the_longest_sentence():
    random = np.random.default_rng(0)
    every = Noise(blank=0.5, drop=0.99, insert=0.9)
    for _ in range(50):
        assert 2 <= len(noisy(ROW, every, FOREIGN, 25, random)) <= 25
        assert noisy([5, END], Noise(drop=0.99), FOREIGN, 25, random) == [5, END]
    assert noisy(ROW, Noise(), FOREIGN, 25, random) == ROW
    assert noisy([END], every, FOREIGN, 25, random) == [END], "an empty sentence stays empty"


def test_rare_words_of_the_style_are_inserted():
    mine, other = [[3, 4, END], [3, 5, END], [3, 5, END], [6, 5, END]], [[3, 4, END]] * 46
    rows = [*mine, *[[3, END]] * 46]
    documents = shares(rows, 7) + shares(other, 7)
    odds = np.diff(cumulative(rows, 7, documents), prepend=0)
    assert odds[[0, UNKNOWN, END, 3, 4]].tolist() == [0] * 5, "frequent somewhere, or no word"
    by_hand = np.array([3 * np.log(0.3 / (3 / 50)), np.log(0.3 / (1 / 50))])
    assert odds[[5, 6]] == pytest.approx(by_hand / by_hand.sum())
