"""Who is best where not everybody took part in everything.

A system's rank in a direction depends on who else was scored there, so that mean ranks over
different directions do not compare. Two systems are compared on the directions that both have: the
one with the better mean rank there wins. The order is by the share of such comparisons won.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def column_ranks(rows: Sequence[Sequence[float | None]], sign: int) -> list[list[float | None]]:
    """The rank of each value in its column, 1 for the best; equal values share the mean of theirs.

    >>> column_ranks([[3.0, 1.0], [5.0, None], [3.0, 2.0]], sign=1)
    [[2.5, 2.0], [1.0, None], [2.5, 1.0]]
    """
    if not rows:
        return []
    values = sign * np.array(rows, dtype=float)  # None becomes NaN
    return [[None if np.isnan(r) else float(r) for r in row] for row in ranks_of(values)]


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Ranks along the first axis, 1 for the highest; equal values share the mean, NaN has none.

    >>> ranks_of(np.array([3.0, 5.0, 3.0]))
    array([2.5, 1. , 2.5])
    """
    from scipy.stats import rankdata  # half a second, which no other view needs

    return np.asarray(rankdata(-values, axis=0, nan_policy="omit"))


def shares_won(ranks: Sequence[Sequence[float | None]]) -> list[float]:
    """The share of the others that each one beats; a draw is half, and one that met nobody has 0.5.

    >>> shares_won([[1.0, 2.0], [2.0, None], [None, 1.0]])
    [0.5, 0.0, 1.0]
    """
    if not ranks:
        return []
    table = np.array(ranks, dtype=float)
    present = ~np.isnan(table)
    filled = np.where(present, table, 0.0)
    # For each pair, both summed over the columns that both have: own ranks, and the other's.
    own = filled @ present.T
    ahead = own.T - own
    met = (present.astype(int) @ present.T.astype(int)) > 0
    np.fill_diagonal(met, False)
    won = ((ahead > 0) + 0.5 * (ahead == 0)) * met
    share = np.where(met.any(axis=1), won.sum(axis=1) / np.maximum(met.sum(axis=1), 1), 0.5)
    return [round(float(one), 9) for one in share]
