"""chrF and chrF++: F-score of character n-grams, and for chrF++ of words and word pairs too.

Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović
(2017), "chrF++". sacreBLEU counts; only the score of summed counts is computed here, so that a
thousand resampled corpora are one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from ..statistics import Statistics
from .blocks import BLOCK, in_blocks

CHAR_ORDER = 6


def chrf_statistics(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    beta: float = 2.0,
    char_order: int = CHAR_ORDER,
    word_order: int = 0,
    lowercase: bool = False,
) -> Statistics:
    """Corpus chrF, in percent; per sentence too.

    Of several references, the one with the sentence's highest score counts, as in sacreBLEU.

    Args:
        predictions: N texts, which need no tokenisation: spaces are not counted.
        references: 0 to n texts for each of them; without any, the sentence is left out.
        beta: how many times as important recall is as precision.
        char_order: the longest n-grams of characters.
        word_order: the longest n-grams of words: 0 is chrF, 2 is chrF++.
        lowercase: whether case is ignored.
    """
    orders = char_order + word_order
    rows = np.zeros((len(predictions), 3 * orders + 1))
    scored = [i for i, some in enumerate(references) if some]
    # Of a long corpus, the counts of a block's references only, and not kept, as for BLEU.
    make: Callable[..., CHRF] = _counter if len(scored) <= BLOCK else _counter.__wrapped__
    for block in in_blocks(scored):
        kept = tuple(tuple(references[i]) for i in block)
        counter = make(kept, beta, char_order, word_order, lowercase)
        # sacreBLEU's own hook for "sentence statistics now, scores later", as for BLEU.
        counts = counter._extract_corpus_statistics([predictions[i] for i in block], None)
        rows[block, :-1] = np.array(counts, dtype=np.float64).reshape(len(block), -1)
    rows[scored, -1] = 1
    aggregate = partial(_aggregate, beta=beta)
    return Statistics(rows, aggregate, aggregate(rows))


def aggregate_chrf(sums: np.ndarray, beta: float) -> np.ndarray:
    """ChrF in percent from summed counts: shape (..., 3 x orders) to (...).

    For each order: n-grams of the predictions, of the references, and matches. Precision and recall
    are averaged over the orders that both sides have, which is sacreBLEU's rule.
    """
    sums = np.asarray(sums, dtype=np.float64)
    counts = sums.reshape(*sums.shape[:-1], -1, 3)
    made, wanted, matched = counts[..., 0], counts[..., 1], counts[..., 2]
    present = (made > 0) & (wanted > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    precision = np.where(present, matched / np.where(present, made, 1), 0).sum(axis=-1) / orders
    recall = np.where(present, matched / np.where(present, wanted, 1), 0).sum(axis=-1) / orders
    weighted = beta**2 * precision + recall
    score = 100 * (1 + beta**2) * precision * recall / np.where(weighted > 0, weighted, 1)
    return np.asarray(np.where(weighted > 0, score, 0.0))


def _aggregate(sums: np.ndarray, beta: float) -> np.ndarray:
    """ChrF of resampled corpora; NaN if no sentence in it has a reference."""
    return np.where(sums[..., -1] > 0, aggregate_chrf(sums[..., :-1], beta), np.nan)


@lru_cache(maxsize=16)
def _counter(
    references: tuple[tuple[str, ...], ...],
    beta: float,
    char_order: int,
    word_order: int,
    lowercase: bool,
) -> CHRF:
    """A sacreBLEU object that has counted these references, shared by all systems."""
    most = max(len(some) for some in references)
    streams = [[r[k] if k < len(r) else None for r in references] for k in range(most)]
    return CHRF(
        beta=beta,  # type: ignore[arg-type]  # any positive number will do
        char_order=char_order,
        word_order=word_order,
        lowercase=lowercase,
        references=streams,  # type: ignore[arg-type]  # None: that sentence has fewer
    )
