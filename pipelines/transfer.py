"""Transfer: have a named system rewrite the test set of a direction."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ..datasets_scripts.load import TestSet, load_styles
from ..errors import InputError, unknown_name
from ..files import write_jsonl
from ..trainers.baselines import Copy, RandomTarget
from ..trainers.delete_retrieve import GAMMA, DeleteRetrieve, DeleteRetrieveConfig
from ..trainers.system import System
from .report import SystemInfo

BASELINES = {
    "copy": "the source itself: perfect content, no transfer",
    "random-target": "a random training sentence of the target style",
    "reference-1": "the first human's rewrites (reference-2, reference-3... for the others)",
    "delete-retrieve": "style words replaced by those of the most similar target sentence",
}


def predict(name: str, test_set: TestSet, *, data_dir: Path | None = None) -> list[str]:
    """The predictions of a baseline, trained on the spot where it needs to be.

    Args:
        name: a key of :data:`BASELINES`, or ``reference-2`` and so on.
        test_set: what to rewrite.
        data_dir: the user's copy of a licensed corpus, for those that learn from its sentences.

    Raises:
        UnknownNameError: no such baseline.
        InputError: a reference that this test set does not have.
        MissingFileError: training sentences that are nowhere.
    """
    if match := re.fullmatch(r"reference-(\d+)", name):
        return _reference(int(match[1]), test_set)
    return _system(name, test_set, data_dir).transfer(test_set.sources)


_HUMAN = "the dataset's human rewrites, which reference metrics compare with themselves"


def baseline_info(name: str) -> SystemInfo:
    """What a report says of a baseline."""
    if name.startswith("reference-"):
        return SystemInfo(name=name, family="human", origin=_HUMAN)
    return SystemInfo(name=name, family="rule", needs_parallel=False, origin="TSTBench baseline")


def write_predictions(path: Path, test_set: TestSet, predictions: list[str]) -> None:
    """Write predictions as JSON Lines with ids, as ``tstbench evaluate`` reads them."""
    rows = zip(test_set.ids, predictions, strict=True)
    write_jsonl(path, ({"id": name, "prediction": text} for name, text in rows))


def _system(name: str, test_set: TestSet, data_dir: Path | None) -> System:
    if name == "copy":
        return Copy()
    if name not in BASELINES:
        raise unknown_name("baseline", name, BASELINES)
    direction = test_set.direction
    styles = load_styles(direction.dataset, cleaning=test_set.cleaning, data_dir=data_dir)
    training = styles.training
    source, target = training.of(direction.source_index), training.of(direction.target_index)
    if name == "random-target":
        return RandomTarget(target)
    usual = DeleteRetrieveConfig()
    gamma = GAMMA.get(direction.dataset, usual.gamma)
    return DeleteRetrieve.train(source, target, replace(usual, gamma=gamma))


def _reference(number: int, test_set: TestSet) -> list[str]:
    """One human's rewrites; ``''`` where this person wrote none."""
    most = max(len(some) for some in test_set.references)
    if not 1 <= number <= most:
        raise InputError(
            f"{test_set.direction} has {most} references, there is no reference-{number}"
        )
    return [some[number - 1] if len(some) >= number else "" for some in test_set.references]
