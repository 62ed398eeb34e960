"""What metrics require of scorers: four small interfaces.

A scorer is loaded once, scores each distinct sentence once, and remembers. ``name`` and ``hash``
go into the signature of every score that the scorer contributes to: ``name`` tells people what it
is, ``hash`` (SHA-256 hex of its files) proves that two labs used the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Scorer(Protocol):
    """A model that a metric scores with."""

    @property
    def name(self) -> str:
        """What it is, for a signature: kind and training data, such as ``linear:yelp``."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 hex of the model's files."""
        ...


class StyleClassifier(Scorer, Protocol):
    """Gives each sentence a distribution over styles."""

    @property
    def styles(self) -> tuple[str, ...]:
        """The S styles, in the order of the columns of :meth:`distribution`."""
        ...

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; an empty sentence is scored."""
        ...


class LanguageModel(Scorer, Protocol):
    """Gives each sentence its probability, including the end of the sentence."""

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(sentence, </s>): shape (N,), float64. Words are what whitespace separates."""
        ...

    def words(self, sentences: Sequence[str]) -> np.ndarray:
        """The number of words the model sees in each sentence: shape (N,), integers."""
        ...


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of N sentences, concatenated: T in total.

    Attributes:
        vectors: shape (T, D), float32, rows of unit length.
        content: shape (T,), bool: False for the special tokens at the start and end of a sentence.
        offsets: shape (N + 1,), int64: sentence i is ``vectors[offsets[i]:offsets[i + 1]]``.
    """

    vectors: np.ndarray
    content: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> np.ndarray:
        """The vectors of one sentence: shape (its tokens, D)."""
        return self.vectors[self.offsets[sentence] : self.offsets[sentence + 1]]


class Encoder(Scorer, Protocol):
    """Gives each token of a sentence a vector, at one chosen layer."""

    @property
    def layer(self) -> int:
        """The hidden layer that is read; 0 is the embedding layer."""
        ...

    def token_vectors(self, sentences: Sequence[str]) -> TokenVectors:
        """The vectors of all tokens of N sentences, special tokens first and last in each."""
        ...

    def sentence_vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Mean of the token vectors before normalisation, then unit length: shape (N, D), float32."""
        ...
