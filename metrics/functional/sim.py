"""Sentence similarity: the cosine of two sentences' embeddings.

Source: Reimers and Gurevych (2019), "Sentence-BERT", section 3: mean pooling over all tokens and
cosine similarity. With all-MiniLM-L6-v2 at its last layer, values equal those of the
sentence-transformers package for sentences of up to 256 word pieces, where it cuts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..scorers.base import Encoder
from ..statistics import Statistics, mean_statistics
from ..views import Reduce


def similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
    reduce: Reduce = "max",
) -> Statistics:
    """Mean cosine of each prediction with what it is compared with, -1 to 1.

    Args:
        predictions: N sentences; an empty one has similarity 0.
        references: 0 to n sentences for each of them; without any, the sentence is left out.
        encoder: gives the sentence vectors, of unit length.
        reduce: several references: the best, or their mean.
    """
    owners = [i for i, some in enumerate(references) for _ in some]
    against = [text for some in references for text in some]
    per_sentence = np.full(len(predictions), np.nan)
    if not against:
        return mean_statistics(per_sentence)
    vectors = encoder.sentence_vectors([*predictions, *against]).astype(np.float64)
    ours, theirs = vectors[: len(predictions)][owners], vectors[len(predictions) :]
    cosines = np.einsum("nd,nd->n", ours, theirs)
    empty = [
        not (predictions[i].strip() and text.strip())
        for i, text in zip(owners, against, strict=True)
    ]
    cosines[np.array(empty)] = 0.0
    cosines = np.clip(cosines, -1.0, 1.0)
    start = 0
    for i, some in enumerate(references):
        if some:
            own = cosines[start : start + len(some)]
            per_sentence[i] = own.max() if reduce == "max" else own.mean()
            start += len(some)
    return mean_statistics(per_sentence)
