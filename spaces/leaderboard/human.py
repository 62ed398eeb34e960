"""Human scores: one row per rating, averaged for each system, aspect and study.

Studies differ in raters, anchors and items, so their scores are never averaged together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...datasets_scripts.judgments.schema import read_judgments
from ...errors import TSTBenchError
from ...metrics.statistics import Interval, interval, mean_statistics
from ...pipelines.analysis.data import fold

_Key = tuple[str, str, str, str, str]  # direction, study, aspect, scale, system


@dataclass(frozen=True)
class HumanScore:
    """How the raters of one study scored one system on one direction.

    Attributes:
        system: the name, folded for comparison, see :func:`fold`.
        mean: mean over items of the mean over that item's raters, on the study's scale.
        interval: 95% bootstrap interval over items; ``None`` with too few items, or if the
            study does not say which sentence a score belongs to.
        ratings: total number of ratings.
    """

    study: str
    aspect: str
    scale: str
    system: str
    mean: float
    interval: Interval | None
    ratings: int


def read_human(path: Path) -> tuple[Mapping[str, tuple[HumanScore, ...]], list[str]]:
    """Read ``human.jsonl``: judgments, see :mod:`tstbench.datasets_scripts.judgments.schema`.

    The file may be missing.

    Returns:
        Scores by direction name, and what is wrong with the file, if anything is.
    """
    if not path.exists():
        return {}, []
    try:
        judgments = read_judgments(path)
    except TSTBenchError as error:
        return {}, [str(error)]
    items: dict[_Key, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list))
    anonymous: set[_Key] = set()
    for number, row in enumerate(judgments):
        if row.usable is None:
            continue
        key = (row.direction, row.study, row.aspect, row.scale, fold(row.system))
        if row.sample_id is None:
            anonymous.add(key)
        items[key][number if row.sample_id is None else row.sample_id].append(row.usable)
    scores: dict[str, list[HumanScore]] = defaultdict(list)
    for key, by_item in items.items():
        direction, study, aspect, scale, system = key
        means = np.array([np.mean(ratings) for ratings in by_item.values()])
        bounds = None if key in anonymous else interval(mean_statistics(means))
        count = sum(len(ratings) for ratings in by_item.values())
        score = HumanScore(study, aspect, scale, system, float(means.mean()), bounds, count)
        scores[direction].append(score)
    return {direction: tuple(found) for direction, found in scores.items()}, []
