"""Learning curves of trained systems, read from ``curve.jsonl`` for a picture and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, MissingFileError
from ..trainers.learning.curve import CURVE_FILE, VALIDATION, read_curve
from ..trainers.system import open_system
from ..trainers.system_card import SYSTEM_STORE

_BINS = 80  # of a smoothed curve
SELECTION = "selection"


@dataclass(frozen=True)
class Series:
    """One value over the steps at which it was measured."""

    steps: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def smooth(self) -> Series:
        """Means over at most 80 stretches of equally many values; each at its mean step."""
        count = min(_BINS, len(self.values))
        steps = [float(part.mean()) for part in np.array_split(self.steps, count)]
        values = [float(part.mean()) for part in np.array_split(self.values, count)]
        return Series(tuple(round(step) for step in steps), tuple(values))

    def at(self, step: int) -> float:
        """The value of the last stretch that does not begin after a step."""
        smooth = self.smooth
        places = [i for i, one in enumerate(smooth.steps) if one <= step]
        return smooth.values[places[-1] if places else 0]


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


def learning_curve(system: str) -> LearningCurve:
    """The curve of a trained system, or of a training that is not finished.

    Args:
        system: a folder or Hub id of a system, or the folder of an interrupted training.

    Raises:
        MissingSystemError: neither.
        InputError: the system learned without steps, or its curve cannot be read.
    """
    folder = Path(system).expanduser()
    name = folder.resolve().name
    if not (folder / CURVE_FILE).is_file() or SYSTEM_STORE.is_model(folder):
        stored = open_system(system)
        folder, name = stored.folder, stored.card.name
    try:
        rows = read_curve(folder / CURVE_FILE)
    except MissingFileError as error:
        raise InputError(f"{system} has no learning curve: {name} learns without steps") from error
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for key, value in row.items():
            if key != "step" and isinstance(value, int | float):
                found.setdefault(key, []).append((int(row["step"]), float(value)))
    if not found:
        raise InputError(f"{folder / CURVE_FILE} has no values")
    series = {
        key: Series(tuple(step for step, _ in some), tuple(value for _, value in some))
        for key, some in found.items()
    }
    scores = {k.removeprefix(VALIDATION): s for k, s in series.items() if k.startswith(VALIDATION)}
    losses = {key: one for key, one in series.items() if not key.startswith(VALIDATION)}
    steps = max(one.steps[-1] for one in series.values())
    return LearningCurve(name, losses, scores, steps, _chosen(scores.get(SELECTION)))


def _chosen(selection: Series | None) -> int | None:
    """The first of the best, as the loop keeps it."""
    if selection is None:
        return None
    return selection.steps[int(np.argmax(selection.values))]


def curve_rows(curves: Sequence[LearningCurve]) -> list[tuple[str, ...]]:
    """Lines for a terminal: system, what, at the start, at the step that was chosen, at the end."""
    rows: list[tuple[str, ...]] = []
    for curve in curves:
        chosen = "none" if curve.chosen is None else f"{curve.chosen:,}"
        rows.append((curve.name, "step", "1", chosen, f"{curve.steps:,}"))
        for name, series in curve.losses.items():
            rows.append((curve.name, name, *_three(series.smooth, series, curve.chosen)))
        for name, series in curve.scores.items():
            at = series.values[series.steps.index(curve.chosen)] if curve.chosen else None
            values = (series.values[0], at, series.values[-1])
            rows.append((curve.name, name, *(_number(value) for value in values)))
    return rows


def _three(smooth: Series, series: Series, chosen: int | None) -> tuple[str, str, str]:
    at = None if chosen is None else series.at(chosen)
    return _number(smooth.values[0]), _number(at), _number(smooth.values[-1])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
