"""Train a style lexicon: which n-grams tell the styles of a corpus apart.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.1, and their code
(passeul/style-transfer-model-evaluation, ``code/style_lexicon.py``), whose settings are the
defaults: logistic regression on which words a labelled sentence has; its strongest weights are the
lexicon. An L1 penalty with C = 3 leaves most weights at exactly 0, and a word is kept whose weight
is more than two standard deviations from the mean of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import InputError, TooLittleError
from ..metrics.scorers.lexicon import StyleLexicon
from ..settings import setting

LIBRARIES = ("scikit-learn", "numpy")
_DIGITS = 6  # of the stored weights: beyond, solvers on different processors differ


@dataclass(frozen=True, kw_only=True)
class LexiconConfig:
    """Settings of the regression and of the threshold.

    Raises:
        InputError: a value out of its range.
    """

    longest_ngram: int = setting(1, "words of the longest n-grams")
    min_count: int = setting(1, "sentences that an n-gram must occur in")
    binary: bool = setting(True, "false: an n-gram counts as often as it is in a sentence")
    inverse_penalty: float = setting(3.0, "inverse strength of the L1 penalty, scikit-learn's C")
    deviations: float = setting(
        2.0, "standard deviations from the mean beyond which a weight is kept"
    )
    max_iterations: int = setting(1000, "of the solver, at most")
    tolerance: float = setting(1e-4, "of the solver")
    seed: int = setting(0, "of the solver")

    def __post_init__(self) -> None:
        for name in ("longest_ngram", "min_count", "max_iterations"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("inverse_penalty", "tolerance"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, got {getattr(self, name)}")
        if not self.deviations >= 0:
            raise InputError(f"deviations must be 0 or more, got {self.deviations}")

    def settings(self) -> dict[str, int | float]:
        """Everything that can change the lexicon."""
        return asdict(self)


def fit_lexicon(
    sentences: Sequence[str],
    labels: Sequence[int],
    styles: Sequence[str],
    config: LexiconConfig | None = None,
) -> StyleLexicon:
    """Train on labelled sentences.

    Args:
        sentences: N sentences, tokens separated by spaces.
        labels: N indices into ``styles``.
        styles: S >= 2 names. With more than two, each style is told from all others, and an n-gram
            is kept that marks at least one of them.
        config: the settings.

    Raises:
        InputError: unequal lengths, a style without sentences, no n-gram frequent enough, or no
            weight beyond the threshold.
    """
    config = config or LexiconConfig()
    if len(sentences) != len(labels):
        raise InputError(f"{len(sentences)} sentences but {len(labels)} labels")
    if len(styles) < 2 or (lacking := {*range(len(styles))} - {*labels}):
        names = [styles[i] for i in sorted(lacking)] if len(styles) > 1 else list(styles)
        raise InputError(
            f"sentences of at least two styles are needed; none for {', '.join(names)}"
        )
    from sklearn.feature_extraction.text import CountVectorizer  # takes a second to import

    counter = CountVectorizer(
        analyzer=partial(_ngrams, longest=config.longest_ngram),
        min_df=config.min_count,
        binary=config.binary,
    )
    try:
        counts = counter.fit_transform(sentences)
    except ValueError as error:
        raise TooLittleError(
            f"no n-gram occurs in {config.min_count} of {len(sentences)} sentences"
        ) from error
    truth = np.asarray(labels)
    # Two styles are one question; more are one each.
    asked = range(1, 2) if len(styles) == 2 else range(len(styles))
    columns = [_weights(counts, truth == style, config) for style in asked]
    weights = np.stack([-columns[0], columns[0]] if len(columns) == 1 else columns, axis=1)
    kept = np.flatnonzero(np.stack([_far(c, config.deviations) for c in columns]).any(axis=0))
    names = counter.get_feature_names_out()
    if not len(kept):
        raise InputError(f"no n-gram of {len(names)} tells {' and '.join(styles)} apart enough")
    return StyleLexicon(
        styles, {str(names[row]): np.round(weights[row], _DIGITS).tolist() for row in kept}
    )


def _ngrams(sentence: str, longest: int) -> list[str]:
    tokens = sentence.split()
    return [
        " ".join(tokens[start : start + n])
        for n in range(1, longest + 1)
        for start in range(len(tokens) - n + 1)
    ]


def _weights(counts: object, is_style: np.ndarray, config: LexiconConfig) -> np.ndarray:
    """One weight per n-gram: positive where it marks the style."""
    from sklearn.linear_model import LogisticRegression  # takes a second to import

    # How to ask for an L1 penalty changed in scikit-learn 1.8.
    new = tuple(map(int, version("scikit-learn").split(".")[:2])) >= (1, 8)
    penalty = {"l1_ratio": 1.0} if new else {"penalty": "l1"}
    with threadpool_limits(1):
        regression = LogisticRegression(
            **penalty,
            solver="liblinear",
            C=config.inverse_penalty,
            max_iter=config.max_iterations,
            tol=config.tolerance,
            random_state=config.seed,
        ).fit(counts, is_style)
    found: np.ndarray = regression.coef_[0]
    return found


def _far(weights: np.ndarray, deviations: float) -> np.ndarray:
    """Which weights are far from the mean of those that are not 0."""
    used = weights[weights != 0]
    if not len(used):
        return np.zeros(len(weights), dtype=bool)
    far: np.ndarray = (weights != 0) & (np.abs(weights - used.mean()) > deviations * used.std())
    return far
