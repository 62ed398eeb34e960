"""The noise of denoising pre-training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def infilled(
    ids: Sequence[int], random: np.random.Generator, *, ratio: float, mean_span: float, mask: int
) -> list[int]:
    """Text infilling: spans are replaced by one mask each, whatever their length.

    Lewis et al. (2020), BART, section 2.2. The lengths of spans are drawn from a Poisson
    distribution until they cover the share ``ratio`` of the tokens; a span of length 0 inserts a
    mask. No two masks are neighbours.

    Args:
        ids: tokens, without special ones.
        random: draws lengths and places.
        ratio: share of the tokens to cover, on average; at most one half.
        mean_span: mean length of a span.
        mask: the mask's id.

    >>> infilled([5, 6, 7, 8], np.random.default_rng(0), ratio=0.5, mean_span=3, mask=0)
    [0, 6, 0, 7, 0]
    """
    exact = ratio * len(ids)
    left = int(exact) + int(random.random() < exact - int(exact))
    spans: list[int] = []
    while left > 0:
        spans.append(min(int(random.poisson(mean_span)), left))
        left -= spans[-1]
    kept = len(ids) - sum(spans)
    spans = spans[: kept + 1]  # one in each gap between kept tokens
    gaps = dict(zip(sorted(random.choice(kept + 1, len(spans), replace=False)), spans, strict=True))
    noisy: list[int] = []
    place = 0
    for gap in range(kept + 1):
        if gap in gaps:
            noisy.append(mask)
            place += gaps[gap]
        if gap < kept:
            noisy.append(ids[place])
            place += 1
    return noisy
