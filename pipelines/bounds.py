"""Bounds: predictions taken from the test set's own references, not from a system."""

from __future__ import annotations

import re

from ..datasets_scripts.load import TestSet
from ..errors import InputError
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
