"""A protocol: everything that was chosen to get one number from one file of outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...datasets_scripts.load import TestSet
from ...metrics.statistics import Statistics

MEAN, TOGETHER = "mean", "together"  # of several directions: their mean, or as one corpus


@dataclass(frozen=True)
class Side:
    """One direction's outputs, with its test set as upstream wrote it and as it is cleaned.

    Attributes:
        outputs: N predictions, as they are in the file.
        raw: the test set, uncleaned.
        clean: the same with the cleaning of its language.
    """

    outputs: tuple[str, ...]
    raw: TestSet
    clean: TestSet


@dataclass(frozen=True)
class Value:
    """One number and the protocol that gives it.

    Attributes:
        metric: what is measured.
        choices: name and value of every choice, in the order in which they are made.
        value: in the metric's unit; NaN where it is undefined.
        known_as: the tool or paper whose default this is, if it is a well-known one.
    """

    metric: str
    choices: tuple[tuple[str, str], ...]
    value: float
    known_as: str = ""

    @property
    def protocol(self) -> str:
        """The choices in one line: ``refs:4|files:raw|tok:13a|case:mixed|score:sacrebleu``."""
        return "|".join(f"{name}:{choice}" for name, choice in self.choices)


Choices = tuple[tuple[str, str], ...]


def over_directions(
    choices: Choices, parts: Sequence[Sequence[Callable[[], Statistics]]]
) -> Iterator[tuple[Choices, float]]:
    """A number of one direction, or the two ways in which papers make one of several.

    Args:
        choices: made so far.
        parts: one list a direction; of several statistics (one a reference) the mean is reported.
    """
    made = [[part() for part in some] for some in parts]
    alone = [float(np.mean([part.value for part in some])) for some in made]
    if len(made) == 1:
        yield choices, alone[0]
        return
    yield (*choices, ("over", MEAN)), float(np.mean(alone))
    together = []
    for same in zip(*made, strict=False):
        rows = np.concatenate([part.rows for part in same])
        together.append(float(same[0].aggregate(rows.sum(axis=0))))
    yield (*choices, ("over", TOGETHER)), float(np.mean(together))


def distinct(values: Iterable[Value]) -> list[Value]:
    """The values, each protocol once."""
    return list({(one.metric, one.choices): one for one in values}.values())
