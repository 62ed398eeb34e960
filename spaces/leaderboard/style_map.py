"""Where sentences of the two styles lie: t-SNE of TF-IDF vectors, for the eye only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.manifold import TSNE

from ...errors import InputError

MOST_OF_A_GROUP = 150
_FEWEST = 10
_DIMENSIONS = 50


@dataclass(frozen=True)
class StyleMap:
    """Positions (N, 2), and the group and text of each point."""

    points: np.ndarray
    groups: tuple[str, ...]
    texts: tuple[str, ...]


def style_map(groups: Sequence[tuple[str, Sequence[str]]]) -> StyleMap:
    """Lay out the sentences of some groups together, by TF-IDF over words and word pairs.

    Source: van der Maaten and Hinton (2008), as scikit-learn implements it; seeded.

    Args:
        groups: name and sentences; at most :data:`MOST_OF_A_GROUP`, evenly spaced, are taken.

    Raises:
        InputError: too few sentences to lay out.
    """
    names, texts = [], []
    for name, sentences in groups:
        step = max(1, -(-len(sentences) // MOST_OF_A_GROUP))
        chosen = [text for text in sentences[::step] if text.strip()]
        names += [name] * len(chosen)
        texts += chosen
    if len(set(texts)) < _FEWEST:
        raise InputError(f"a map needs {_FEWEST} different sentences, there are {len(set(texts))}")
    return StyleMap(_laid_out(tuple(texts)), tuple(names), tuple(texts))


@lru_cache(maxsize=32)
def _laid_out(texts: tuple[str, ...]) -> np.ndarray:
    return _tsne(_tfidf(texts))


def _tfidf(texts: Sequence[str]) -> np.ndarray:
    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)
    dimensions = min(_DIMENSIONS, min(vectors.shape) - 1)
    if dimensions < 2:
        raise InputError("these sentences hold too few words to lay out")
    return TruncatedSVD(dimensions, random_state=0).fit_transform(vectors)


def _tsne(vectors: np.ndarray) -> np.ndarray:
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    return TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(vectors)
