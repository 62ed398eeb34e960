"""What a metric may ask of a scorer: four small interfaces.

A scorer is loaded once, scores each distinct sentence once, and remembers. ``name`` and ``hash``
go into the signature of every number that the scorer had a part in: ``name`` says what it is to a
person, ``hash`` (SHA-256 hex over its files) proves that two labs used the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        """SHA-256 hex over the files of the model."""
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


class AcceptabilityClassifier(StyleClassifier, Protocol):
    """A classifier whose two styles are ``unacceptable`` and ``acceptable``, in that order."""


class LanguageModel(Scorer, Protocol):
    """Gives each sentence its probability, end of sentence included."""

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(sentence, </s>): shape (N,), float64. Words are what whitespace separates."""
        ...


class Encoder(Scorer, Protocol):
    """Gives each token of a sentence a vector, at one chosen layer."""

    @property
    def layer(self) -> int:
        """The hidden layer that is read, 0 being the embedding layer."""
        ...

    def token_vectors(self, sentences: Sequence[str]) -> Sequence[np.ndarray]:
        """One array per sentence: shape (T, D), float32, unit rows, special tokens first and last."""
        ...

    def sentence_vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Mean of the token vectors before normalisation, then unit length: shape (N, D), float32."""
        ...
