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

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ...errors import InputError, MissingExtraError

_FLOATS_AT_ONCE = 1 << 21  # numbers gathered for one batch of problems of the same shape
_MOST_STEPS = 1_000_000  # of the network simplex; problems of sentences need tens


@dataclass(frozen=True)
class _Rest:
    """What one pair leaves to transport, the shorter side first: words and integer masses."""

    pair: int
    words: tuple[list[int], list[int]]
    masses: tuple[list[int], list[int]]
    total: int  # the mass of each whole text, in the same unit


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
        InputError: unequal numbers of texts, or a word that ``vectors`` has no row for.
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
    largest = max((max(bag) for some in (first, second) for bag in some if len(bag)), default=-1)
    smallest = min((min(bag) for some in (first, second) for bag in some if len(bag)), default=0)
    if largest >= len(points) or smallest < 0:
        raise InputError(f"a word has no vector: rows {smallest} to {largest} of {len(points)}")
    distances = np.zeros(len(first))
    shapes: dict[tuple[int, int], list[_Rest]] = {}
    for pair, (one, two) in enumerate(zip(first, second, strict=True)):
        if not len(one) or not len(two):
            distances[pair] = np.nan
        elif (rest := _uncommon(pair, one, two)) is not None:
            few, many = rest.masses
            shapes.setdefault((len(few), len(many)), []).append(rest)
    squares = np.einsum("vd,vd->v", points, points)
    for (few, many), rests in shapes.items():
        step = max(1, _FLOATS_AT_ONCE // ((few + many) * points.shape[1] + few * many))
        for start in range(0, len(rests), step):
            some = rests[start : start + step]
            costs = _solve(some, _ground(some, points, squares))
            distances[[rest.pair for rest in some]] = costs / [rest.total for rest in some]
    return distances


def _uncommon(pair: int, one: Sequence[int], two: Sequence[int]) -> _Rest | None:
    """What is not common to both texts; ``None`` if nothing is left."""
    common = gcd(len(one), len(two))
    weight_one, weight_two = len(two) // common, len(one) // common
    balance: dict[int, int] = {}
    for word, count in Counter(one).items():
        balance[word] = count * weight_one
    for word, count in Counter(two).items():
        balance[word] = balance.get(word, 0) - count * weight_two
    supply = {word: mass for word, mass in balance.items() if mass > 0}
    demand = {word: -mass for word, mass in balance.items() if mass < 0}
    if not supply:
        return None
    few, many = sorted((supply, demand), key=len)
    return _Rest(
        pair,
        ([*few], [*many]),
        ([*few.values()], [*many.values()]),
        len(one) * weight_one,
    )


def _ground(rests: list[_Rest], points: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Euclidean distances of problems of one shape: (B, m, n)."""
    one = np.array([rest.words[0] for rest in rests])
    two = np.array([rest.words[1] for rest in rests])
    inner = points[one] @ points[two].transpose(0, 2, 1)
    squared = squares[one][:, :, None] + squares[two][:, None, :] - 2 * inner
    return np.sqrt(np.maximum(squared, 0.0))


def _solve(rests: list[_Rest], ground: np.ndarray) -> np.ndarray:
    """The least costs of B problems of one shape, m <= n words a side: shape (B,)."""
    supply = np.array([rest.masses[0] for rest in rests], dtype=np.float64)
    demand = np.array([rest.masses[1] for rest in rests], dtype=np.float64)
    words = ground.shape[1]
    if words == 1:
        return np.einsum("bn,bn->b", ground[:, 0], demand)
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
    return second + np.einsum("bn,bn->b", np.take_along_axis(gain, order, axis=1), served)


def _simplex(supply: np.ndarray, demand: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """By network simplex, one problem at a time: POT's C++ solver without POT's checks.

    The checks cost more than most of these problems. The masses are integers, so both sides
    balance exactly, as the solver requires.
    """
    try:
        from ot.lp.emd_wrap import emd_c
    except ModuleNotFoundError as error:
        raise MissingExtraError("POT is not installed: pip install 'tstbench[vectors]'") from error
    costs = np.empty(len(ground))
    for row in range(len(ground)):
        _, costs[row], _, _, status = emd_c(supply[row], demand[row], ground[row], _MOST_STEPS, 1)
        if status != 1:
            raise RuntimeError(f"the transport solver ended with status {status}")
    return costs
