"""Cells with scores in tables that people bring: a number, or nothing."""

from __future__ import annotations

import math

from ...errors import InputError


def read_score(cell: str, where: str) -> float | None:
    """The number in a cell; ``None`` if the cell is empty, which alone says that there is none.

    ``NA`` and ``nan`` are refused: they may as well be the slip of whoever computed the scores.

    Args:
        cell: as it is in the file; spaces around it do not matter.
        where: file, line and column, for the message.

    Raises:
        InputError: anything else that is not a finite number.

    >>> read_score(" 4.5 ", "my.csv, line 2, column style"), read_score("", "")
    (4.5, None)
    """
    text = cell.strip()
    if not text:
        return None
    try:
        value = math.nan if "_" in text else float(text)  # Python also reads 1_000
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what = "is infinite" if math.isinf(value) else "is not a number"
        raise InputError(
            f"{where}: {cell!r} {what}: a finite number is needed, with a decimal point. If there "
            "is no score, leave the cell empty"
        )
    return value
