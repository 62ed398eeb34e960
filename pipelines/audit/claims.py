"""The numbers that are claimed, and how exactly they were printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from ...datasets_scripts.tables import read_delimited
from ...errors import InputError, UnknownNameError, unknown_name
from ...metrics.registry import METRICS, metric_facts

# What papers call a number -> what is computed for it; "bleu" is any BLEU against human rewrites.
NAMES = {
    "bleu": "bleu",
    "ref-bleu": "bleu",
    "self-bleu": "s_bleu",
    "s-bleu": "s_bleu",
    "accuracy": "acc",
    "perplexity": "ppl",
    "chrf": "chrf",
    "self-chrf": "s_chrf",
}
# Unit -> what its numbers can be, and in words.
_POSSIBLE = {
    "percent": (0.0, 100.0, "in percent, from 0 to 100"),
    "fraction": (0.0, 1.0, "a fraction, from 0 to 1"),
    "cosine": (-1.0, 1.0, "a cosine, from -1 to 1"),
    "perplexity": (1.0, float("inf"), "a perplexity, 1 or more"),
}
# Fractions that are made of cosines, which may be negative.
_COSINES = frozenset(
    f"{against}_{name}"
    for against in ("s", "r", "multi")
    for name in ("bert", "sim", "embedding_average", "greedy_matching", "vector_extrema")
) | {"cps"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Claim:
    """One published number.

    Attributes:
        metric: ``bleu`` or ``chrf`` (against any human rewrites), or the name of a metric.
        text: as it was printed, ``55.2``.
        value: in the metric's unit.
        tolerance: half a unit of the last printed digit: values as near as this round to the claim.
    """

    metric: str
    text: str
    value: float
    tolerance: float

    def is_met_by(self, value: float) -> bool:
        """Whether a value, rounded as the claim was, is the claim."""
        return abs(value - self.value) <= self.tolerance + 1e-9

    def __str__(self) -> str:
        """``bleu = 55.2``."""
        return f"{self.metric} = {self.text}"


@dataclass(frozen=True)
class Row:
    """One line of a published table.

    Attributes:
        system: the name in the table.
        outputs: a file, or ``published:NAME``, for each direction.
        directions: the names of the directions.
        claims: the numbers of the line.
        line: its number in the file.
    """

    system: str
    outputs: tuple[str, ...]
    directions: tuple[str, ...]
    claims: tuple[Claim, ...]
    line: int


def parse_claim(text: str) -> Claim:
    """A claim from ``bleu=55.2``.

    A percentage may be printed as a fraction: 0.552 is 55.2.

    Raises:
        InputError: not ``METRIC=NUMBER``, or a number that the metric's unit does not have.
        UnknownNameError: no such metric.

    >>> parse_claim("bleu=55.2")
    Claim(metric='bleu', text='55.2', value=55.2, tolerance=0.05)
    """
    name, separator, number = (part.strip() for part in text.partition("="))
    if not (separator and name and _NUMBER.fullmatch(number)):
        raise InputError(f"--claim {text!r} is not METRIC=NUMBER, such as bleu=55.2")
    return _claim(name, number)


def _claim(name: str, number: str) -> Claim:
    metric = _metric_of(name)
    exponent = Decimal(number).as_tuple().exponent
    assert isinstance(exponent, int)  # noqa: S101 - a finite number
    value, tolerance = float(number), 0.5 * 10.0**exponent
    if exponent <= -2 and 0 < value <= 1 and is_percent(metric):
        value, tolerance = 100 * value, 100 * tolerance
    _check_possible(name, metric, number, value)
    return Claim(metric, number, value, tolerance)


def _check_possible(name: str, metric: str, number: str, value: float) -> None:
    """Refuse what no protocol can give: a slip of the pen, or a number in another unit."""
    unit = "percent" if is_percent(metric) else metric_facts(metric).unit
    if unit == "number":
        return
    low, high, scale = _POSSIBLE["cosine" if metric in _COSINES else unit]
    if low <= value <= high:
        return
    hint = ""
    if unit == "fraction" and 1 < value <= 100:
        hint = f". If {number} was printed as a percentage, claim {Decimal(number) / 100}"
    raise InputError(f"{name} = {number} is impossible: {name} is {scale}{hint}")


def _metric_of(name: str) -> str:
    key = name.lower()
    metric = NAMES.get(key, key.replace("-", "_"))
    if metric not in (*NAMES.values(), *METRICS):
        raise unknown_name("metric of a claim", name, dict.fromkeys([*NAMES, *METRICS]))
    return metric


def is_percent(metric: str) -> bool:
    """Whether the metric's unit is percent."""
    return metric not in METRICS or metric_facts(metric).unit == "percent"


def read_table(path: Path) -> list[Row]:
    """A published table as CSV: one line a system, one column a claim.

    Columns: ``system``, ``outputs`` and ``direction`` (several are separated by ``;``, the first
    file is of the first direction); every other column is a metric, and an empty cell is no claim.
    Files are relative to the table's folder.

    Raises:
        MissingFileError: no such file.
        InputError: a column is missing, or a line is wrong; names the line.
        UnknownNameError: a column is no metric.
    """
    header, lines = read_delimited(path, str(path))
    columns = [name for name in header if name]
    if missing := [name for name in ("system", "outputs", "direction") if name not in columns]:
        raise InputError(
            f"{path}: no column {', '.join(missing)}; needed: system, outputs, direction, and a "
            "column for each metric"
        )
    metrics = [name for name in columns if name not in ("system", "outputs", "direction")]
    if not metrics:
        raise InputError(f"{path}: no column with claimed numbers, such as bleu")
    for name in metrics:
        try:
            _metric_of(name)
        except UnknownNameError as error:
            raise UnknownNameError(f"{path}, column {name!r}: {error}") from error
    rows = [_row(path, line, cells, metrics) for line, cells in lines]
    if not rows:
        raise InputError(f"{path}: no line below the header")
    return rows


def _row(path: Path, line: int, cells: Mapping[str, str], metrics: Sequence[str]) -> Row:
    where = f"{path}, line {line}"
    outputs, directions = (
        tuple(part.strip() for part in cells[name].split(";") if part.strip())
        for name in ("outputs", "direction")
    )
    if not outputs or len(outputs) != len(directions):
        raise InputError(
            f"{where}: {len(outputs)} outputs and {len(directions)} directions: give one file a "
            "direction, separated by ';'"
        )
    claims = []
    for name in metrics:
        number = cells[name].strip()
        if not number:
            continue
        if not _NUMBER.fullmatch(number):
            raise InputError(
                f"{where}: {name} is {number!r}: a plain number is needed, or an empty cell if "
                "nothing is claimed"
            )
        try:
            claims.append(_claim(name, number))
        except InputError as error:
            raise InputError(f"{where}: {error}") from error
    placed = tuple(
        one if one.startswith("published:") else str(path.parent / one) for one in outputs
    )
    return Row(cells["system"].strip() or f"line {line}", placed, directions, tuple(claims), line)
