"""Predictions that nobody makes here: the test set's references, and published outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..datasets_scripts.load import TestSet
from ..datasets_scripts.sources import BENCHMARK
from ..datasets_scripts.system_outputs import SYSTEM_OUTPUTS, SystemOutput, read_output
from ..errors import InputError, unknown_name
from ..trainers.card import Family
from .report import SystemInfo

REFERENCE = re.compile(r"reference-(\d+)")
_HUMAN = "the dataset's human rewrites, compared with the other references, if any"


def is_reference(name: str) -> bool:
    """Whether a name is ``reference-1``, ``reference-2``...

    >>> is_reference("reference-1"), is_reference("reference-x")
    (True, False)
    """
    return REFERENCE.fullmatch(name) is not None


def bound_info(name: str) -> SystemInfo:
    """What a report says about a bound."""
    return SystemInfo(name=name, family="human", origin=_HUMAN)


def bound_predictions(name: str, test_set: TestSet) -> tuple[str, ...]:
    """One human's rewrites; ``''`` where this person wrote none.

    Raises:
        InputError: the test set does not have this reference.
    """
    match = REFERENCE.fullmatch(name)
    number = int(match[1]) if match else 0
    most = max(len(some) for some in test_set.references)
    if not 1 <= number <= most:
        raise InputError(f"{test_set.direction} has {most} references; there is no {name}")
    references = test_set.references
    return tuple(some[number - 1] if len(some) >= number else "" for some in references)


_RATED = "the TSTBench authors' repository; the outputs that the paper's raters saw"
_RELEASED = "released with Li et al. (2018), Delete, Retrieve, Generate"
_PEOPLE = f"{_RELEASED}; the first reference itself, but for a few words: compared with the others"


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
        origin=_PEOPLE
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
