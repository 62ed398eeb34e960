"""Linear style classifier: TF-IDF of words and word pairs, multinomial logistic regression.

Small, exact and fast; scoring needs numpy only, so the same files give the same distribution
whichever scikit-learn is installed. The arithmetic is that of scikit-learn's ``TfidfTransformer``
(sublinear, L2) and ``LogisticRegression``, which train it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save
from threadpoolctl import threadpool_limits

from ...errors import TooLittleError
from ...files import read_text, write_bytes, write_json
from ...settings import Count, Positive, setting
from ..text import words
from .device import HERE, Placement
from .train import ClassifierConfig, LabelledSentences


def ngrams(sentence: str, longest: int) -> list[str]:
    """All n-grams of words up to ``longest``, shortest first.

    >>> ngrams("Not good!", 2)
    ['not', 'good', '!', 'not good', 'good !']
    """
    tokens = words(sentence)
    return [
        " ".join(tokens[i : i + n])
        for n in range(1, longest + 1)
        for i in range(len(tokens) - n + 1)
    ]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Turn rows into distributions, in float64: shape (N, S)."""
    shifted = np.asarray(logits, dtype=np.float64)
    powers = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class LinearModel:
    """TF-IDF weights and one weight vector per style.

    Args:
        styles: S names.
        vocabulary: V n-grams, in column order.
        longest: length of the longest n-grams, in words.
        idf: shape (V,), float32.
        coefficients: shape (S, V), float32.
        intercepts: shape (S,), float32.
    """

    features_are = "its n-grams, each weighed by what it says about the style"

    def __init__(
        self,
        styles: tuple[str, ...],
        vocabulary: Sequence[str],
        longest: int,
        idf: np.ndarray,
        coefficients: np.ndarray,
        intercepts: np.ndarray,
    ) -> None:
        self.styles = styles
        self.longest = longest
        self._columns = {ngram: column for column, ngram in enumerate(vocabulary)}
        self._idf = idf.astype(np.float32)
        self._coefficients = np.ascontiguousarray(coefficients, dtype=np.float32)
        self._intercepts = intercepts.astype(np.float32)
        shapes = idf.shape, coefficients.shape, intercepts.shape
        n_styles, n_columns = len(styles), len(self._columns)
        if shapes != ((n_columns,), (n_styles, n_columns), (n_styles,)):
            raise ValueError(f"weights of shapes {shapes} for {n_columns} n-grams")

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64; without a known word, the prior."""
        return softmax(np.array([self._logits(sentence) for sentence in sentences]))

    def _logits(self, sentence: str) -> np.ndarray:
        known, weights = self._weights(sentence)
        if not len(known):
            return self._intercepts.astype(np.float64)
        return self._coefficients[:, known] @ weights + self._intercepts

    def features(self, sentences: Sequence[str]) -> np.ndarray:
        """What each n-gram that occurs in any of them contributes: shape (N, D), float64.

        Its TF-IDF weight times the spread of its coefficients over styles: distances between
        sentences are those of their contributions to all logits, the mean over styles taken out.
        """
        found = [self._weights(sentence) for sentence in sentences]
        columns = np.unique(np.concatenate([known for known, _ in found]))
        table = np.zeros((len(found), len(columns)))
        for row, (known, weights) in zip(table, found, strict=True):
            row[np.searchsorted(columns, known)] = weights
        coefficients = self._coefficients[:, columns].astype(np.float64)
        return table * np.sqrt(((coefficients - coefficients.mean(axis=0)) ** 2).sum(axis=0))

    def _weights(self, sentence: str) -> tuple[np.ndarray, np.ndarray]:
        """The columns of a sentence's known n-grams, and their weights, of length 1."""
        columns = self._columns
        counts = Counter(
            c for g in ngrams(sentence, self.longest) if (c := columns.get(g)) is not None
        )
        known = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        frequency = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
        weights = (1.0 + np.log(frequency)) * self._idf[known]
        return known, weights / np.linalg.norm(weights) if len(known) else weights

    def save(self, folder: Path) -> None:
        """Write ``model.json``, ``vocabulary.json`` and ``weights.safetensors``."""
        write_json(folder / "model.json", {"styles": self.styles, "longest": self.longest})
        write_json(folder / "vocabulary.json", list(self._columns))
        arrays = {
            "idf": self._idf,
            "coefficients": self._coefficients,
            "intercepts": self._intercepts,
        }
        write_bytes(folder / "weights.safetensors", save(arrays))

    @classmethod
    def load(cls, folder: Path, _placement: Placement = HERE) -> LinearModel:
        """Read back what :meth:`save` wrote."""
        settings = json.loads(read_text(folder / "model.json"))
        vocabulary = json.loads(read_text(folder / "vocabulary.json"))
        weights = load_file(folder / "weights.safetensors")
        return cls(tuple(settings["styles"]), vocabulary, settings["longest"], **weights)


LIBRARIES = ("scikit-learn", "numpy")


@dataclass(frozen=True, kw_only=True)
class LinearConfig(ClassifierConfig):
    """TF-IDF and logistic regression. The seed has no effect: the problem is convex.

    It is solved to convergence: at scikit-learn's default tolerance, probabilities on Yelp
    are up to 0.24 from the optimum, and the exact values depend on the machine.
    """

    longest_ngram: Count = setting(2, "words of the longest n-grams")
    min_count: Count = setting(2, "sentences that an n-gram must occur in")
    inverse_penalty: Positive = setting(10.0, "scikit-learn's C")
    tolerance: Positive = setting(1e-10, "of the gradient at the optimum")
    max_iterations: Count = setting(5000, "of the solver, at most")


Config = LinearConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: LinearConfig) -> LinearModel:
    """Train on labelled sentences.

    Raises:
        TooLittleError: no n-gram is frequent enough.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    counter = CountVectorizer(
        analyzer=partial(ngrams, longest=config.longest_ngram), min_df=config.min_count
    )
    try:
        counts = counter.fit_transform(data.sentences)
    except ValueError as error:  # "After pruning, no terms remain."
        raise TooLittleError(
            f"no word occurs in {config.min_count} of the {len(data)} sentences: give more, "
            "or train with a lower min_count"
        ) from error
    tfidf = TfidfTransformer(sublinear_tf=True)
    features = tfidf.fit_transform(counts)
    regression = LogisticRegression(
        C=config.inverse_penalty, tol=config.tolerance, max_iter=config.max_iterations
    )
    with threadpool_limits(1):  # so that sums do not depend on the number of cores
        regression.fit(features, data.labels)
    coefficients, intercepts = regression.coef_, regression.intercept_
    if len(styles) == 2:  # scikit-learn keeps only the logit of the second style
        coefficients = np.concatenate([-coefficients / 2, coefficients / 2])
        intercepts = np.concatenate([-intercepts / 2, intercepts / 2])
    vocabulary = list(counter.get_feature_names_out())
    return LinearModel(
        tuple(styles), vocabulary, config.longest_ngram, tfidf.idf_, coefficients, intercepts
    )
