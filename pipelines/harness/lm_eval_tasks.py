"""The functions behind the task files of lm-evaluation-harness, see :mod:`.lm_eval_files`.

A document is one sentence; what ``process_results`` keeps of its answer goes, for all sentences
together, to one aggregation per metric: a corpus score is never a mean of sentence scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ...errors import InputError, UnknownNameError
from ...metrics.registry import benchmark_metrics
from .questions import DirectionTask, read_settings

SPLIT = "test"
_Item = dict[str, Any]
_SETTINGS: dict[str, dict[str, Any]] = {}  # of each direction, as lm-eval handed them over
_SCORED: dict[DirectionTask, tuple[dict[str, str], dict[str, float]]] = {}  # the last predictions


@cache
def _task(direction: str, settings: str) -> DirectionTask:  # noqa: ARG001 - the key of the cache
    return DirectionTask(direction, read_settings(_SETTINGS[direction]))


def _current(direction: str) -> DirectionTask:
    return _task(direction, repr(sorted(_SETTINGS[direction].items())))


def documents(
    direction: str, tstbench: Mapping[str, Any] | None = None, **_: Any
) -> dict[str, Any]:
    """A direction's test set, as lm-eval's ``custom_dataset``.

    Args:
        direction: from the task file.
        tstbench: :class:`.questions.HarnessSettings`, from ``--metadata '{"tstbench": {...}}'``.

    Returns:
        Split to documents: ``id``, ``source``, ``references``, ``prompt``, ``direction``.

    Raises:
        TSTBenchError: as :class:`.questions.DirectionTask`.
    """
    from datasets import Dataset

    if tstbench is not None and not isinstance(tstbench, Mapping):
        raise InputError(f'"tstbench" in --metadata is {tstbench!r}, not an object {{...}}')
    _SETTINGS[direction] = dict(tstbench or {})
    task = _current(direction)
    rows = [
        {
            "id": question.id,
            "source": question.source,
            "references": list(question.references),
            "prompt": question.text,
            "direction": direction,
        }
        for question in task.questions
    ]
    for name in task.metrics:
        if name not in AGGREGATIONS:
            raise UnknownNameError(
                f"{name} is not in the task files of lm-eval: use 'tstbench evaluate' for it"
            )
    return {SPLIT: Dataset.from_list(rows)}


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, _Item]:
    """The prediction of one sentence, once for each metric that was asked for."""
    task = _current(doc["direction"])
    cleaned = task.prediction(results[0], doc["source"])
    item = {
        "id": doc["id"],
        "direction": doc["direction"],
        "prediction": cleaned.text,
        "rules": list(cleaned.rules),
    }
    return dict.fromkeys(task.metrics, item)


def references(doc: Mapping[str, Any]) -> str:
    """The first reference, which lm-eval shows beside the answer; empty if there is none."""
    return next(iter(doc["references"]), "")


def aggregation(metric: str) -> Callable[[Sequence[_Item]], float]:
    """The function that makes a corpus score of all predictions; NaN where there is none."""

    def score(items: Sequence[_Item]) -> float:
        task = _current(items[0]["direction"])
        predictions = {item["id"]: item["prediction"] for item in items}
        before = _SCORED.get(task)
        if before is None or before[0] != predictions:  # all metrics are computed at once
            before = _SCORED[task] = predictions, task.values(predictions)
        return before[1].get(metric, math.nan)

    score.__name__ = metric
    return score


AGGREGATIONS = {metric: aggregation(metric) for metric in benchmark_metrics()}
