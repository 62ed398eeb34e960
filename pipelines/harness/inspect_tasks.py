"""Inspect AI tasks: ``inspect eval tstbench/yelp --model ...``, one task per dataset.

Inspect finds this module by its entry point. A task asks the directions of its dataset, or the one
given with ``-T direction=``; a sample's score says whether there is a prediction, and the metric
:func:`corpus_scores` computes the benchmark's numbers from all predictions together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState, generate

from ...datasets_scripts.catalog import DATASETS
from ..predictions import one_line
from .questions import (
    MAX_TOKENS,
    TEMPERATURE,
    TOP_P,
    DirectionTask,
    Question,
    dataset_directions,
    read_settings,
)

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser}
_MADE: dict[str, DirectionTask] = {}  # by direction and settings: the scorers are loaded once


@metric(name="tstbench", scores="unreduced")
def corpus_scores(settings: dict[str, Any] | None = None) -> Metric:
    """Every score of the benchmark, from all answers; the mean over epochs if there are several.

    Args:
        settings: see :class:`.questions.HarnessSettings`.

    The keys are metrics; with several directions, such as ``negative-to-positive/s_bleu``.
    """

    def compute(scores: list[SampleScore]) -> Value:
        epochs = _by_epoch(scores)
        directions = {direction for direction, _ in epochs}
        sums: dict[str, list[float]] = defaultdict(list)
        for (direction, _), predictions in sorted(epochs.items()):
            before = f"{direction.partition('/')[2]}/" if len(directions) > 1 else ""
            values = _task(direction, settings or {}).values(predictions)
            for name, value in {**values, "sentences": float(len(predictions))}.items():
                sums[before + name].append(value)
        return {name: sum(values) / len(values) for name, values in sums.items()}

    return compute


@scorer(metrics=[corpus_scores()])
def rewrites(settings: dict[str, Any] | None = None) -> Scorer:
    """From an answer to a prediction: 1 if there is one, 0 if it is empty; cleaned as ours are."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - as all scorers
        direction, source = state.metadata["direction"], state.metadata["source"]
        cleaned = _task(direction, settings or {}).prediction(
            state.output.completion, source, filtered=state.output.stop_reason == "content_filter"
        )
        return Score(
            value=float(bool(cleaned.text)),
            answer=cleaned.text,
            metadata={"direction": direction, "rules": list(cleaned.rules)},
        )

    return score


def make_task(dataset: str, direction: str = "", **given: Any) -> Task:
    """The Inspect task of a dataset.

    Args:
        dataset: its name.
        direction: one of its directions; by default all of them.
        given: see :class:`.questions.HarnessSettings`.

    Raises:
        TSTBenchError: as :class:`.questions.DirectionTask`.
    """
    settings = read_settings(given).model_dump(mode="json", exclude_defaults=True)
    tasks = [_task(one.name, settings) for one in dataset_directions(dataset, direction)]
    samples = [_sample(question, one) for one in tasks for question in one.questions]
    scoring = rewrites(settings)
    return Task(
        name=dataset,
        dataset=MemoryDataset(samples, name=direction or dataset),
        solver=generate(),
        scorer=scoring,
        metrics=[corpus_scores(settings)],
        config=GenerateConfig(temperature=TEMPERATURE, top_p=TOP_P, max_tokens=MAX_TOKENS),
        metadata={
            "prompts": {one.prompts.name: one.prompts.sha256 for one in tasks},
            "clean": list(tasks[0].rules),
            "data": {one.direction.name: one.test_set.fingerprint for one in tasks},
        },
    )


def _sample(question: Question, of: DirectionTask) -> Sample:
    return Sample(
        id=question.id,
        input=[_ROLES[one["role"]](content=one["content"]) for one in question.messages],
        target=list(question.references),
        metadata={"direction": of.direction.name, "source": question.source},
    )


def _by_epoch(scores: list[SampleScore]) -> dict[tuple[str, int], dict[str, str]]:
    """(direction, epoch) to predictions by id: the n-th score of a sentence is its n-th epoch's."""
    found: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    seen: dict[str, int] = defaultdict(int)
    for one in scores:
        name, about = str(one.sample_id), one.score.metadata or {}
        found[about["direction"], seen[name]][name] = one_line(one.score.answer or "")
        seen[name] += 1
    return found


def _task(direction: str, settings: Mapping[str, Any]) -> DirectionTask:
    key = f"{direction} {sorted(settings.items())}"
    if key not in _MADE:
        _MADE[key] = DirectionTask(direction, read_settings(settings))
    return _MADE[key]


def _register(dataset: str) -> Callable[..., Task]:
    @task(name=dataset)
    def style_transfer(
        direction: str = "",
        metrics: list[str] | str = "",
        profile: str = "embedded",
        scorers: list[str] | str = "",
        prompts: str = "tstbench-v1",
        examples: int = 0,
        examples_by: str = "seed",
        examples_file: str = "",
        seed: int = 0,
        clean: list[str] | str = "",
        data_dir: str = "",
        device: str = "auto",
    ) -> Task:
        given = {
            "metrics": metrics,
            "profile": profile,
            "scorers": scorers,
            "prompts": prompts,
            "examples": examples,
            "examples_by": examples_by,
            "examples_file": examples_file,
            "seed": seed,
            "data_dir": data_dir,
            "device": device,
        }
        return make_task(dataset, direction, **given, **({"clean": clean} if clean else {}))

    style_transfer.__doc__ = f"Text style transfer on {dataset}; see docs/harnesses.md."
    return style_transfer


TASKS = {name: _register(name) for name, facts in DATASETS.items() if facts.directions}
