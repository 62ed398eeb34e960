"""Joint: style strength, content preservation and fluency in one number.

Joint = (ACC x BLEU x 1/ln PPL)^(1/3) with ACC and BLEU as fractions. Source: TSTBench paper,
section 3.3.1 (equal weights; multi-BLEU if there are several references, otherwise r-BLEU).

``joint_sentence`` reads single sentences instead: what people call a success has all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ..statistics import Statistics, concatenate, mean_statistics


@dataclass(frozen=True)
class JointWeights:
    """Exponents of the weighted geometric mean, before normalisation by their sum."""

    acc: float = 1.0
    bleu: float = 1.0
    ppl: float = 1.0

    def __post_init__(self) -> None:
        values = (self.acc, self.bleu, self.ppl)
        if any(not np.isfinite(w) or w < 0 for w in values) or sum(values) == 0:
            raise InputError(f"weights must be finite, not negative, and not all 0; got {values}")

    def __str__(self) -> str:
        return ",".join(f"{w:g}" for w in (self.acc, self.bleu, self.ppl))


EQUAL = JointWeights()


def joint_score(
    acc: np.ndarray | float,
    bleu: np.ndarray | float,
    ppl: np.ndarray | float,
    weights: JointWeights = EQUAL,
) -> np.ndarray:
    """The weighted geometric mean of ACC, BLEU and 1/ln PPL, a fraction 0 to 1.

    Args:
        acc: percent, 0 to 100, of any shape.
        bleu: percent, 0 to 100, of the same shape.
        ppl: perplexity.
        weights: relative weights; the paper's are equal.

    Returns:
        0 if ACC or BLEU is 0 (and its weight is not). Fluency is 1 if PPL <= e: below that
        1/ln PPL would exceed 1 and diverge, rewarding degenerate repetition of one frequent
        word over everything else. It is 0 if PPL is infinite. NaN if an input is NaN.

    >>> round(float(joint_score(50.0, 26.2, 60.0)), 4)  # (.5 * .262 / ln 60) ** (1/3)
    0.3175
    """
    fluency = 1 / np.log(np.maximum(ppl, np.e))
    parts = np.array(np.broadcast_arrays(np.asarray(acc) / 100, np.asarray(bleu) / 100, fluency))
    exponents = np.array([weights.acc, weights.bleu, weights.ppl])
    exponents = exponents / exponents.sum()
    score = np.prod([p**e for p, e in zip(parts, exponents, strict=True)], axis=0)
    return np.where(np.isnan(parts).any(axis=0), np.nan, score)  # NaN ** 0 is 1


def joint_statistics(
    acc: Statistics, bleu: Statistics, ppl: Statistics, weights: JointWeights = EQUAL
) -> Statistics:
    """Corpus Joint from the statistics of its three parts, so that its interval is exact too.

    There is no per-sentence Joint: BLEU and PPL of one sentence are on a different scale than the
    corpus values, and the cube root of their product has not been validated.
    """
    parts = (acc, bleu, ppl)
    rows, columns = concatenate(parts)

    def aggregate(sums: np.ndarray) -> np.ndarray:
        values = [part.aggregate(sums[..., c]) for part, c in zip(parts, columns, strict=True)]
        return joint_score(values[0], values[1], values[2], weights)

    return Statistics(rows, aggregate, None)


def sentence_statistics(parts: Sequence[np.ndarray], mean: str = "geometric") -> Statistics:
    """The mean over sentences of one mean of each sentence's parts.

    Args:
        parts: of N sentences, fractions: shape (N,) each. Below 0 counts as 0.
        mean: ``geometric``, ``harmonic``, ``arithmetic`` or ``minimum``. All but the arithmetic give
            0 to a sentence that lacks one part wholly, and the minimum reads no other.

    >>> parts = [np.array([0.9, 0.1]), np.array([0.4, 1.0]), np.array([0.6, 0.9])]
    >>> sentence_statistics(parts).per_sentence.round(2).tolist()
    [0.6, 0.45]
    """
    values = np.maximum(np.array(parts, dtype=np.float64), 0)
    found: np.ndarray
    if mean == "arithmetic":
        found = values.mean(axis=0)
    elif mean == "minimum":
        found = values.min(axis=0)
    else:
        with np.errstate(divide="ignore"):  # of 0, ln and 1/x are infinite, and both means are 0
            inner = np.log(values) if mean == "geometric" else 1 / values
        found = np.exp(inner.mean(axis=0)) if mean == "geometric" else 1 / inner.mean(axis=0)
    return mean_statistics(found)
