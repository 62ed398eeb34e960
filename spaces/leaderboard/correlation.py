"""How well each metric agrees with people, over the systems that both have scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from .ranking import Ranking

FEWEST_SYSTEMS = 4  # below this every ordering is likely to agree by chance


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho, signed so that +1 means the metric orders systems as people do."""

    value: float
    systems: int


@dataclass(frozen=True)
class Correlations:
    """Metrics x human aspects; ``None`` where too few systems have both scores."""

    metrics: tuple[str, ...]
    aspects: tuple[str, ...]
    cells: tuple[tuple[Correlation | None, ...], ...]


def correlate(ranking: Ranking) -> Correlations | None:
    """Correlate the columns of one direction; ``None`` where nothing can be."""
    automatic = [i for i, c in enumerate(ranking.columns) if not c.human]
    human = [i for i, c in enumerate(ranking.columns) if c.human]
    cells = tuple(tuple(_spearman(ranking, i, j) for j in human) for i in automatic)
    if not any(cell for row in cells for cell in row):
        return None
    metrics = tuple(ranking.columns[i].title for i in automatic)
    studies = {ranking.columns[j].study for j in human}
    aspects = tuple(
        f"{c.title} ({c.study})" if len(studies) > 1 else c.title
        for c in (ranking.columns[j] for j in human)
    )
    return Correlations(metrics, aspects, cells)


def _spearman(ranking: Ranking, i: int, j: int) -> Correlation | None:
    pairs = np.array(
        [
            (row.cells[i].value, row.cells[j].value)
            for row in ranking.rows
            if row.cells[i].value is not None and row.cells[j].value is not None
        ],
        dtype=float,
    )
    if len(pairs) < FEWEST_SYSTEMS or (pairs == pairs[0]).all(axis=0).any():
        return None
    sign = 1 if ranking.columns[i].higher_is_better else -1
    return Correlation(sign * float(spearmanr(pairs[:, 0], pairs[:, 1]).statistic), len(pairs))
