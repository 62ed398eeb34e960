"""Retrieval by content: the sentences whose TF-IDF vectors are closest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer


@dataclass(frozen=True)
class ContentIndex:
    """Contents to search in: tokenised texts, as unit TF-IDF rows."""

    vectorizer: TfidfVectorizer
    memory: csr_matrix

    @classmethod
    def of(cls, contents: Sequence[str]) -> ContentIndex:
        """Index tokenised texts."""
        # Only now: it takes a second to import, and often the predictions exist.
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
        return cls(vectorizer, vectorizer.fit_transform(contents))

    def nearest(self, contents: Sequence[str], k: int = 1) -> np.ndarray:
        """Rows (B, K) of the closest texts, the closest first, ties in their order.

        K is ``k``, or the number of texts if there are fewer.
        """
        similarity = (self.vectorizer.transform(contents) @ self.memory.T).toarray()
        return highest(similarity, k)


def highest(similarity: np.ndarray, k: int) -> np.ndarray:
    """Columns (B, K) of the highest values of each row (B, N), ties in their order.

    >>> highest(np.array([[1.0, 3.0, 3.0]]), 2).tolist()
    [[1, 2]]
    """
    if k == 1:
        return np.asarray(similarity.argmax(axis=1))[:, None]
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]
