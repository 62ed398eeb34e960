"""Learning rates as functions of the step."""

from __future__ import annotations


def inverse_power(
    step: int, *, warm_up: int, first: float, highest: float, lowest: float, power: float
) -> float:
    """Linear from ``first`` to ``highest``, then ``highest * (step / warm_up) ** -power``.

    Args:
        step: counted from 1.
        warm_up: steps of the linear part.
        first: the rate at step 0.
        highest: at step ``warm_up``.
        lowest: the rate never falls below this afterwards.
        power: of the fall.

    >>> rate = dict(warm_up=10, first=0.0, highest=1.0, lowest=0.1, power=0.5)
    >>> [inverse_power(step, **rate) for step in (5, 10, 40, 4000)]
    [0.5, 1.0, 0.5, 0.1]
    """
    if step < warm_up:
        return first + (highest - first) * step / warm_up
    return max(highest * (step / max(warm_up, 1)) ** -power, lowest)
