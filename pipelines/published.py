"""Real outputs published by others, as systems of a suite, each labelled with its origin."""

from __future__ import annotations

from dataclasses import dataclass

from ..datasets_scripts.load import TestSet
from ..datasets_scripts.sources import BENCHMARK
from ..datasets_scripts.system_outputs import SYSTEM_OUTPUTS, SystemOutput, read_output
from ..errors import unknown_name
from ..trainers.system_card import Family
from .report import SystemInfo

_RATED = "the TSTBench authors' repository; the outputs that the paper's raters saw"
_RELEASED = "released with Li et al. (2018), Delete, Retrieve, Generate"
_HUMAN = f"{_RELEASED}; the first reference itself, but for a few words: compared with the others"


@dataclass(frozen=True)
class _Facts:
    family: Family
    date: str  # of publication
    needs_parallel: bool = False


_FACTS = {
    "chatgpt": _Facts("prompted", "2023-11"),  # gpt-3.5-turbo-1106
    "chatgpt-fs": _Facts("prompted", "2023-11"),
    "human": _Facts("human", "2018"),
    "cross-aligned": _Facts("fpft", "2017"),
    "style-embedding": _Facts("fpft", "2018"),
    "multi-decoder": _Facts("fpft", "2018"),
    "retrieval": _Facts("rule", "2018"),
    "template": _Facts("rule", "2018"),
    "delete-only": _Facts("fpft", "2018"),
    "delete-and-retrieve": _Facts("fpft", "2018"),
}


def published_directions(system: str) -> list[str]:
    """The directions for which outputs of this system are public.

    Raises:
        UnknownNameError: no such system.
    """
    found = [output.direction.name for output in SYSTEM_OUTPUTS if output.system == system]
    if not found:
        raise unknown_name(
            "published system", system, dict.fromkeys(o.system for o in SYSTEM_OUTPUTS)
        )
    return found


def published_info(system: str, direction: str) -> SystemInfo:
    """What a report says about a published system."""
    output, facts = _find(system, direction), _FACTS[system]
    file = output.file
    return SystemInfo(
        name=system,
        family=facts.family,
        needs_parallel=facts.needs_parallel,
        date=facts.date,
        origin=_HUMAN
        if system == "human"
        else _RATED
        if file.repository == BENCHMARK
        else _RELEASED,
        outputs_url=f"https://github.com/{file.repository}/blob/{file.commit}/{file.path}",
    )


def published_predictions(system: str, test_set: TestSet) -> tuple[str, ...]:
    """The predictions of a published system, aligned with the test set.

    Raises:
        MissingFileError, IntegrityError: the file was not found, or is a different one.
    """
    return read_output(_find(system, test_set.direction.name), test_set.sources)


def _find(system: str, direction: str) -> SystemOutput:
    for output in SYSTEM_OUTPUTS:
        if (output.system, output.direction.name) == (system, direction):
            return output
    raise unknown_name(
        f"direction with outputs of {system}", direction, published_directions(system)
    )
