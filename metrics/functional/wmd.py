"""Word mover's distance and the measures Mir et al. compared it with, for many pairs of sentences.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.3. Here are vectors for the words of two
tokenised sentences, and what becomes of sentences of which nothing is left. Each distinct pair is
measured once. Vector extrema are of Forgues, Pineau, Larcheveque and Tremblay (2014), greedy
matching of Rus and Lintean (2012), both by way of Sharma, El Asri, Schulz and Zumer (2017), section
3.2; word mover's distance of Kusner et al. (2015) is in :mod:`.transport`.

Sentence BLEU is as in the scores they released, which is no protocol of corpus BLEU: tokens as
given, n-grams of 1 to 4 words, an order without a match counts 0.01 matches, and a prediction that
is too short to have four words scores 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from math import exp, log
from typing import Literal, get_args

import numpy as np

from ...errors import InputError, unknown_name
from ..scorers.lexicon import MASK
from ..scorers.word_vectors import WordVectors
from .meteor import Version, meteor
from .transport import transport_distances

ORDER = 4
NO_MATCH = 0.01


def sentence_bleu(prediction: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU of two tokenised sentences, from 0 to 1.

    >>> round(sentence_bleu("a b c d e".split(), "a b c d f".split()), 4)  # (4/5 3/4 2/3 1/2)^(1/4)
    0.6687
    """
    if len(prediction) < ORDER:
        return 0.0
    logs = 0.0
    for n in range(1, ORDER + 1):
        ours, theirs = _ngrams(prediction, n), _ngrams(reference, n)
        matched = sum((ours & theirs).values())
        logs += log((matched or NO_MATCH) / (len(prediction) - n + 1))
    brevity = min(0.0, 1 - len(reference) / len(prediction))
    return exp(brevity + logs / ORDER)


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


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


Measure = Literal[
    "wmd", "meteor", "embedding_average", "greedy_matching", "vector_extrema", "sentence_bleu"
]
Tokens = tuple[str, ...]
FARTHEST = 2.0  # the largest distance of two vectors of unit length
_SIMILARITIES = {
    "embedding_average": embedding_average,
    "greedy_matching": greedy_matching,
    "vector_extrema": vector_extrema,
}


def compare(
    measure: Measure,
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    vectors: WordVectors | None = None,
    style_words: Sequence[str] = (),
    *,
    synonyms: bool = False,
    version: Version = "2007",
) -> np.ndarray:
    """One measure of N pairs of tokenised sentences.

    Args:
        measure: ``wmd`` is a distance, from 0 to 2: vectors have unit length. All others
            are similarities, at most 1; embeddings are used as long as they are.
        pairs: prediction and what it is compared with, each a sequence of tokens.
        vectors: of words, for the four measures that need them; words without one are skipped.
        style_words: what a ``<customstyle>`` without a vector of its own stands for: it has their
            centroid.
        synonyms: whether METEOR matches WordNet's synonyms.
        version: whose parameters METEOR has.

    Returns:
        Shape (N,), float64. Equal sentences have distance 0 and similarity 1 (METEOR and BLEU: by
        their formulas, unless both are empty). Where a sentence has no known word and they
        differ, the distance is 2 and the similarity 0.

    Raises:
        UnknownNameError: no such measure.
        InputError: the measure needs vectors.
        MissingExtraError: POT is not installed, and the measure is ``wmd``.
    """
    if measure not in get_args(Measure):
        raise unknown_name("measure of two sentences", measure, get_args(Measure))
    places: dict[tuple[Tokens, Tokens], int] = {}
    rows = [places.setdefault((tuple(one), tuple(two)), len(places)) for one, two in pairs]
    distinct = list(places)
    if measure in ("meteor", "sentence_bleu"):
        scored = partial(meteor, synonyms=synonyms, version=version)
        overlap = scored if measure == "meteor" else sentence_bleu
        values = np.array([overlap(one, two) if one or two else 1.0 for one, two in distinct])
        return values[rows]
    if vectors is None:
        raise InputError(f"{measure} needs word vectors")
    bags, points = _known(distinct, vectors, style_words)
    first, second = [bags[one] for one, _ in distinct], [bags[two] for _, two in distinct]
    if measure == "wmd":
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        unit = points / np.where(lengths > 0, lengths, 1)
        values = transport_distances(first, second, unit)
    else:
        similarity = _SIMILARITIES[measure]
        values = np.array(
            [
                similarity(points[one], points[two]) if one and two else np.nan
                for one, two in zip(first, second, strict=True)
            ]
        )
    best, worst = (0.0, FARTHEST) if measure == "wmd" else (1.0, 0.0)
    values = np.where(np.isnan(values), worst, values)
    same = np.array([one == two for one, two in distinct])
    return np.where(same, best, values)[rows]


def _known(
    pairs: Sequence[tuple[Tokens, Tokens]], vectors: WordVectors, style_words: Sequence[str]
) -> tuple[dict[Tokens, list[int]], np.ndarray]:
    """The known words of each text, as rows of the vectors of these words alone: (W, D), float64."""
    texts = dict.fromkeys(text for pair in pairs for text in pair)
    rows: list[int] = []  # of all vectors; the place in this list is the row of those returned
    places: dict[str, int | None] = {}
    for text in texts:
        for token in text:
            if token not in places:
                row = vectors.rows.get(token)
                places[token] = None if row is None else len(rows)
                rows += [] if row is None else [row]
    points = vectors.vectors[rows].astype(np.float64)
    if MASK in places and places[MASK] is None:
        mask = vectors.centroid(style_words)
        if mask.any():
            places[MASK] = len(points)
            points = np.vstack([points, mask])
    bags = {text: [row for t in text if (row := places[t]) is not None] for text in texts}
    return bags, points
