"""Transfer: have a system rewrite the test set of a direction, and keep its predictions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from ..console import shown
from ..datasets_scripts.load import TestSet
from ..errors import unknown_name
from ..store import canonical
from ..trainers.card import SystemCard
from ..trainers.load import FoundSystem, find_system
from ..trainers.postprocess import step_names
from ..trainers.system import USUAL, Generation, system_class, system_names
from .predictions import ONE_LINE, Answering, Predictions, Question
from .references import bound_info, bound_predictions, is_reference
from .report import SeedRun, SystemInfo


def predictions_path(root: Path, test_set: TestSet, name: str) -> Path:
    """Where the predictions of a system are in a folder of predictions."""
    direction = test_set.direction
    return root / direction.dataset / direction.config / f"{name}.jsonl"


def ask(
    found: FoundSystem,
    test_set: TestSet,
    path: Path,
    generation: Generation = USUAL,
    steps: Sequence[str] = (),
) -> Predictions:
    """The checked question for a system; nothing is loaded, trained or written yet.

    Raises:
        UnknownNameError: the system does not have this generation setting, or there is no such
            step of post-processing.
        InputError: a value has the wrong type or is out of range.
    """
    settings = found.kind.read_generation(generation)
    question = Question(
        system=found.kind.called(found.card.name, settings),
        identity=found.identity,
        direction=test_set.direction.name,
        test_set=test_set.fingerprint,
        cleaning=test_set.cleaning,
        sentences=len(test_set),
        seed=generation.seed,
        generation=found.kind.asked(settings, test_set.direction),
        post_processing=(*step_names(steps), ONE_LINE),
    )
    return Predictions(path, test_set, question)


def transfer(
    found: FoundSystem,
    test_set: TestSet,
    path: Path,
    *,
    generation: Generation = USUAL,
    batch_size: int | None = None,
    device: str = "auto",
    steps: Sequence[str] = (),
) -> tuple[str, ...]:
    """The predictions of a system, in a file that grows line by line and is resumed.

    Args:
        found: the system; it is loaded, and trained, only if predictions are missing.
        test_set: what to rewrite.
        path: ``<name>.jsonl``; its card is beside it. See :class:`.predictions.Predictions`.
        generation: seed and settings.
        batch_size: sentences at a time.
        device: ``auto``, ``cpu``, ``cuda``...
        steps: of post-processing, see :mod:`tstbench.trainers.postprocess`; by default none.

    Raises:
        TSTBenchError: unknown settings, or an existing file that TSTBench did not write.
    """
    asked = ask(found, test_set, path, generation, steps)
    ready = partial(_ready, found, asked.question, test_set, generation, batch_size, device)
    return asked.complete(ready)


def predict(
    name: str, test_set: TestSet, *, data_dir: Path | None = None, device: str = "auto"
) -> list[str]:
    """The predictions of a baseline, in memory; it is trained if necessary.

    Args:
        name: a built-in system, or ``reference-1`` and so on.
        test_set: what to rewrite.
        data_dir: the user's copy of a licensed corpus, for those that learn from its sentences.
        device: ``auto``, ``cpu``, ``cuda``...

    Raises:
        UnknownNameError: no such baseline.
        InputError: the test set does not have this reference.
        MissingFileError: the training sentences were not found.
    """
    if is_reference(name):
        return list(bound_predictions(name, test_set))
    _check_baseline(name)
    found = find_system(name, test_set.direction, cleaning=test_set.cleaning, data_dir=data_dir)
    system = found.load(device)
    return list(system.transfer(test_set.sources, test_set.direction, ids=test_set.ids))


def baseline_info(name: str) -> SystemInfo:
    """What a report says about a baseline."""
    if is_reference(name):
        return bound_info(name)
    _check_baseline(name)
    return system_info(system_class(name).untrained())


def system_info(card: SystemCard) -> SystemInfo:
    """What a report says about a system."""
    return SystemInfo(
        name=card.name,
        family=card.family,
        needs_parallel=card.needs_parallel,
        origin=card.origin or None,
    )


def _info_of_answers(card: SystemCard, question: Question) -> SystemInfo:
    """What a report says about a system that was asked in a certain way."""
    return system_info(card).model_copy(
        update={
            "name": question.system,
            "seed_run": _seed_run(card, question),
            "post_processing": question.steps,
        }
    )


def _seed_run(card: SystemCard, question: Question) -> SeedRun | None:
    """Runs that were asked in other ways are not runs of one system."""
    if card.seed is None:
        return None
    way = [card.seedless_recipe, question.seed, question.generation, question.post_processing]
    recipe = hashlib.sha256(canonical(way)).hexdigest()
    return SeedRun(system=card.seedless_name, recipe=recipe, seed=card.seed)


def _check_baseline(name: str) -> None:
    if name not in system_names():
        raise unknown_name("baseline", name, [*system_names(), "reference-1"])


def _ready(
    found: FoundSystem,
    question: Question,
    test_set: TestSet,
    generation: Generation,
    batch_size: int | None,
    device: str,
) -> Answering:
    stored = found.open(device)
    system = found.kind.of(stored, device=device)

    def answer(indices: Sequence[int]) -> Iterable[str]:
        predictions = system.transfer(
            [test_set.sources[i] for i in indices],
            test_set.direction,
            ids=[test_set.ids[i] for i in indices],
            generation=generation,
            batch_size=batch_size,
            device=device,
        )
        what, done = f"{question.system}, {test_set.direction}", len(test_set) - len(indices)
        return shown(predictions, what, len(test_set), done=done, unit="sentence")

    about = _info_of_answers(stored.card, question)
    return Answering(stored.hash, about, found.kind.versions(), answer)
