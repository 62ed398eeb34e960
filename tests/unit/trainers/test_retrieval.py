"""Retrieval: BM25 and cosine against plain computations; what must not be found is not."""

import math
import sys
from collections import Counter

import bm25s
import numpy as np
import pytest
import torch

from tstbench.errors import InputError, MissingExtraError
from tstbench.trainers.training.retrieval import Bm25, Memory, Partition, nearest_by_cosine

END, SILENT = 2, 9
ROWS = [(3, 4, 2), (4, 5, 2), (5, 5, 6, 9, 2), (7, 2), (9, 2), (4, 5, 2), (3, 4, 5, 6, 7, 2)]


@pytest.fixture(scope="module")
def partition():
    return Partition.of(ROWS, 3, "mini")


def test_copies_are_one_sentence_and_too_few_are_refused(partition):
    assert partition.rows == tuple(dict.fromkeys(ROWS))
    assert partition.places([(7, 2), (4, 5, 2), (8, 2)]) == {3, 1}
    assert Partition.of(ROWS, 6, "mini") == partition
    with pytest.raises(InputError, match=r"mini: 6 different sentences .* 7 are needed"):
        Partition.of(ROWS, 7, "mini")


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (2.0, 0.5)])
def test_bm25_is_lucenes_formula(partition, k1, b):
    """By hand, and as bm25s itself scores the words."""
    how = {} if b == 0.75 else {"saturation": k1, "normalisation": b}
    index = Bm25(partition, {END, SILENT}, **how)
    documents = [[w for w in row if w not in (END, SILENT)] for row in partition.rows]
    mean = sum(map(len, documents)) / len(documents)
    query = [4, 5, 5, SILENT, 8, END]
    expected = []
    for document in documents:
        score = 0.0
        for word in query:
            holding = sum(word in other for other in documents)
            if holding == 0:
                continue
            rarity = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            count = Counter(document)[word]
            score += rarity * count / (count + k1 * (1 - b + b * len(document) / mean))
        expected.append(score)
    assert index.scores(query) == pytest.approx(expected, rel=1e-12)
    theirs = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    theirs.index([[str(w) for w in document] for document in documents], show_progress=False)
    assert index.scores(query) == pytest.approx(theirs.get_scores(["4", "5", "5"]))


def test_the_best_come_first_and_strangers_fill_up(partition):
    index = Bm25(partition, {END, SILENT})
    scores = index.scores([5, 6])
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    assert index.nearest([5, 6], 2, (), [0]).tolist() == order[:2]
    assert index.nearest([5, 6], 2, {order[0]}, [0]).tolist() == order[1:3]
    filled = index.nearest([7], 4, {3}, [0]).tolist()
    assert filled[0] == 5, "the one sentence that shares a word"
    assert len(set(filled)) == 4
    assert 3 not in filled
    assert filled == index.nearest([7], 4, {3}, [0]).tolist(), "drawn by the seed"
    first, again = ([tuple(index.nearest([8], 3, (), [n])) for n in range(20)] for _ in range(2))
    assert len(set(first)) > 1
    assert first == again


def test_the_best_are_those_of_a_whole_sort():
    """Of many equals too: more than a sort keeps in order by accident."""
    random = np.random.default_rng(0)
    rows = [(*random.integers(3, 9, size=3).tolist(), END) for _ in range(200)]
    index = Bm25(Partition.of(rows, 1, "mini"), {END})
    for query in ([3], [3, 4], [5, 5, 6]):
        scores = index.scores(query)
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        for k in (1, 2, 3, 30):
            assert index.nearest(query, k, (), [0]).tolist() == order[:k]


def test_what_fills_up_is_drawn_by_the_seed_and_the_query(partition):
    def found(row, seed):
        memory = Memory((partition, partition), 3, {END, SILENT})
        return memory.find(0, [row], [()], [seed], torch.zeros(1, 1), None)

    asked = [((word, END), seed) for word in (20, 21) for seed in range(5)]
    draws = [tuple(found(*one)) for one in asked]
    assert draws == [tuple(found(*one)) for one in asked]
    assert len(set(draws)) > 5


def test_without_bm25s_the_extra_is_named(partition, monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingExtraError, match=r"tstbench\[train\]"):
        Bm25(partition, ())


def test_cosine_against_a_loop():
    torch.manual_seed(0)
    queries, keys = torch.randn(4, 5), torch.nn.functional.normalize(torch.randn(20, 5), dim=1)
    excluded = [{0}, set(), {3, 4}, set(range(16))]
    found = nearest_by_cosine(queries, keys, 4, excluded)
    for query, out, places in zip(queries, excluded, found, strict=True):
        cosines = {
            place: float(query @ key / query.norm())
            for place, key in enumerate(keys)
            if place not in out
        }
        assert places.tolist() == sorted(cosines, key=lambda place: -cosines[place])[:4]


@pytest.mark.parametrize("dense", [False, True])
def test_a_memory_never_finds_the_query_and_keeps_the_styles_apart(dense):
    random = np.random.default_rng(0)
    rows = [[(*random.integers(3, 8, size=3), 2) for _ in range(40)] for _ in range(2)]
    partitions = tuple(Partition.of(side, 8, "mini") for side in rows)
    memory = Memory(partitions, 3, {END})
    # A sentence's vector is its words' counts: its own is its nearest, were it not left out.
    vectors = [
        torch.tensor([[row.count(word) for word in range(8)] for row in part.rows]).float()
        for part in partitions
    ]
    keys = tuple(torch.nn.functional.normalize(part, dim=1) for part in vectors)
    for side in (0, 1):
        asked = list(partitions[side].rows)
        hidden = [(partitions[side].rows[0],)] * len(asked)
        for other in (0, 1):
            found = memory.find(
                other, asked, hidden, [0] * len(asked), vectors[side], keys if dense else None
            )
            assert len(found) == 3 * len(asked)
            assert set(found) <= set(partitions[other].rows)
            for place, row in enumerate(asked):
                three = found[3 * place : 3 * place + 3]
                assert len(set(three)) == 3
                assert row not in three
                assert hidden[place][0] not in three
