"""Learning rates, as functions of the step alone."""

from __future__ import annotations


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
