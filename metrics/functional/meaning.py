"""Meaning kept: a learned comparison that looks past style, beside the plain sentence cosine.

The comparison (:class:`~tstbench.metrics.scorers.meaning.MeaningModel`) sees one hidden change of
content; the cosine grades how close two sentences are that differ in many words. The score is the
mean of both: neither part is weighted on human scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from ...errors import InputError
from ..views import Reduce

Combine = Literal["mean", "kept", "cosine"]


class KeepsMeaning(Protocol):
    """What the arithmetic needs of a scorer."""

    def kept(self, sources: Sequence[str], outputs: Sequence[str]) -> np.ndarray:
        """P(meaning is kept) and sentence cosine: shape (N, 2)."""
        ...


def combined(scores: np.ndarray, combine: Combine = "mean") -> np.ndarray:
    """One number per pair, a fraction.

    Args:
        scores: P(meaning is kept) and sentence cosine, shape (N, 2); a cosine below 0 counts as 0.
        combine: ``mean`` of both, or one of them.

    Raises:
        InputError: another name, or another shape.

    >>> combined(np.array([[0.5, 0.9], [0.5, -0.2]])).tolist()
    [0.7, 0.25]
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise InputError(f"scores of shape {scores.shape}: two columns are needed")
    kept, cosine = scores[:, 0], np.clip(scores[:, 1], 0.0, 1.0)
    parts = {"mean": (kept + cosine) / 2, "kept": kept, "cosine": cosine}
    if combine not in parts:
        raise InputError(f"unknown combination {combine!r}: use {', '.join(parts)}")
    return parts[combine]


def meaning_kept(
    predictions: Sequence[str],
    against: Sequence[Sequence[str]],
    scorer: KeepsMeaning,
    *,
    combine: Combine = "mean",
    reduce: Reduce = "max",
) -> np.ndarray:
    """How much of what it is compared with each prediction keeps.

    Args:
        predictions: N texts.
        against: 0 to n texts for each of them: the source, or references.
        scorer: see :class:`KeepsMeaning`.
        combine: see :func:`combined`.
        reduce: the best of several references, or their mean.

    Returns:
        Shape (N,), fractions, NaN where there is nothing to compare with.

    Raises:
        InputError: unequal lengths or an unknown reduction.
    """
    if len(predictions) != len(against):
        raise InputError(f"{len(predictions)} predictions but {len(against)} lists: not aligned")
    if reduce not in ("max", "mean"):
        raise InputError(f"unknown reduction {reduce!r} of several references: use max or mean")
    first = [text for some in against for text in some]
    second = [text for text, some in zip(predictions, against, strict=True) for _ in some]
    values = combined(scorer.kept(first, second), combine)
    found, start = np.full(len(predictions), np.nan), 0
    for i, some in enumerate(against):
        if some:
            mine = values[start : start + len(some)]
            found[i] = mine.max() if reduce == "max" else mine.mean()
            start += len(some)
    return found
