"""Learning curves of trained systems: where they are read from, and their table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError, MissingFileError
from ..trainers.learning.curve import CURVE_FILE, read_curve
from ..trainers.learning.curve_series import LearningCurve, Series
from ..trainers.system import open_system
from ..trainers.system_card import SYSTEM_STORE


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
    curve = LearningCurve.of(name, rows)
    if not curve.steps:
        raise InputError(f"{folder / CURVE_FILE} has no values")
    return curve


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
