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


def warmed_up(step: int, warm_up: int, steps: int) -> float:
    """A factor that rises to 1 in ``warm_up`` steps, then falls in a line to 0 at the end.

    Args:
        step: counted from 0.
        warm_up: steps in which it rises; 0 for none.
        steps: all steps.

    >>> [warmed_up(step, 2, 6) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    return (steps - step) / (steps - warm_up)
