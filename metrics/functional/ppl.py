"""Perplexity under an n-gram language model of the target style.

Source: TSTBench paper, section 3.3.1; normalised as in its evaluation code: the probability of
the end of the sentence is included, but the end is not counted as a word.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, divide


def ppl_statistics(
    log10_probability: np.ndarray, words: np.ndarray, normalisation: str = "words"
) -> Statistics:
    """Corpus perplexity 10^(-sum log10 P / sum words): an average over words, not sentences.

    Args:
        log10_probability: log10 P(sentence, end), shape (N,).
        words: number of words of each sentence, shape (N,).
        normalisation: ``words`` (the paper's), or ``words+1``, as ``kenlm.Model.perplexity`` does.

    Returns:
        Per-sentence perplexities beside the corpus value; NaN for a sentence without words under
        ``words``.

    >>> ppl_statistics(np.array([-4.0, -2.0]), np.array([2, 1])).value
    100.0
    """
    if normalisation not in ("words", "words+1"):
        raise InputError(f"normalisation must be 'words' or 'words+1', not {normalisation!r}")
    counted = np.asarray(words, dtype=np.float64) + (normalisation == "words+1")
    rows = np.stack([log10_probability, counted], axis=1)  # float64, as the counts are
    return Statistics(rows, _perplexity, _perplexity(rows))


def _perplexity(sums: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):  # a very improbable sentence may overflow to inf
        return 10.0 ** -divide(sums[..., 0], sums[..., 1])
