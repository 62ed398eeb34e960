"""What others report on the Hub: read once, from the Hub or from a folder, and shown as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from huggingface_hub import constants

from ...console import say
from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.directions import Direction
from ...errors import MissingFileError, TSTBenchError
from ...hub import hub_answers
from ...metrics.base import MetricFacts
from ...metrics.registry import METRICS
from ...pipelines.hub.eval_results import (
    FOLDER,
    Reported,
    Task,
    parse_entry,
    parse_results,
    tasks_of,
)
from ...untrusted import MAX_YAML_BYTES, read_small

HUB = "hub"
NAMESPACE = "tstbench"
_TIMEOUT = 5.0  # seconds for one answer
_PATIENCE = 20.0  # seconds for all of them: nobody waits longer for a page to start


@dataclass(frozen=True)
class ReportedScore:
    """One reported value, not checked by anybody here."""

    direction: Direction
    metric: MetricFacts
    reported: Reported


@dataclass(frozen=True)
class FromHub:
    """Everything that was found, and what could not be read, for the reader."""

    scores: tuple[ReportedScore, ...] = ()
    problem: str | None = None

    def of(self, direction: Direction) -> list[ReportedScore]:
        """The scores of one direction: by metric, then the highest first."""
        order = list(METRICS)
        found = [one for one in self.scores if one.direction == direction]
        found.sort(key=lambda one: (-one.reported.entry.value, one.reported.model))
        return sorted(found, key=lambda one: order.index(one.metric.name))


def read_reported(source: str, *, namespace: str = NAMESPACE) -> FromHub:
    """What models report of the benchmark's datasets.

    A Hub that does not answer is no error: the page says that nothing could be read.

    Args:
        source: ``hub``, or a folder with ``<user>/<model>/.eval_results/*.yaml``.
        namespace: the owner of the datasets on the Hub.

    Raises:
        MissingFileError: there is no such folder.
    """
    tasks = {
        (f"{namespace}/{facts.name}", task.id): task
        for facts in DATASETS.values()
        if facts.publishable
        for task in tasks_of(facts)
    }
    if source != HUB:
        return FromHub(_known(_of_folder(Path(source).expanduser()), tasks))
    if not hub_answers(constants.ENDPOINT):
        return FromHub(problem="The Hub did not answer when this page was started.")
    try:
        found, problem = _of_hub(sorted({dataset for dataset, _ in tasks}))
    except Exception as error:  # whatever the Hub or its client says, the page starts
        say(f"results reported on the Hub are not shown: {type(error).__name__}: {error}")
        return FromHub(problem="The Hub could not be read when this page was started.")
    return FromHub(_known(found, tasks), problem)


def _known(found: list[Reported], tasks: dict[tuple[str, str], Task]) -> tuple[ReportedScore, ...]:
    scores = []
    for one in found:
        task = tasks.get((one.entry.dataset.id, one.entry.dataset.task_id))
        if task:
            scores.append(ReportedScore(task.direction, task.metric, one))
    return tuple(scores)


def _of_folder(folder: Path) -> list[Reported]:
    if not folder.is_dir():
        raise MissingFileError(
            f"no folder {folder} with <user>/<model>/{FOLDER}/*.yaml; "
            f"`--reported {HUB}` asks the Hub"
        )
    found = []
    for file in sorted(folder.glob(f"*/*/{FOLDER}/*.yaml")):
        model = "/".join(file.parts[-4:-2])
        try:
            entries = parse_results(read_small(file, max_bytes=MAX_YAML_BYTES), str(file))
        except TSTBenchError as error:
            say(f"left out: {error}")
            continue
        found += [Reported(model, file.name, entry) for entry in entries]
    return found


def _of_hub(datasets: list[str]) -> tuple[list[Reported], str | None]:
    """The results of every model on a dataset's leaderboard, as far as time allows."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api, until = HfApi(), monotonic() + _PATIENCE
    models: dict[str, None] = {}
    for dataset in datasets:
        if monotonic() > until:
            return [], "The Hub was too slow when this page was started."
        try:
            board = api.get_dataset_leaderboard(dataset, base_model_only=False, timeout=_TIMEOUT)
        except HfHubHTTPError:
            continue  # a dataset without a leaderboard
        models.update(dict.fromkeys(entry.model_id for entry in board))
    found: list[Reported] = []
    for number, model in enumerate(models):
        if monotonic() > until:
            return found, f"The Hub was slow: {number} of {len(models)} models were read."
        info = api.model_info(model, expand=["evalResults"], timeout=_TIMEOUT)
        found += _entries(model, info.eval_results or [])
    return found, None


def _entries(model: str, entries: list[Any]) -> Iterator[Reported]:
    from huggingface_hub import eval_result_entries_to_yaml

    for entry in entries:
        try:
            yield Reported(model, "", parse_entry(eval_result_entries_to_yaml([entry])[0], model))
        except TSTBenchError as error:
            say(f"left out: {error}")
