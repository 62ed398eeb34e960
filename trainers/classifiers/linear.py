"""Train the linear classifier with scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ...errors import TooLittleError
from ...metrics.scorers.linear import LinearModel, ngrams
from ...settings import Count, Positive, setting
from .config import ClassifierConfig
from .data import LabelledSentences

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
