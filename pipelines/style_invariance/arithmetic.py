"""How far an embedding keeps style out: similarities between styles, and what chance would give.

Source: Fitzpatrick, Park and Obst, "Measuring Content Preservation in Textual Style Transfer",
section 3.2. They compare how often a style is most similar to itself with one in the number of
styles. With the cosine of each sentence with itself among the pairs, that is not the chance level:
the style with the longest mean vector is then always most similar to itself, and the others to it
more than to one another. So labels are permuted here, and a sentence is not compared with itself
unless asked: where the mean of all is subtracted, these cosines of 1 alone make every style self-
similar.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError

PERMUTATIONS = 1000


@dataclass(frozen=True)
class StyleInvariance:
    """What was measured for S styles.

    Attributes:
        similarities: mean cosine of a sentence of style i and another of style j: shape (S, S).
        most_similar: for each style, those with the highest similarity (several if tied).
        self_similar: number of styles that are most similar to themselves alone.
        expected: the mean of that number where styles are permuted.
        p_value: share of permutations with at least that number, counting what was observed.
        gap: mean similarity within styles minus mean between styles.
        gap_p_value: as ``p_value``, of the gap.
    """

    similarities: np.ndarray
    most_similar: tuple[tuple[int, ...], ...]
    self_similar: int
    expected: float
    p_value: float
    gap: float
    gap_p_value: float


def style_invariance(
    vectors: np.ndarray,
    labels: np.ndarray,
    *,
    centred: bool = False,
    self_pairs: bool = False,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> StyleInvariance:
    """Similarities between styles, and whether styles stick together more than chance has it.

    Args:
        vectors: one a sentence: shape (N, D).
        labels: style of each sentence, 0 to S - 1: shape (N,).
        centred: subtract the mean of all unit vectors first (and scale to unit length again): what
            all sentences share then plays no part.
        self_pairs: compare sentences with themselves too, as the paper does.
        permutations: of the labels, at least one.
        seed: of the permutations.

    Raises:
        InputError: fewer than two styles, a style with fewer than two sentences, or a vector
            without a length.

    >>> vectors = np.array([[1, 0], [3, 4], [0, 1], [0, 2]])
    >>> found = style_invariance(vectors, np.array([0, 0, 1, 1]), permutations=9)
    >>> found.similarities.round(3).tolist(), found.self_similar
    ([[0.6, 0.4], [0.4, 1.0]], 2)
    """
    styles = int(labels.max()) + 1 if len(labels) else 0
    sizes = np.bincount(labels, minlength=styles)
    if styles < 2 or sizes.min() < 2:
        raise InputError("at least two styles with two sentences each are needed")
    unit = unit_vectors(vectors)
    if centred:
        unit = unit_vectors(unit - unit.mean(axis=0))
    similarities = _between(unit, labels, sizes, self_pairs)
    observed, gap = self_similar(similarities), _gap(similarities)
    counts, gaps = np.empty(permutations), np.empty(permutations)
    generator = np.random.default_rng(seed)
    for k in range(permutations):
        permuted = _between(unit, generator.permutation(labels), sizes, self_pairs)
        counts[k], gaps[k] = self_similar(permuted), _gap(permuted)
    return StyleInvariance(
        similarities=similarities,
        most_similar=most_similar(similarities),
        self_similar=observed,
        expected=float(counts.mean()),
        p_value=_share(counts >= observed),
        gap=gap,
        gap_p_value=_share(gaps >= gap),
    )


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Vectors of unit length: shape (N, D), float64.

    Raises:
        InputError: a vector has no length; the message counts them.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise InputError(f"{int((lengths == 0).sum())} sentences have a vector of zeros")
    return vectors / lengths


def most_similar(similarities: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """The styles with the highest similarity to each style: several where they are equal."""
    return tuple(tuple(map(int, np.flatnonzero(row == row.max()))) for row in similarities)


def self_similar(similarities: np.ndarray) -> int:
    """How many styles are most similar to themselves, and to no other equally."""
    return sum(best == (style,) for style, best in enumerate(most_similar(similarities)))


def _between(
    unit: np.ndarray, labels: np.ndarray, sizes: np.ndarray, self_pairs: bool
) -> np.ndarray:
    """The mean cosine of all pairs of two styles is the product of their mean unit vectors."""
    member = np.zeros((len(sizes), len(labels)))
    member[labels, np.arange(len(labels))] = 1.0
    sums = member @ unit
    totals, pairs = sums @ sums.T, np.outer(sizes, sizes).astype(np.float64)
    if not self_pairs:  # each of them is a cosine of 1
        totals[np.diag_indices_from(totals)] -= sizes
        pairs[np.diag_indices_from(pairs)] -= sizes
    return totals / pairs


def _gap(similarities: np.ndarray) -> float:
    within = np.diag(similarities).mean()
    between = similarities[~np.eye(len(similarities), dtype=bool)].mean()
    return float(within - between)


def _share(extreme: np.ndarray) -> float:
    return float((extreme.sum() + 1) / (len(extreme) + 1))
