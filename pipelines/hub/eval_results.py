"""A system's scores as a model repository of the Hub reports them: ``.eval_results/*.yaml``.

Only numbers, signatures and links leave: no sentence is ever part of an entry. Scores of other
options or scorers are other files, and each entry's notes have the signature of its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from ...datasets_scripts.catalog import DATASETS
from ...errors import InputError
from ...metrics.registry import METRICS
from ..report import Report, Score
from .tasks import Task, tasks_of

if TYPE_CHECKING:
    from huggingface_hub import EvalResult, EvalResultEntry

FOLDER = ".eval_results"
SOURCE_NAME = "TSTBench"


@dataclass(frozen=True)
class DatasetRevision:
    """A published dataset, its commit on the Hub where it is there, its splits' fingerprints."""

    repo_id: str
    commit: str | None
    fingerprints: Mapping[str, str]

    def check(self, report: Report) -> None:
        """Check that a report was made with these sentences.

        Raises:
            InputError: it was made with others.
        """
        split = f"{report.direction.split('/')[1]}/test"
        if self.fingerprints.get(split) != report.data.fingerprint:
            raise InputError(
                f"{report.system.name} on {report.direction} was not scored on the test set of "
                f"{self.repo_id}: their fingerprints differ. Evaluate it again with this version "
                "of the dataset, or leave the direction out"
            )


@dataclass(frozen=True)
class About:
    """What entries say beside the scores.

    Attributes:
        namespace: the owner of the datasets on the Hub.
        revisions: by name of the dataset, where they are known.
        sources: a page to follow, by direction, ``https`` only.
    """

    namespace: str
    revisions: Mapping[str, DatasetRevision] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


def result_files(reports: Sequence[Report], about: About) -> dict[str, bytes]:
    """The files of one system, by path; empty if none of its scores has a task on the Hub.

    Args:
        reports: of one system on any directions.
        about: what the entries say beside the scores.

    Raises:
        InputError: a report was made with other sentences than the dataset's.
    """
    from huggingface_hub import eval_result_entries_to_yaml

    files: dict[str, list[EvalResultEntry]] = {}
    for report in reports:
        for task, score in scores_with_tasks(report):
            files.setdefault(_path(task, score), []).append(_entry(report, task, score, about))
    return {
        path: yaml.safe_dump(
            eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=1000
        ).encode()
        for path, entries in sorted(files.items())
    }


def scores_with_tasks(report: Report) -> Iterator[tuple[Task, Score]]:
    """The scores that a leaderboard of the Hub takes: those of bounds are none."""
    dataset = report.direction.split("/")[0]
    if report.system.is_bound or not has_leaderboards(dataset):
        return
    tasks = {
        task.metric.name: task
        for task in tasks_of(DATASETS[dataset])
        if task.direction.name == report.direction
    }
    for score in report.scores:
        if score.metric in tasks and score.value is not None:
            yield tasks[score.metric], score


def has_leaderboards(dataset: str) -> bool:
    """Whether a dataset is published: a licensed one has no repository to belong to."""
    return dataset in DATASETS and DATASETS[dataset].publishable


def model_index(reports: Sequence[Report]) -> list[EvalResult]:
    """The scores of one system as its model card lists them, ``model-index``."""
    from huggingface_hub import EvalResult

    return [
        EvalResult(
            task_type="text-generation",
            task_name=f"Text style transfer, {report.direction}",
            dataset_type=f"tstbench/{report.direction.split('/')[0]}",
            dataset_name=f"TSTBench {report.direction.split('/')[0]}",
            dataset_config=report.direction.split("/")[1],
            dataset_split="test",
            metric_type=score.metric,
            metric_name=_title(score),
            metric_value=score.value,
            metric_config=score.signature,
        )
        for report in reports
        if not report.system.is_bound
        for score in report.scores
        if score.value is not None
    ]


def _title(score: Score) -> str:
    return METRICS[score.metric].title if score.metric in METRICS else score.metric


def _path(task: Task, score: Score) -> str:
    """One file for each dataset and profile; further scores of one metric are variants."""
    profile = re.sub(r"[^A-Za-z0-9.+-]", "_", score.profile)  # free text, in a path
    parts = ["tstbench", task.direction.dataset, profile]
    if score.key != score.metric:
        parts.append(score.key.split("@")[1])
    return f"{FOLDER}/{'-'.join(parts)}.yaml"


def _entry(report: Report, task: Task, score: Score, about: About) -> EvalResultEntry:
    from huggingface_hub import EvalResultEntry

    dataset = task.direction.dataset
    revision = about.revisions.get(dataset)
    if revision:
        revision.check(report)
    source = about.sources.get(report.direction)
    return EvalResultEntry(
        dataset_id=f"{about.namespace}/{dataset}",
        task_id=task.id,
        value=score.value,
        dataset_revision=revision.commit if revision else None,
        source_url=source,
        source_name=SOURCE_NAME if source else None,
        notes=_notes(score),
    )


def _notes(score: Score) -> str:
    parts = [f"signature {score.signature}"]
    if score.interval:
        level = f"{100 * score.interval.level:.0f}%"
        parts.append(f"{level} interval {score.interval.low} to {score.interval.high}")
    return "; ".join([*parts, f"scorers {score.profile}", f"made with {score.made_with}"])
