"""Sentence BLEU as Mir et al. computed it, which is no protocol of corpus BLEU.

Source: Mir, Felbo, Obradovich and Rahwan (2019), section 4.3, and the scores they released: tokens
as given, n-grams of 1 to 4 words, an order without a match counts 0.01 matches, and a prediction
that is too short to have four words scores 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, log

ORDER = 4
NO_MATCH = 0.01


def sentence_bleu(prediction: Sequence[str], reference: Sequence[str]) -> float:
    """BLEU of two tokenised sentences, from 0 to 1.

    >>> round(sentence_bleu("a b c d e".split(), "a b c d f".split()), 4)  # (4/5 3/4 2/3 1/2)^(1/4)
    0.6687
    """
    if len(prediction) < ORDER:
        return 0.0
    logs = 0.0
    for n in range(1, ORDER + 1):
        ours, theirs = _ngrams(prediction, n), _ngrams(reference, n)
        matched = sum((ours & theirs).values())
        logs += log((matched or NO_MATCH) / (len(prediction) - n + 1))
    brevity = min(0.0, 1 - len(reference) / len(prediction))
    return exp(brevity + logs / ORDER)


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))
