"""One metric over all directions: systems x directions, with a mean only where it is one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...datasets_scripts.directions import Direction
from ...metrics.result import METRICS
from .data import Board, Entry, distinct
from .groups import protocol, protocol_key


@dataclass(frozen=True)
class OverviewColumn:
    """One direction, scored in one way."""

    direction: Direction
    signature: str
    edition: str | None  # tells columns of one direction apart, where there are several


@dataclass(frozen=True)
class OverviewRow:
    """One system: its value in each column, ``None`` where there is none."""

    system: str
    entries: tuple[Entry | None, ...]
    values: tuple[float | None, ...]
    mean: float | None


@dataclass(frozen=True)
class Overview:
    """One metric, scored by one protocol, over directions.

    Attributes:
        metrics: the metrics there are to choose from.
        protocols: for this metric, the protocols there are to choose from.
        why_no_mean: why no system has a mean; ``None`` where those that are complete do.
    """

    metric: str
    metrics: tuple[str, ...]
    protocol: str
    protocols: tuple[str, ...]
    columns: tuple[OverviewColumn, ...]
    rows: tuple[OverviewRow, ...]
    higher_is_better: bool
    unit: str
    why_no_mean: str | None


def build_overview(board: Board, metric: str = "", wanted: str = "") -> Overview | None:
    """The table of one metric; ``None`` where nothing was measured at all.

    Args:
        board: the results.
        metric: Joint, else the one with most entries, where this one is not there.
        wanted: the key of a protocol; the one with most entries where this one is not there.
    """
    found = Counter(score.metric for entry in board.entries for score in entry.report.scores)
    if not found:
        return None
    known = list(METRICS)
    metrics = sorted(found, key=lambda m: (known.index(m) if m in METRICS else len(known), m))
    if metric not in found:
        metric = "joint" if "joint" in found else max(metrics, key=lambda m: found[m])
    by_protocol: dict[str, list[Entry]] = {}
    for entry in board.entries:
        score = entry.report.score(metric)
        if score is not None:
            by_protocol.setdefault(protocol(score.signature), []).append(entry)
    protocols = sorted(by_protocol, key=lambda p: (-len(by_protocol[p]), p))
    chosen = next((p for p in protocols if protocol_key(p) == wanted), protocols[0])
    entries = by_protocol[chosen]
    columns = _columns(entries, metric, board.directions)
    sample = entries[0].report.score(metric)
    if sample is None:  # cannot be: they were gathered by having it
        raise RuntimeError(f"{entries[0].label} has no {metric}")
    why_no_mean = _why_no_mean(columns, sample.unit)
    rows = _rows(entries, metric, columns, means=why_no_mean is None)
    sign = -1 if sample.higher_is_better else 1
    rows.sort(key=lambda row: _order(row, sign))
    return Overview(
        metric=metric,
        metrics=tuple(metrics),
        protocol=chosen,
        protocols=tuple(protocols),
        columns=tuple(columns),
        rows=tuple(rows),
        higher_is_better=sample.higher_is_better,
        unit=sample.unit,
        why_no_mean=why_no_mean,
    )


def _columns(
    entries: Sequence[Entry], metric: str, directions: Sequence[Direction]
) -> list[OverviewColumn]:
    """A column for each signature, in the order of the directions."""
    found: dict[tuple[str, str], Direction] = {}
    for entry in entries:
        score = entry.report.score(metric)
        if score is not None:
            found[entry.direction.name, score.signature] = entry.direction
    order = {direction.name: place for place, direction in enumerate(directions)}
    names = [name for name, _ in found]
    return [
        OverviewColumn(direction, signature, _edition(signature) if names.count(name) > 1 else None)
        for (name, signature), direction in sorted(
            found.items(), key=lambda item: (order[item[0][0]], item[0])
        )
    ]


def _edition(signature: str) -> str:
    return hashlib.sha256(signature.encode()).hexdigest()[:6]


def _why_no_mean(columns: Sequence[OverviewColumn], unit: str) -> str | None:
    if len(columns) < 2:
        return "there is one direction only"
    if len({column.direction.name for column in columns}) < len(columns):
        return "a direction was scored in several ways, which do not mix"
    if unit == "perplexity":
        return "perplexities under different language models have no common scale"
    return None


def _rows(
    entries: Sequence[Entry], metric: str, columns: Sequence[OverviewColumn], *, means: bool
) -> list[OverviewRow]:
    place = {(c.direction.name, c.signature): i for i, c in enumerate(columns)}
    by_column: dict[int, list[Entry]] = {}
    for entry in entries:
        score = entry.report.score(metric)
        if score is not None:
            by_column.setdefault(place[entry.direction.name, score.signature], []).append(entry)
    by_system: dict[str, list[Entry | None]] = {}
    for i, found in by_column.items():
        for entry in distinct(found):
            by_system.setdefault(entry.label, [None] * len(columns))[i] = entry
    rows = []
    for system, own in by_system.items():
        scores = [entry.report.score(metric) if entry else None for entry in own]
        values = tuple(score.value if score else None for score in scores)
        present = [value for value in values if value is not None]
        complete = means and len(present) == len(values)
        mean = sum(present) / len(present) if complete else None
        rows.append(OverviewRow(system, tuple(own), values, mean))
    return rows


def _order(row: OverviewRow, sign: int) -> tuple[bool, float, int, str]:
    """Complete systems by mean; then those with most directions; then by name."""
    missing = sum(value is None for value in row.values)
    mean = sign * row.mean if row.mean is not None else 0.0
    return row.mean is None, mean, missing, row.system.casefold()
