"""A learning curve by loss and score, from the rows of ``curve.jsonl``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from .curve import VALIDATION, Row

_STRETCHES = 80  # of a smoothed curve
_SELECTION = "selection"


@dataclass(frozen=True)
class Series:
    """One value over the steps at which it was measured."""

    steps: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def smooth(self) -> Series:
        """Means over at most 80 stretches of equally many values; each at its mean step."""
        count = min(_STRETCHES, len(self.values))
        size, more = divmod(len(self.values), count)
        cuts = [i * size + min(i, more) for i in range(count + 1)]
        parts = [slice(cuts[i], cuts[i + 1]) for i in range(count)]
        return Series(
            tuple(round(fmean(self.steps[part])) for part in parts),
            tuple(fmean(self.values[part]) for part in parts),
        )

    def at(self, step: int) -> float | None:
        """The value of the last stretch that is not after a step; ``None``: it began later."""
        smooth = self.smooth
        places = [i for i, one in enumerate(smooth.steps) if one <= step]
        return smooth.values[places[-1]] if places else None


@dataclass(frozen=True)
class LearningCurve:
    """How a system learned.

    Attributes:
        name: of the system.
        losses: by name, ``generator/self``, as each was at every step; unsmoothed.
        scores: on validation data, by name.
        steps: how many there were.
        chosen: the step whose weights were kept; ``None`` before the first validation.
    """

    name: str
    losses: Mapping[str, Series]
    scores: Mapping[str, Series]
    steps: int
    chosen: int | None

    @classmethod
    def of(cls, name: str, rows: Iterable[Row]) -> LearningCurve:
        """The values of some rows, by name; what is no finite number is left out."""
        found: dict[str, list[tuple[int, float]]] = {}
        for row in rows:
            for key, value in row.items():
                if key != "step" and isinstance(value, int | float) and math.isfinite(value):
                    found.setdefault(key, []).append((int(row["step"]), float(value)))
        series = {
            key: Series(tuple(step for step, _ in some), tuple(value for _, value in some))
            for key, some in found.items()
        }
        scores = {
            key.removeprefix(VALIDATION): one
            for key, one in series.items()
            if key.startswith(VALIDATION)
        }
        losses = {key: one for key, one in series.items() if not key.startswith(VALIDATION)}
        steps = max((one.steps[-1] for one in series.values()), default=0)
        return cls(name, losses, scores, steps, _chosen(scores.get(_SELECTION)))


def _chosen(selection: Series | None) -> int | None:
    """The first of the best, as the loop keeps it."""
    if selection is None:
        return None
    return selection.steps[selection.values.index(max(selection.values))]
