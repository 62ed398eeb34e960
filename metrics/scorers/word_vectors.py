"""Vectors of words: trained here, or anybody's file; no pickle is read or written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save

from ...console import say
from ...errors import InputError
from ...files import read_text, write_bytes, write_json
from .lexicon import MASK

WORDS_FILE = "words.json"
VECTORS_FILE = "vectors.safetensors"
_FEW = 0.5  # a smaller part of known words is said
_ENOUGH = 20  # words: fewer, as of a single sentence, say nothing about the vectors


class WordVectors:
    """Static word vectors.

    Args:
        words: V distinct words.
        vectors: shape (V, D), float32.
        name: for signatures.
        digest: SHA-256 hex of the files.

    Raises:
        InputError: no vectors, a word that occurs twice, another shape, or a number that is not finite.
    """

    def __init__(
        self, words: Sequence[str], vectors: np.ndarray, name: str = "vectors", digest: str = ""
    ) -> None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(words) or not vectors.size:
            raise InputError(f"{len(words)} words, but vectors of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise InputError(f"the vector of {words[row]!r} has a number that is not finite")
        self.rows = {word: row for row, word in enumerate(words)}
        if len(self.rows) < len(words):
            raise InputError(f"{len(words) - len(self.rows)} words have two vectors")
        self.vectors = vectors
        self.name = name
        self.hash = digest
        self._doubted = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def dimensions(self) -> int:
        """D."""
        return int(self.vectors.shape[1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Euclidean lengths of the vectors, 1 for a zero vector: shape (V,), float32."""
        lengths = np.linalg.norm(self.vectors, axis=1)
        return np.where(lengths > 0, lengths, np.float32(1))

    def known(self, sentences: Sequence[str]) -> list[list[int]]:
        """The rows of the words that have a vector.

        Args:
            sentences: N sentences, tokens separated by spaces; unknown tokens are skipped.
        """
        rows = self.rows
        return [[rows[t] for t in sentence.split() if t in rows] for sentence in sentences]

    def check_knows(self, sentences: Sequence[Sequence[str]]) -> None:
        """Say once if most words of some texts have no vector, so that a number says little.

        Args:
            sentences: N sentences as tokens; masks do not count.

        Raises:
            InputError: no word at all has one, of twenty or more.
        """
        words = Counter(word for some in sentences for word in some if word != MASK)
        unknown = Counter({word: n for word, n in words.items() if word not in self.rows})
        if self._doubted or words.total() < _ENOUGH:
            return
        share = 1 - unknown.total() / words.total()
        if share >= _FEW:
            return
        such = ", ".join(repr(word) for word, _ in unknown.most_common(3))
        why = "are they of this language, and in lower case like the texts?"
        if not share:
            raise InputError(
                f"the word vectors {self.name} know no word of the texts ({such}): {why}"
            )
        say(
            f"careful: the word vectors {self.name} know {share:.0%} of the words of the texts, not "
            f"{such}; unknown words are skipped, so the numbers say little: {why}"
        )
        self._doubted = True

    def centroid(self, words: Sequence[str]) -> np.ndarray:
        """Mean of the words' unit vectors, as long as the vectors are on average: shape (D,).

        It stands for any of the words. Unknown words are skipped; of none at all, it is 0.
        """
        rows = [self.rows[word] for word in words if word in self.rows]
        if not rows:
            return np.zeros(self.dimensions, dtype=np.float32)
        mean = (self.vectors[rows] / self.lengths[rows, None]).mean(axis=0)
        norm = float(np.linalg.norm(mean))
        scaled: np.ndarray = mean * (float(self.lengths[rows].mean()) / norm if norm else 0.0)
        return scaled.astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write ``words.json`` and ``vectors.safetensors``."""
        write_json(folder / WORDS_FILE, list(self.rows))
        write_bytes(folder / VECTORS_FILE, save({"vectors": self.vectors}))

    @classmethod
    def load(cls, folder: Path, name: str, digest: str) -> WordVectors:
        """Read back what :meth:`save` wrote."""
        words = json.loads(read_text(folder / WORDS_FILE))
        tensors = load_file(folder / VECTORS_FILE)
        if {*tensors} != {"vectors"} or len(tensors["vectors"]) != len(words):
            raise InputError(f"{folder / VECTORS_FILE} has other tensors than a vector a word")
        return cls(words, tensors["vectors"], name, digest)
