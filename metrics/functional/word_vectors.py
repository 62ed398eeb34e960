"""Similarities of two sentences from the vectors of their words.

Sources, by way of Sharma, El Asri, Schulz and Zumer (2017), section 3.2: vector extrema of Forgues,
Pineau, Larcheveque and Tremblay (2014); greedy matching of Rus and Lintean (2012). Word mover's
distance of Kusner et al. (2015) is in :mod:`.transport`.
"""

from __future__ import annotations

import numpy as np


def embedding_average(one: np.ndarray, two: np.ndarray) -> float:
    """Cosine of the means of the words' vectors: (L, D) and (M, D), from -1 to 1.

    >>> embedding_average(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 2.0]])).__round__(6)
    1.0
    """
    return _cosine(one.sum(axis=0), two.sum(axis=0))


def vector_extrema(one: np.ndarray, two: np.ndarray) -> float:
    """Cosine of the most extreme values of each dimension: (L, D) and (M, D), from -1 to 1.

    Of a dimension's largest and smallest value, the one further from 0 is taken; the larger if they
    are equally far.
    """
    return _cosine(_extrema(one), _extrema(two))


def greedy_matching(one: np.ndarray, two: np.ndarray) -> float:
    """Mean cosine of each word with its most similar word of the other sentence, both ways.

    The means of the two ways are averaged: (L, D) and (M, D), from -1 to 1.
    """
    cosines = _unit(one) @ _unit(two).T
    return float((cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2)


def _extrema(vectors: np.ndarray) -> np.ndarray:
    highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
    return np.where(highest >= -lowest, highest, lowest)


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Rows of unit length; a zero row stays one."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def _cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(_unit(one) @ _unit(two))
