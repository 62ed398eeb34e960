"""The Hub's own leaderboards: a dataset's ``eval.yaml``, and a model's ``.eval_results/*.yaml``.

A published dataset is a benchmark of the Hub, with one task for every number: a direction and a
metric, ``negative-to-positive_joint``. The Hub ranks the highest value first: metrics where lower
is better are no tasks.

A model reports its scores in its own repository. Only numbers, signatures and links leave: no
sentence is ever part of an entry. Scores of other options or scorers are other files, and each
entry's notes have the signature of its value. Anybody can write such a file, so what others report
is checked: whatever does not have the Hub's form is an error with a reason, and every value is a
number or refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.directions import DatasetFacts, Direction
from ...errors import InputError
from ...metrics.base import MetricFacts
from ...metrics.registry import METRICS, benchmark_metrics
from ...untrusted import parse_yaml
from ..report import Report, Score

if TYPE_CHECKING:
    from huggingface_hub import EvalResult, EvalResultEntry

FOLDER = ".eval_results"
SOURCE_NAME = "TSTBench"
EVAL_FILE = "eval.yaml"
_SCALES = {"percent": "in percent, 0 to 100", "fraction": "as a fraction, 0 to 1"}
_LONGEST = 4000  # characters of notes: a signature has some hundreds
Text = Annotated[str, Field(min_length=1, max_length=200)]


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


class _Loose(BaseModel):
    """The Hub adds fields now and then: those that are not known here are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class ReportedDataset(_Loose):
    """Which number an entry is about."""

    id: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$", max_length=200)]
    task_id: Text
    revision: Text | None = None


class ReportedSource(_Loose):
    """A page to follow, and who stands behind it."""

    url: Annotated[str, Field(max_length=2000)]
    name: Text | None = None
    user: Text | None = None
    org: Text | None = None


class ReportedEntry(_Loose):
    """One entry of a file."""

    dataset: ReportedDataset
    value: float
    date: str | None = None
    source: ReportedSource | None = None
    notes: Annotated[str, Field(max_length=_LONGEST)] | None = None

    @field_validator("value", mode="before")
    @classmethod
    def _is_number(cls, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("not a number")
        try:
            finite = math.isfinite(value)
        except OverflowError:  # YAML's integers have any number of digits
            finite = False
        if not finite:
            raise ValueError("not a number")
        return value

    @field_validator("date", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return value.isoformat() if isinstance(value, date) else value  # YAML knows dates


@dataclass(frozen=True)
class Reported:
    """One entry, and where it stands."""

    model: str  # user/name
    filename: str
    entry: ReportedEntry


_ENTRIES = TypeAdapter(list[ReportedEntry])


def is_result_file(path: str) -> bool:
    """Whether a repository's file is one that the Hub reads results from."""
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith((".yaml", ".yml"))


def parse_results(content: bytes, where: str) -> list[ReportedEntry]:
    """The entries of one file.

    Args:
        content: YAML.
        where: the file's name, for messages.

    Raises:
        InputError: it does not have the Hub's form; says where and why.
    """
    try:
        return _ENTRIES.validate_python(parse_yaml(content, where))
    except ValidationError as error:
        raise _refusal(error, where) from error


def parse_entry(value: Mapping[str, Any], where: str) -> ReportedEntry:
    """One entry that the Hub's API gave.

    Raises:
        InputError: it does not have the Hub's form.
    """
    try:
        return ReportedEntry.model_validate(value)
    except ValidationError as error:
        raise _refusal(error, where) from error


def as_json(entry: ReportedEntry) -> Mapping[str, Any]:
    """An entry as the Hub's API gives it."""
    return entry.model_dump(exclude_none=True)


def _refusal(error: ValidationError, where: str) -> InputError:
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or "file"
    return InputError(f"{where}: {place}: {first['msg']}")
