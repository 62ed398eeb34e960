"""Choosing among several answers: by a reference-free Joint, or by majority.

Prompt-and-rerank (Suzgun, Melas-Kyriazi and Jurafsky 2022, section 2.2): the product of style,
content and fluency, here in the benchmark's form (ACC x content x 1/ln PPL)^(1/3). The judge is
made of the training sentences alone and is not the one that the benchmark scores with: a classifier
of another kind, an encoder's cosine in place of BLEU, a small n-gram model of both styles.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.training import TrainingData
from ...files import temporary_folder

_ORDER = 3  # of the n-gram model
_SENTENCES = 50_000  # of each style that the judge learns from


class Judge:
    """Scores rewrites without references.

    Args:
        data: the direction's training data.
        seed: of the classifier.

    Raises:
        InputError: there is too little to learn from.
    """

    def __init__(self, data: TrainingData, seed: int = 0) -> None:
        from ...metrics.scorers.encoder import load_encoder
        from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER
        from ...metrics.scorers.language_model import NgramLanguageModel, train_language_model
        from ..learning.selection import Sides, selection

        source, target = (
            tuple(text.lower() for text in side[:_SENTENCES])
            for side in (data.train.source, data.train.target)
        )
        self._classifier = selection(Sides(source, target), Sides((), ()), seed).classifier
        self._encoder = load_encoder(EMBEDDED_ENCODER)
        with temporary_folder() as folder:
            path = train_language_model([*source, *target], folder, _ORDER)
            self._fluency = NgramLanguageModel(path)

    def scores(self, source: str, candidates: Sequence[str]) -> np.ndarray:
        """The Joint of each candidate, shape (N,), in [0, 1]; of an empty one 0."""
        texts = [" ".join(text.lower().split()) for text in candidates]
        style = self._classifier.distribution(texts)[:, 1]
        vectors = self._encoder.sentence_vectors([source.lower(), *(text or "." for text in texts)])
        content = np.clip(vectors[1:] @ vectors[0], 0, 1)
        words = self._fluency.words(texts) + 1
        log_perplexity = -self._fluency.log10_probability(texts) * math.log(10) / words
        fluency = 1 / np.maximum(log_perplexity, 1)  # 1 for a perplexity of e and below
        there = np.array([bool(text) for text in texts])
        joint: np.ndarray = np.where(there, np.cbrt(style * content * fluency), 0.0)
        return joint

    def best(self, source: str, candidates: Sequence[str]) -> int:
        """The place of the best candidate; the first of equals."""
        return int(self.scores(source, candidates).argmax())


def majority(candidates: Sequence[str]) -> int:
    """The place of the most frequent candidate, ignoring case and blanks; the first of equals.

    An empty one only wins if there is nothing else.

    >>> majority(["Good .", "fine .", "good .", "", "", ""]), majority(["", ""])
    (0, 0)
    """
    keys = [match_key(text) for text in candidates]
    votes = Counter(key for key in keys if key)
    if not votes:
        return 0
    winner = max(votes, key=lambda key: votes[key])  # of equals the first that was counted
    return keys.index(winner)
