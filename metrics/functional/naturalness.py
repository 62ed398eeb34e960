"""Naturalness: which of two texts looks more as if a person had written it, source or output.

An adversarial classifier is trained to tell human texts from the outputs of systems; an output that it
takes for human rather than its source fools it. Every sentence is scored by a classifier that saw neither
its source nor its references nor any system's output for it.

Source: Mir et al. (2019), "Evaluating Style Transfer for Text", sections 4.2 (relative scores) and 4.3
(adversarial classifiers); Bowman et al. (2016), section 3.2. The language model's variant is the
perplexity relative to the input's that Mir et al. propose in section 6.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, quotient


def naturalness_statistics(differences: np.ndarray, failed: np.ndarray) -> Statistics:
    """The share of outputs that are more natural than their sources, in percent.

    Args:
        differences: log odds that the output of each sentence is the more natural text, shape (N,);
            0 is a tie, as for a copy, and counts half.
        failed: booleans, shape (N,): empty outputs, which are never more natural.

    The score of one sentence is the probability of those log odds, in percent.

    Raises:
        InputError: shapes that differ, or a difference that is NaN.

    >>> statistics = naturalness_statistics(np.array([2.0, 0.0, -1.0]), np.zeros(3, dtype=bool))
    >>> statistics.value, statistics.per_sentence.round(1).tolist()
    (50.0, [88.1, 50.0, 26.9])
    """
    differences = np.asarray(differences, dtype=np.float64)
    failed = np.asarray(failed)
    if differences.shape != failed.shape or differences.ndim != 1:
        raise InputError(f"{differences.shape} differences of naturalness, {failed.shape} outputs")
    if np.isnan(differences).any():
        where = int(np.isnan(differences).argmax())
        raise InputError(f"the naturalness of sentence {where} is not a number")
    wins = np.where(failed, 0.0, (np.sign(differences) + 1) / 2)
    chance = np.where(failed, 0.0, 0.5 * (1 + np.tanh(differences / 2)))
    rows = np.stack([wins, np.ones(len(wins))], axis=1)
    return Statistics(rows, partial(quotient, scale=100), 100 * chance)


def folds_of(sources: Sequence[str], folds: int, seed: int) -> np.ndarray:
    """The fold of each sentence: shape (N,), 0 to ``folds`` - 1; equal sources share one.

    Raises:
        InputError: fewer than 2 folds, or more folds than distinct sources.

    >>> folds_of(["a", "b", "a", "c"], 2, 0)[[0, 2]].tolist()
    [0, 0]
    """
    groups = {text: number for number, text in enumerate(dict.fromkeys(sources))}
    if not 2 <= folds <= len(groups):
        if len(groups) < 2:
            raise InputError(
                "all sources are the same: naturalness needs two or more to learn from"
            )
        raise InputError(
            f"{len(groups)} different sources cannot be divided into {folds} folds: from 2 to "
            f"{len(groups)} are possible"
        )
    # RandomState: NumPy promises that its stream never changes.
    order = np.random.RandomState(seed).permutation(len(groups))
    fold = np.empty(len(groups), dtype=np.int64)
    fold[order] = np.arange(len(groups)) % folds
    return fold[[groups[text] for text in sources]]


@dataclass(frozen=True)
class Texts:
    """Human and machine texts of the same N sentences, prepared.

    Attributes:
        sources: N texts.
        references: N tuples of texts; all empty if only sources are human texts.
        outputs: for each system, N texts; an empty one is left out.
        learn_sources: whether sources are examples of human text.
    """

    sources: Sequence[str]
    references: Sequence[Sequence[str]]
    outputs: Mapping[str, Sequence[str]]
    learn_sources: bool = True

    def examples(self, items: Sequence[int]) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Texts of some sentences, which are human, and their weights.

        Human and machine texts weigh the same together, and so do sources and references, whose
        styles differ: otherwise the classifier would learn the style. The weights sum to the
        number of sentences, so that a penalty means the same for any number of systems. Outputs
        that equal the sentence's own source or reference are human text, and are left out.
        """
        sources = [self.sources[i] for i in items] if self.learn_sources else []
        references = [text for i in items for text in self.references[i]]
        machine = [
            text
            for outputs in self.outputs.values()
            for i in items
            if (text := outputs[i]) and text not in (self.sources[i], *self.references[i])
        ]
        share = 0.5 if sources and references else 1
        parts = [(sources, share), (references, share), (machine, 1)]
        weights = [np.full(len(t), s * len(items) / 2 / len(t)) for t, s in parts if t]
        labels = np.repeat([1, 0], [len(sources) + len(references), len(machine)])
        return [*sources, *references, *machine], labels, np.concatenate(weights)


@dataclass(frozen=True)
class CrossFitted:
    """One linear classifier for each fold, trained on the other folds.

    Attributes:
        fold: the fold of each sentence, shape (N,).
        coefficients: shape (folds, D).
        intercepts: shape (folds,).
    """

    fold: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray

    def margins(self, features: Any) -> np.ndarray:
        """Log odds that each sentence's text is human, by the classifier of its fold.

        Args:
            features: shape (N, D), dense or sparse: row i is a text of sentence i.
        """
        scores = np.asarray(features @ self.coefficients.T) + self.intercepts
        chosen: np.ndarray = scores[np.arange(len(self.fold)), self.fold]
        return chosen


def cross_fit(
    texts: Texts,
    features: Any,
    row: Mapping[str, int],
    *,
    penalty: float,
    standardize: bool,
    folds: int,
    seed: int,
) -> CrossFitted:
    """Train the classifiers: logistic regression with an L2 penalty, solved to convergence.

    Args:
        texts: what is human and what is not.
        features: shape (T, D), one row for each distinct text, dense or sparse.
        row: the row of each text.
        penalty: scikit-learn's C for examples whose weights sum to the number of sentences.
        standardize: whether each feature is centred and scaled by what the training texts have.
        folds: how many classifiers.
        seed: of the division into folds.

    Raises:
        InputError: see :func:`folds_of`.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    fold = folds_of(texts.sources, folds, seed)
    coefficients, intercepts = np.zeros((folds, features.shape[1])), np.zeros(folds)
    with threadpool_limits(1):  # so that sums do not depend on the number of cores
        for number in range(folds):
            some, labels, weights = texts.examples(np.flatnonzero(fold != number).tolist())
            if labels.all():
                continue  # every output is human text: nothing can be told apart
            known = features[[row[text] for text in some]]
            centre, scale = np.zeros(features.shape[1]), np.ones(features.shape[1])
            if standardize:
                centre, scale = known.mean(axis=0), known.std(axis=0)
                scale[scale == 0] = 1.0
                known = (known - centre) / scale
            model = LogisticRegression(C=penalty, tol=1e-8, max_iter=5000)
            model.fit(known, labels, sample_weight=weights)
            coefficients[number] = model.coef_[0] / scale
            intercepts[number] = model.intercept_[0] - coefficients[number] @ centre
    return CrossFitted(fold, coefficients, intercepts)


def unigram_features(texts: Sequence[str]) -> Any:
    """Which words each text has: a sparse matrix of 0 and 1, shape (T, words)."""
    from scipy.sparse import csr_matrix

    from ..scorers.words import words

    column: dict[str, int] = {}
    rows, columns = [], []
    for number, text in enumerate(texts):
        for word in dict.fromkeys(words(text)):
            rows.append(number)
            columns.append(column.setdefault(word, len(column)))
    return csr_matrix(
        (np.ones(len(rows)), (rows, columns)), shape=(len(texts), max(1, len(column)))
    )


def log_probability_per_word(log10_by_style: Sequence[np.ndarray], words: np.ndarray) -> np.ndarray:
    """Of each text under the equal mixture of the styles' language models: nats, shape (N,).

    Args:
        log10_by_style: for each model, log10 of the texts' probabilities, shape (N,).
        words: the texts' words, without the end of the sentence, which counts as one more.
    """
    nats = np.log(10) * np.stack([np.asarray(one, dtype=np.float64) for one in log10_by_style])
    mixed = np.logaddexp.reduce(nats, axis=0) - np.log(len(nats))
    per_word: np.ndarray = mixed / (np.asarray(words) + 1)
    return per_word
