"""BERTScore: greedy matching of token vectors.

Source: Zhang, Kishore, Wu, Weinberger and Artzi 2020, "BERTScore: Evaluating Text Generation with
BERT", the equations of R_BERT, P_BERT and F_BERT, without importance weighting and without
rescaling. Values equal those of the bert-score package 0.3.13 for the same model and layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ...errors import InputError
from ..scorers.base import Encoder, TokenVectors
from ..scorers.batching import length_sorted_batches
from ..views import Reduce

_PAIRS_AT_ONCE = 1_024  # pairs whose token vectors are in memory together
_BATCH_TOKENS = 1_024  # tokens of each side in one batched product


@dataclass(frozen=True)
class BertScores:
    """One score per sentence, NaN if it has no reference.

    Attributes:
        precision, recall, f1: shape (N,), float64, at most 1; fractions that are rarely near 0,
            since even unrelated sentences have similar vectors.
    """

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


def bertscore(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
    reduce: Reduce = "max",
) -> BertScores:
    """BERTScore of each prediction against its references.

    Each token is matched with the most similar token of the other sentence, by cosine: precision
    is the mean over the prediction's tokens, recall over the reference's, F1 their harmonic mean.
    The special tokens at the start and end of a sentence can be matched, but are not averaged
    over. A pair with an empty sentence scores 0. Identical pairs are matched once.

    Args:
        predictions: N sentences.
        references: 0 to n references for each of them, or the sources.
        encoder: gives the token vectors.
        reduce: ``max`` takes the best reference, separately for precision, recall and F1, as
            the bert-score package does; ``mean`` averages over references, as the TSTBench paper's
            code does.

    Raises:
        InputError: unequal lengths, a string instead of a list of references, unknown reduction.

    Note:
        A token whose cosines are all negative scores 0. In bert-score that happens only if the
        other sentence is not the longest of its batch, because the padding enters the maximum as
        0; so its value for such a pair depends on the batch. Here it does not.
    """
    if len(predictions) != len(references):
        raise InputError(
            f"{len(predictions)} predictions but {len(references)} lists of references: they "
            "must be aligned, with an empty list for a sentence without references"
        )
    if any(isinstance(some, str) for some in references):
        raise InputError("references must be one list each, [['one', 'two'], []], not strings")
    if reduce not in ("max", "mean"):
        raise InputError(f"unknown reduction {reduce!r} of several references: use max or mean")
    counts = np.array([len(some) for some in references], dtype=np.int64)
    scores = np.full((len(predictions), 3), np.nan)
    if counts.any():
        repeated = [p for p, n in zip(predictions, counts, strict=True) for _ in range(n)]
        pairs = list(zip(repeated, (r for some in references for r in some), strict=True))
        matched = _match(pairs, encoder)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])[counts > 0]
        if reduce == "max":
            scores[counts > 0] = np.maximum.reduceat(matched, starts)
        else:
            totals = np.add.reduceat(matched, starts)
            scores[counts > 0] = totals / counts[counts > 0, None]
    return BertScores(*scores.T)


def _match(pairs: list[tuple[str, str]], encoder: Encoder) -> np.ndarray:
    """(precision, recall, F1) of each (prediction, reference): shape (M, 3), float64."""
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    distinct = list(rows)
    scores = np.empty((len(distinct), 3))
    for start in range(0, len(distinct), _PAIRS_AT_ONCE):
        some = distinct[start : start + _PAIRS_AT_ONCE]
        sentences = {s: i for i, s in enumerate(dict.fromkeys(s for pair in some for s in pair))}
        vectors = encoder.token_vectors(list(sentences))
        indices = np.array([(sentences[p], sentences[r]) for p, r in some])
        scores[start : start + len(some)] = match(vectors, indices)
    return scores[[rows[pair] for pair in pairs]]


def match(vectors: TokenVectors, pairs: np.ndarray) -> np.ndarray:
    """Greedy matching of pairs of sentences.

    Args:
        vectors: the vectors of all sentences.
        pairs: indices of (candidate, reference), shape (M, 2).

    Returns:
        Precision, recall and F1 of each pair: shape (M, 3), float64.
    """
    tokens = torch.from_numpy(vectors.vectors)
    content = torch.from_numpy(vectors.content)
    starts = torch.from_numpy(vectors.offsets[:-1])
    lengths = np.diff(vectors.offsets)
    scores = np.zeros((len(pairs), 3))
    with torch.inference_mode():
        for batch in length_sorted_batches(lengths[pairs].max(axis=1), _BATCH_TOKENS):
            sides = []
            for side in (0, 1):
                sentences = pairs[batch, side]
                length = torch.from_numpy(lengths[sentences])[:, None]
                positions = torch.arange(int(length.max()))
                real = positions < length
                index = starts[sentences][:, None] + positions.clamp(max=length - 1)
                sides.append((tokens[index], content[index] & real))
            (candidate, candidate_content), (reference, reference_content) = sides
            # Padding repeats a sentence's last token, which cannot raise a maximum.
            cosines = torch.bmm(candidate, reference.transpose(1, 2))
            precision = _mean_over(cosines.amax(2).clamp_(min=0), candidate_content)
            recall = _mean_over(cosines.amax(1).clamp_(min=0), reference_content)
            f1 = 2 * precision * recall / (precision + recall)
            one = torch.stack([precision, recall, f1], dim=1)
            empty = ~(candidate_content.any(1) & reference_content.any(1))
            scores[batch] = one.masked_fill(empty[:, None] | one.isnan(), 0.0).numpy()
    return scores


def _mean_over(best: torch.Tensor, content: torch.Tensor) -> torch.Tensor:
    """Mean of each row over its content tokens: (B, L), (B, L) -> (B,)."""
    return (best * content).sum(1, dtype=torch.float64) / content.sum(1)
