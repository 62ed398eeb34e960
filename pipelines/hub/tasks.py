"""A dataset as a benchmark of the Hub: ``eval.yaml`` at its root, one task for every number.

A task is a direction and a metric, ``negative-to-positive_joint``, and the Hub ranks the highest
value first: metrics where lower is better are no tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from ...datasets_scripts.directions import DatasetFacts, Direction
from ...metrics.facts import MetricFacts
from ...metrics.registry import METRICS, benchmark_metrics

EVAL_FILE = "eval.yaml"
_SCALES = {"percent": "in percent, 0 to 100", "fraction": "as a fraction, 0 to 1"}


@dataclass(frozen=True)
class Task:
    """One leaderboard of the Hub."""

    direction: Direction
    metric: MetricFacts

    @property
    def id(self) -> str:
        """``negative-to-positive_joint``: unique within the dataset."""
        return f"{self.direction.config}_{self.metric.name}"


def tasks_of(facts: DatasetFacts) -> tuple[Task, ...]:
    """The tasks of a dataset: every direction with each metric that has a meaning there.

    >>> from ...datasets_scripts.catalog import BENCHMARK_DATASETS
    >>> [task.id for task in tasks_of(BENCHMARK_DATASETS["styptb_tfu"])][:3]
    ['present-to-future_acc', 'present-to-future_s_bleu', 'present-to-future_r_bleu']
    """
    metrics = [METRICS[name] for name in benchmark_metrics()]
    found = [m for m in metrics if m.higher_is_better and _has_meaning(m, facts)]
    return tuple(Task(direction, metric) for direction in facts.directions for metric in found)


def eval_yaml(facts: DatasetFacts) -> bytes:
    """The content of :data:`EVAL_FILE`."""
    tasks = tasks_of(facts)
    metrics = {task.metric.name: task.metric for task in tasks}.values()
    scales = [
        f"{', '.join(m.title for m in metrics if m.unit == unit)} {scale}"
        for unit, scale in _SCALES.items()
    ]
    content = {
        "name": f"TSTBench {facts.title}",
        "description": (
            f"Text style transfer, {facts.task}: one task for each direction and metric, "
            f"<direction>_<metric>. Values: {'; '.join(scales)}. Higher is better in every task. "
            "The notes of a result have the signature of its value: only values with equal "
            "signatures may be compared. Copies of the source and people's rewrites are bounds, "
            "not models, and are not reported."
        ),
        "evaluation_framework": "tstbench",
        "tasks": [
            {"id": task.id, "config": task.direction.config, "split": "test"} for task in tasks
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100).encode()


def _has_meaning(metric: MetricFacts, facts: DatasetFacts) -> bool:
    """Metrics of several references need several, the others of references one."""
    needed = 2 if metric.name.startswith("multi_") else 1 if "references" in metric.reads else 0
    return facts.references >= needed
