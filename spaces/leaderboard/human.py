"""Human scores: one row a rating, read into one mean a system, aspect and study.

Studies differ in raters, anchors and items: their scores are never averaged together.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError, TSTBenchError
from ...files import read_lines
from ...metrics.statistics import Interval, interval, mean_statistics

_MOST_PROBLEMS = 3  # a file of the wrong kind is said to be so once, not once a line
_FEWEST_ITEMS = 5  # below this a bootstrap over items says nothing


@dataclass(frozen=True)
class HumanScore:
    """What the raters of one study thought of one system on one direction.

    Attributes:
        system: folded for comparison, see :func:`fold`.
        mean: mean over items of the mean over that item's raters, on the study's scale.
        interval: 95% bootstrap interval over items; ``None`` with too few of them.
        items, ratings: how many outputs were rated, and how often in all.
    """

    study: str
    aspect: str
    scale: str
    system: str
    mean: float
    interval: Interval | None
    items: int
    ratings: int


def fold(system: str) -> str:
    """A system's name without case and punctuation: studies spell ``GPT-4`` as they like.

    >>> fold("GPT-4 FS") == fold("gpt4_fs")
    True
    """
    return "".join(c for c in system.casefold() if c.isalnum())


def read_human(path: Path) -> tuple[Mapping[str, tuple[HumanScore, ...]], list[str]]:
    """Read ``human.jsonl``.

    Args:
        path: rows of study, dataset, direction, system, sample_id, source, output, aspect, scale,
            rater and score. It need not exist.

    Returns:
        Scores by direction name, and one sentence for each of the first rows that are wrong:
        a bad row is left out, and said so.
    """
    if not path.exists():
        return {}, []
    items: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    problems: list[str] = []
    try:
        lines = read_lines(path)
    except TSTBenchError as error:
        return {}, [str(error)]
    for number, line in enumerate(lines, start=1):
        try:
            key, item, score = _rating(json.loads(line))
        except (InputError, ValueError) as error:
            problems.append(f"{path}, line {number}: {error}")
            continue
        items[key][item].append(score)
    if len(problems) > _MOST_PROBLEMS:
        more = f"{path}: {len(problems) - _MOST_PROBLEMS} more rows are wrong"
        problems = [*problems[:_MOST_PROBLEMS], more]
    scores: dict[str, list[HumanScore]] = defaultdict(list)
    for (direction, study, aspect, scale, system), by_item in items.items():
        means = np.array([np.mean(ratings) for ratings in by_item.values()])
        bounds = interval(mean_statistics(means)) if len(means) >= _FEWEST_ITEMS else None
        ratings = sum(len(r) for r in by_item.values())
        mean = float(means.mean())
        scores[direction].append(
            HumanScore(study, aspect, scale, system, mean, bounds, len(means), ratings)
        )
    return {direction: tuple(found) for direction, found in scores.items()}, problems


def _rating(row: Any) -> tuple[tuple[str, ...], str, float]:
    """Direction, study, aspect, scale and system of a row; its item; its score."""
    if not isinstance(row, dict):
        raise InputError("not a JSON object")
    missing = [k for k in ("dataset", "direction", "system", "aspect", "score") if k not in row]
    if missing:
        raise InputError(f"no {', '.join(missing)}")
    score = row["score"]
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise InputError(f"score {score!r} is no number")
    direction = str(row["direction"])
    if "/" not in direction:
        direction = f"{row['dataset']}/{direction}"
    study, scale = str(row.get("study") or "human study"), str(row.get("scale") or "")
    item = str(row.get("sample_id") or row.get("output") or "")
    return (direction, study, str(row["aspect"]), scale, fold(str(row["system"]))), item, score
