"""Pseudo-pairs: for a sentence, the most similar one of the other style (Liu and Chen 2022).

No one has rewritten anything: two people said nearly the same thing in two styles. Similar by
letters (section 3.1.1 of the paper) or by meaning (3.1.2).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from ...datasets_scripts.training import Pair
from ...errors import require

Vectors = Callable[[Sequence[str]], np.ndarray]  # N sentences -> (N, D), unit rows


def lexical_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    *,
    window: int = 15,
    shared: int = 2,
    most: int | None = None,
) -> list[Pair]:
    """Each source and the target with the smallest edit distance, by characters.

    Only words of more than 3 characters are compared.

    Args:
        sources: of one style.
        targets: of the other.
        window: a target's compared text is less than this much longer or shorter, in characters.
        shared: words of more than one character that both must have; other pairs are dropped.
        most: stop at this many pairs.

    Raises:
        MissingExtraError: rapidfuzz is not installed.
    """
    fuzz = require("rapidfuzz", "train")
    distance = fuzz.distance.Levenshtein.distance
    keyed = sorted((len(key := _long_words(text)), key, text) for text in dict.fromkeys(targets))
    keyed = [one for one in keyed if one[0]]
    lengths, keys = [one[0] for one in keyed], [one[1] for one in keyed]
    found: list[Pair] = []
    for source in dict.fromkeys(sources):
        if most is not None and len(found) >= most:
            break
        key = _long_words(source)
        first = bisect_right(lengths, len(key) - window)
        last = bisect_left(lengths, len(key) + window)
        if not key or first == last:
            continue
        _, _, index = fuzz.process.extractOne(key, keys[first:last], scorer=distance)
        target = keyed[first + index][2]
        if len(_words(source) & _words(target)) >= shared:
            found.append((source, target))
    return found


def semantic_pairs(
    sources: Sequence[str],
    targets: Sequence[str],
    vectors: Vectors,
    *,
    similarity: float = 0.85,
    words: int = 5,
    chunk: int = 1024,
) -> list[Pair]:
    """Each source and the target with the closest vector, if they are close enough.

    Args:
        sources: of one style.
        targets: of the other.
        vectors: a sentence encoder.
        similarity: cosine above which a pair is kept.
        words: sentences of this many words or fewer are left out.
        chunk: sources compared at once.
    """
    long = [
        [text for text in dict.fromkeys(side) if len(text.split()) > words]
        for side in (sources, targets)
    ]
    if not all(long):
        return []
    left, right = vectors(long[0]), vectors(long[1])
    found: list[Pair] = []
    for start in range(0, len(left), chunk):
        cosines = left[start : start + chunk] @ right.T
        for row, best in enumerate(cosines.argmax(axis=1)):
            if cosines[row, best] > similarity:
                found.append((long[0][start + row], long[1][best]))
    return found


def clear_in_style(
    sentences: Sequence[str], own: Callable[[Sequence[str]], np.ndarray], least: float = 0.7
) -> list[str]:
    """The sentences whose own style a classifier gives more than ``least``.

    Args:
        sentences: N of one style.
        own: their probability of that style, (N).
        least: probability.
    """
    if not sentences:
        return []
    return [text for text, p in zip(sentences, own(sentences), strict=True) if p > least]


def _long_words(text: str) -> str:
    """What is compared.

    >>> _long_words("the food was really good")
    'food really good'
    """
    return " ".join(word for word in text.split() if len(word) > 3)


def _words(text: str) -> set[str]:
    return {word for word in text.split() if len(word) > 1}
