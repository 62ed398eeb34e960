"""Exact optimal transport between bags of words, many pairs at once.

Source: Kusner, Sun, Kolkin and Weinberger (2015), "From Word Embeddings To Document Distances",
section 4: word mover's distance, the earth mover's distance between normalised word counts with
the Euclidean distance between word vectors as ground distance.

What the texts of a pair share need not be moved. Let a plan send mass t from a word w elsewhere, to
y, and mass t from x to w. Sending t from x to y and leaving t at w costs d(x, y) + d(w, w), which
is at most d(x, w) + d(w, y) by the triangle inequality, so some optimal plan leaves min(a_w, b_w)
at every word w. Only the rest is transported, and it is small where one text is a rewrite of
the other; with one or two words left on a side it has a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ...errors import InputError, MissingExtraError

_FLOATS_AT_ONCE = 1 << 21  # numbers gathered for one batch of problems of the same shape
_MOST_STEPS = 1_000_000  # of the network simplex; problems of sentences need tens
_OPTIMAL = 1  # the solver's status


class _Side(NamedTuple):
    """What one side of every pair leaves to transport, pair after pair.

    Attributes:
        words: rows of the vectors: shape (K,).
        masses: integers as float64, so that both sides of a pair balance exactly: shape (K,).
        counts: words of each of the N pairs: shape (N,).
        starts: where each pair's words begin: shape (N,).
    """

    words: np.ndarray
    masses: np.ndarray
    counts: np.ndarray
    starts: np.ndarray

    def of(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Words and masses of pairs with equally many words: shape (B, words) each."""
        rows = self.starts[pairs][:, None] + np.arange(self.counts[pairs[0]])
        return self.words[rows], self.masses[rows]


def transport_distances(
    first: Sequence[Sequence[int]], second: Sequence[Sequence[int]], vectors: np.ndarray
) -> np.ndarray:
    """Exact earth mover's distance of N pairs of bags of words.

    Args:
        first: N texts, each the rows of ``vectors`` of its words; every word counts as often as it
            occurs, and a text's total mass is 1.
        second: N texts, in the same way.
        vectors: shape (V, D): the words' vectors; the ground distance is Euclidean.

    Returns:
        Shape (N,), float64, in units of the ground distance; NaN where a text has no word.

    Raises:
        InputError: unequal numbers of texts, a word that ``vectors`` has no row for, or a number
            in them that is not finite.
        MissingExtraError: POT, which solves what has no closed form, is not installed.

    >>> line = np.array([[0.0], [1.0], [3.0]])
    >>> transport_distances([[0, 1], [1], []], [[0, 2], [1, 2], [0]], line).tolist()
    [1.0, 1.0, nan]
    """
    if len(first) != len(second):
        raise InputError(f"{len(first)} texts against {len(second)}: they must be pairs")
    points = np.asarray(vectors, dtype=np.float64)
    if points.ndim != 2:
        raise InputError(f"word vectors have shape {points.shape}: a row per word is needed")
    if not np.isfinite(points).all():
        raise InputError("a word vector has a number that is not finite")
    sizes = np.array([[len(bag) for bag in some] for some in (first, second)], dtype=np.int64)
    words = np.fromiter(chain.from_iterable(chain(first, second)), np.int64, sizes.sum())
    if len(words) and not 0 <= words.min() <= words.max() < len(points):
        raise InputError(
            f"a word has no vector: rows {words.min()} to {words.max()} of {len(points)}"
        )
    distances = np.where(sizes.all(axis=0), 0.0, np.nan)
    few, many = _uncommon(words, sizes, len(points))
    totals = np.lcm(*sizes)
    squares = np.einsum("vd,vd->v", points, points)
    for m, n in {*zip(few.counts.tolist(), many.counts.tolist(), strict=True)} - {(0, 0)}:
        here = np.flatnonzero((few.counts == m) & (many.counts == n))
        step = max(1, _FLOATS_AT_ONCE // ((m + n) * points.shape[1] + m * n))
        for start in range(0, len(here), step):
            some = here[start : start + step]
            (one, supply), (two, demand) = few.of(some), many.of(some)
            costs = _solve(supply, demand, _ground(one, two, points, squares))
            distances[some] = costs / totals[some]
    return distances


def _uncommon(words: np.ndarray, sizes: np.ndarray, n_words: int) -> tuple[_Side, _Side]:
    """What is not common to the texts of each pair; of the two sides, the one of fewer words first.

    Args:
        words: all words of the first texts, then of the second: shape (T,).
        sizes: shape (2, N): words of each text. A pair with an empty text leaves nothing.
        n_words: V, the number of different words.
    """
    pairs = sizes.shape[1]
    # In units of 1 / lcm of both lengths a word of either text has an integer mass; beside an empty
    # text it has none, because the lcm is 0.
    units = np.lcm(*sizes) // np.maximum(sizes, 1)
    balance = np.repeat((units * [[1], [-1]]).ravel(), sizes.ravel())
    pair = np.repeat(np.tile(np.arange(pairs), 2), sizes.ravel())
    keys = pair * n_words + words
    order = np.argsort(keys)
    keys, balance = keys[order], balance[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    balance = np.add.reduceat(balance, starts)
    pair, word = np.divmod(keys[starts], n_words)
    more = np.bincount(pair[balance > 0], minlength=pairs)
    less = np.bincount(pair[balance < 0], minlength=pairs)
    balance = np.where(more[pair] > less[pair], -balance, balance)
    return _side(pair, word, balance, pairs), _side(pair, word, -balance, pairs)


def _side(pair: np.ndarray, word: np.ndarray, balance: np.ndarray, pairs: int) -> _Side:
    """The words with a positive balance."""
    here = balance > 0
    counts = np.bincount(pair[here], minlength=pairs)
    return _Side(word[here], balance[here].astype(np.float64), counts, np.cumsum(counts) - counts)


def _ground(
    one: np.ndarray, two: np.ndarray, points: np.ndarray, squares: np.ndarray
) -> np.ndarray:
    """Euclidean distances of problems of one shape: (B, m) and (B, n) words to (B, m, n)."""
    inner = points[one] @ points[two].transpose(0, 2, 1)
    squared = squares[one][:, :, None] + squares[two][:, None, :] - 2 * inner
    distances: np.ndarray = np.sqrt(np.maximum(squared, 0.0))
    return distances


def _solve(supply: np.ndarray, demand: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """The least costs of B problems of one shape, m <= n words a side: shape (B,)."""
    words = ground.shape[1]
    if words == 1:
        cost: np.ndarray = np.einsum("bn,bn->b", ground[:, 0], demand)
        return cost
    if words == 2:
        return _two(supply, demand, ground)
    return _simplex(supply, demand, ground)


def _two(supply: np.ndarray, demand: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """Two words on one side: the first serves where it is nearest, compared with the second.

    A continuous knapsack: if all is served by the second word, moving mass of word j to the first
    changes the cost by its difference d_1j - d_2j, and the first has to serve exactly its own mass.
    """
    gain = ground[:, 0] - ground[:, 1]
    order = np.argsort(gain, axis=1)
    wanted = np.take_along_axis(demand, order, axis=1)
    before = np.cumsum(wanted, axis=1) - wanted
    served = np.clip(supply[:, :1] - before, 0.0, wanted)
    second = np.einsum("bn,bn->b", ground[:, 1], demand)
    saved: np.ndarray = np.einsum("bn,bn->b", np.take_along_axis(gain, order, axis=1), served)
    cost: np.ndarray = second + saved
    return cost


def _simplex(supply: np.ndarray, demand: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """By network simplex, one problem at a time: POT's C++ solver without POT's checks.

    The checks cost more than most of these problems. The masses are integers, so both sides
    balance exactly, as the solver requires.
    """
    try:
        from ot.lp.emd_wrap import emd_c
    except ModuleNotFoundError as error:
        raise MissingExtraError("POT is not installed: pip install 'tstbench[vectors]'") from error
    if not np.array_equal(supply.sum(axis=1), demand.sum(axis=1)):
        raise RuntimeError("both sides must have the same mass: the solver would not survive it")
    solved = [
        emd_c(*problem, _MOST_STEPS, 1) for problem in zip(supply, demand, ground, strict=True)
    ]
    if unsolved := {status for *_, status in solved} - {_OPTIMAL}:
        raise RuntimeError(f"the transport solver ended with status {unsolved}")
    return np.array([cost for _, cost, *_ in solved])
