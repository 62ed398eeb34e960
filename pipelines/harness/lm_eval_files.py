"""The task files of lm-evaluation-harness, made from the directions, in ``TSTBENCH_HOME``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...datasets_scripts.catalog import BENCHMARK_DATASETS
from ...datasets_scripts.directions import Direction
from ...files import home, write_text
from ...metrics.registry import METRICS, benchmark_metrics
from ...trainers.prompted import ChatSettings

FOLDER = "lm_eval"
_COMMON = "_common.yaml"
_HEAD = "# Written by tstbench harness.\n"
_FUNCTIONS = f"""{_HEAD}\
from tstbench.pipelines.harness.lm_eval_tasks import (
    AGGREGATIONS,
    documents,
    process_results,
    references,
)

globals().update(AGGREGATIONS)
"""


def write_task_files() -> Path:
    """Write the files that are missing or differ, each atomically; returns their folder."""
    folder = home() / FOLDER
    for name, text in task_files().items():
        path = folder / name
        if not path.is_file() or path.read_text("utf-8") != text:
            write_text(path, text)
    return folder


def task_files() -> Mapping[str, str]:
    """File name to content: what all tasks share, one file per direction, and the functions."""
    directions = [d for facts in BENCHMARK_DATASETS.values() for d in facts.directions]
    files = {f"{task_name(one)}.yaml": _task(one) for one in directions}
    return {_COMMON: _common(), "utils.py": _FUNCTIONS, **files}


def task_name(direction: Direction) -> str:
    """The name of a direction's task.

    >>> task_name(Direction("yelp", "negative", "positive"))
    'tstbench_yelp_negative_to_positive'
    """
    return f"tstbench_{direction.dataset}_{direction.source_style}_to_{direction.target_style}"


def _task(direction: Direction) -> str:
    return (
        f"{_HEAD}include: {_COMMON}\n"
        f"task: {task_name(direction)}\n"
        f"tag:\n  - tstbench\n  - tstbench_{direction.dataset}\n"
        f"dataset_kwargs:\n  direction: {direction.name}\n"
    )


def _common() -> str:
    lines = [
        _HEAD + "custom_dataset: !function utils.documents",
        "output_type: generate_until",
        "test_split: test",
        "num_fewshot: 0",
        'doc_to_text: "{{prompt}}"',
        "doc_to_target: !function utils.references",
        "process_results: !function utils.process_results",
        "generation_kwargs:",
        "  until: []",
        "  do_sample: false",
        f"  temperature: {ChatSettings.temperature}",
        f"  max_gen_toks: {ChatSettings.max_tokens}",
        "metric_list:",
    ]
    for name in benchmark_metrics():
        better = str(METRICS[name].higher_is_better).lower()
        lines += [
            f"  - metric: {name}",
            f"    aggregation: !function utils.{name}",
            f"    higher_is_better: {better}",
        ]
    return "\n".join([*lines, "metadata:", "  version: 1.0", ""])
