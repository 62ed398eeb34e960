"""Length-normalised log-likelihood of a rewrite, and how much of it is due to the source.

Source: the idea of Pauli, Augenstein and Assent (2025): what a small language model expects after the
source and the style asked for tells a rewrite that keeps the content from one that does not. The
definition here is our own, in :mod:`tstbench.metrics.logprop.family`.
"""

from __future__ import annotations

import numpy as np

from ..statistics import Statistics, divide, mean_statistics


def logprop_statistics(
    given: np.ndarray, alone: np.ndarray | None, failed: np.ndarray, vocabulary: int
) -> Statistics:
    """The mean over sentences of ln P(output | before) / tokens, less the same without the source.

    Args:
        given: shape (N, 2): sum of the tokens' ln P after the prompt with the source, and tokens.
        alone: the same after the prompt without the source; ``None``: nothing is subtracted.
        failed: which outputs are empty: shape (N,), bool. Their score is that of a model that knows
            nothing: -ln(vocabulary), or a difference of 0.
        vocabulary: tokens that the model chooses from.
    """
    score = divide(given[:, 0], given[:, 1])
    if alone is not None:
        score = score - divide(alone[:, 0], alone[:, 1])
    floor = 0.0 if alone is not None else -float(np.log(vocabulary))
    return mean_statistics(np.where(failed, floor, score))
