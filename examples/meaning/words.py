"""Words that stand in the same places as another: plausible replacements, from raw sentences."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .phrases import STOP


class Neighbours:
    """Which words of a corpus stand in the same places, found from the words beside them.

    Vectors are the first singular vectors of the positive pointwise mutual information between
    words and their left and right neighbours (kept apart, so that parts of speech agree).

    Args:
        sentences: words, lower-cased.
        size: how many words are known: the most frequent ones.
        dimensions: of the vectors.
    """

    def __init__(
        self, sentences: Sequence[Sequence[str]], size: int = 8_000, dimensions: int = 100
    ) -> None:
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import svds

        counts = Counter(word for words in sentences for word in words)
        self.counts = counts
        self.words = [word for word, _ in counts.most_common(size)]
        size = len(self.words)
        dimensions = min(dimensions, size - 1)
        known = {word: i for i, word in enumerate(self.words)}
        self._index = known
        rows, columns = [], []
        for words in sentences:
            ids = [known.get(word, -1) for word in ["<s>", *words, "</s>"]]
            for left, right in pairwise(ids):
                if left >= 0 and right >= 0:
                    rows += [left, right]
                    columns += [right, left + size]
        ones = np.ones(len(rows))
        table = coo_matrix((ones, (rows, columns)), shape=(size, 2 * size)).tocsr().tocoo()
        total = table.data.sum()
        of_row = np.asarray(table.sum(1)).ravel()
        of_column = np.asarray(table.sum(0)).ravel() ** 0.75
        of_column *= total / of_column.sum()
        pmi = np.log(table.data * total / (of_row[table.row] * of_column[table.col]))
        table.data = np.maximum(pmi, 0)
        start = np.random.default_rng(0).standard_normal(size)
        # ARPACK restarts at random where singular values are equal.
        rng = np.random.default_rng(0)
        left, values, _ = svds(table.tocsr(), k=dimensions, v0=start, rng=rng)
        vectors = left * np.sqrt(values)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        self._vectors = (vectors / np.maximum(norms, 1e-9)).astype(np.float32)
        self._allowed = np.array([w.isalpha() and len(w) > 2 and w not in STOP for w in self.words])
        self._memory: dict[str, list[str]] = {}

    def __contains__(self, word: str) -> bool:
        return word in self._index and self.counts[word] >= 5

    def like(self, word: str, rng: random.Random, most: int = 25) -> str | None:
        """A random one of the words most like this one; ``None`` if it is rare or unknown."""
        if word not in self:
            return None
        if word not in self._memory:
            cosines = self._vectors @ self._vectors[self._index[word]]
            cosines[~self._allowed] = -1
            # Rounded, and ties in the order of frequency: the last digits differ between runs.
            best = np.argsort(-cosines.round(4), kind="stable")[: most + 1]
            stem = word[:4]
            self._memory[word] = [self.words[i] for i in best if not self.words[i].startswith(stem)]
        found = self._memory[word]
        return rng.choice(found) if found else None
