"""One metric over all directions: systems x directions, with a mean only if it is meaningful.

A column is one direction scored in one way, so that what stands in a column is comparable.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...datasets_scripts.directions import Direction
from ...errors import InputError
from ...metrics.registry import METRICS
from ...metrics.signature import Signature
from .data import Board, Entry, distinct
from .facts import Measure
from .groups import protocol, protocol_key
from .runs import together

_AT_ONCE = 256  # systems that are compared with all others in one step: of 10,000, 20 MB a table


@dataclass(frozen=True)
class OverviewColumn:
    """One direction, scored in one way."""

    direction: Direction
    signature: str
    edition: str | None  # tells columns of one direction apart, where there are several

    @property
    def key(self) -> str:
        """Unique among the columns of a table."""
        return f"{self.direction.name}#{self.edition}" if self.edition else self.direction.name


@dataclass(frozen=True)
class OverviewRow:
    """One system: its value in each column, ``None`` if it has none.

    Attributes:
        ranks: its rank by value among the systems of each column; ``None`` throughout for a bound.
        won: the share of the other systems that it beats, of the bounds for a bound: the order.
        mean: of its values; ``None`` unless it has all of them and a mean is meaningful.
        mean_rank: over the columns that it has; compare it only between complete rows.
    """

    system: str
    entries: tuple[Entry | None, ...]
    values: tuple[float | None, ...]
    ranks: tuple[float | None, ...]
    mean: float | None
    won: float = 0.5

    @cached_property
    def is_bound(self) -> bool:
        """Whether it is shown without a rank."""
        return any(entry is not None and entry.facts.is_bound for entry in self.entries)

    @property
    def covered(self) -> int:
        """How many columns it has a value in."""
        return sum(value is not None for value in self.values)

    @property
    def mean_rank(self) -> float | None:
        """The mean of its ranks."""
        present = [rank for rank in self.ranks if rank is not None]
        return sum(present) / len(present) if present else None


@dataclass(frozen=True)
class Overview:
    """One metric over directions, scored with one protocol wherever there is a choice.

    Attributes:
        metrics: the available metrics.
        protocols: the available protocols of this metric.
        datasets: those with this metric; ``dataset`` is the one shown, or empty for all.
        rows: systems before bounds, both best first; see :func:`shares_won`.
        why_no_mean: why no system has a mean; ``None`` if complete systems have one.
        why_no_rank: the same of the mean rank.
    """

    metric: str
    metrics: tuple[str, ...]
    protocol: str
    protocols: tuple[str, ...]
    dataset: str
    datasets: tuple[str, ...]
    columns: tuple[OverviewColumn, ...]
    rows: tuple[OverviewRow, ...]
    higher_is_better: bool
    unit: str
    why_no_mean: str | None
    why_no_rank: str | None

    @property
    def systems(self) -> tuple[OverviewRow, ...]:
        """The rows that are ranked."""
        return tuple(row for row in self.rows if not row.is_bound)

    @property
    def bounds(self) -> tuple[OverviewRow, ...]:
        """The rows that are not."""
        return tuple(row for row in self.rows if row.is_bound)


def build_overview(
    board: Board, metric: str = "", wanted: str = "", dataset: str = ""
) -> Overview | None:
    """The table of one metric; ``None`` if nothing was measured.

    Args:
        board: the results.
        metric: if it is not available, Joint, otherwise the metric with most entries.
        wanted: the key of a protocol; if it is not available, the one with most entries.
        dataset: only the directions of this one; if it is not available, all.
    """
    if not board.entries:
        return None
    found: Counter[str] = Counter()
    for layout, count in Counter(entry.layout for entry in board.entries).items():
        found.update({measure.metric: count for measure in layout})
    known = list(METRICS)
    metrics = sorted(found, key=lambda m: (known.index(m) if m in METRICS else len(known), m))
    if metric not in found:
        metric = "joint" if "joint" in found else max(metrics, key=lambda m: found[m])
    by_protocol: dict[str, list[Entry]] = {}
    for entry in board.entries:
        for measure in entry.layout:
            if measure.metric == metric:  # several, by several protocols
                alone = replace(entry, columns=frozenset({measure.column}))
                by_protocol.setdefault(protocol(measure.column), []).append(alone)
    protocols = sorted(by_protocol, key=lambda p: (-len(by_protocol[p]), p))
    chosen = next((p for p in protocols if protocol_key(p) == wanted), protocols[0])
    all_entries = _one_way_each([by_protocol[p] for p in (chosen, *protocols) if p in by_protocol])
    used = {e.direction.dataset for e in all_entries}
    datasets = tuple(dict.fromkeys(d.dataset for d in board.directions if d.dataset in used))
    dataset = dataset if dataset in datasets else ""
    entries = [e for e in all_entries if dataset in ("", e.direction.dataset)]
    columns = _columns(entries, board.directions)
    sample = _measure(entries[0])
    why_no_mean = _why_no_mean(columns, sample.unit)
    return Overview(
        metric=metric,
        metrics=tuple(metrics),
        protocol=chosen,
        protocols=tuple(protocols),
        dataset=dataset,
        datasets=datasets,
        columns=tuple(columns),
        rows=tuple(_rows(entries, columns, sample, means=why_no_mean is None)),
        higher_is_better=sample.higher_is_better,
        unit=sample.unit,
        why_no_mean=why_no_mean,
        why_no_rank=_why_no_rank(columns),
    )


def _one_way_each(protocols: Sequence[Sequence[Entry]]) -> list[Entry]:
    """The entries of the first protocol; where it has none of a direction, those of the next."""
    found: list[Entry] = []
    for entries in protocols:
        covered = {entry.direction.name for entry in found}
        found += (entry for entry in entries if entry.direction.name not in covered)
    return found


def _measure(entry: Entry) -> Measure:
    """What the only score is of an entry that has no other."""
    return entry.layout.measures[0]


def _value(entry: Entry | None) -> float | None:
    if entry is None:
        return None
    measures = entry.facts.layout.measures
    column = _measure(entry).column
    place = next(i for i, measure in enumerate(measures) if measure.column == column)
    value = float(entry.facts.numbers[place, 0])
    return None if math.isnan(value) else value


def _columns(entries: Sequence[Entry], directions: Sequence[Direction]) -> list[OverviewColumn]:
    """One column per signature, in the order of the directions."""
    found: dict[tuple[str, str], Direction] = {}
    for entry in entries:
        found[entry.direction.name, _measure(entry).column] = entry.direction
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
    unranked = _why_no_rank(columns)
    if unranked:
        return unranked
    if len({protocol(column.signature) for column in columns}) > 1:
        return "the directions were not all scored in the same way"
    if unit == "perplexity" or len({_language_model(column) for column in columns}) > 1:
        return "perplexities of different language models have no common scale"
    return None


def _why_no_rank(columns: Sequence[OverviewColumn]) -> str | None:
    if len(columns) < 2:
        return "there is only one direction"
    if len({column.direction.name for column in columns}) < len(columns):
        return "a direction was scored in several ways, which cannot be averaged"
    return None


def _language_model(column: OverviewColumn) -> str | None:
    try:
        return Signature.parse(column.signature).as_dict().get("lm")
    except InputError:  # somebody's report may say anything
        return None


def _rows(
    entries: Sequence[Entry], columns: Sequence[OverviewColumn], sample: Measure, *, means: bool
) -> list[OverviewRow]:
    """Systems, then bounds, each best first."""
    cells = _cells(entries, columns)
    rows = [
        OverviewRow(
            system, tuple(own), values, (None,) * len(columns), _mean(values) if means else None
        )
        for system, own in cells.items()
        for values in [tuple(map(_value, own))]
    ]
    found: list[OverviewRow] = []
    for bound in (False, True):
        block = [row for row in rows if row.is_bound is bound]
        ranks = column_ranks([row.values for row in block], sample.higher_is_better)
        placed = [
            replace(row, won=won) if bound else replace(row, won=won, ranks=tuple(own))
            for row, won, own in zip(block, shares_won(ranks), ranks, strict=True)
        ]
        found += sorted(placed, key=lambda row: (-row.won, -row.covered, row.system.casefold()))
    return found


def _cells(
    entries: Sequence[Entry], columns: Sequence[OverviewColumn]
) -> Mapping[str, list[Entry | None]]:
    """By system, its entry in each column."""
    place = {(c.direction.name, c.signature): i for i, c in enumerate(columns)}
    by_column: dict[int, list[Entry]] = {}
    for entry in entries:
        i = place[entry.direction.name, _measure(entry).column]
        by_column.setdefault(i, []).append(entry)
    by_system: dict[str, list[Entry | None]] = {}
    for i, found in by_column.items():
        for entry in together(distinct(found)):
            by_system.setdefault(entry.label, [None] * len(columns))[i] = entry
    return by_system


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if len(present) == len(values) else None


def column_ranks(
    rows: Sequence[Sequence[float | None]], higher_is_better: bool
) -> list[list[float | None]]:
    """The rank of each value in its column, 1 for the best; equal values share the mean of theirs.

    >>> column_ranks([[3.0, 1.0], [5.0, None], [3.0, 2.0]], True)
    [[2.5, 2.0], [1.0, None], [2.5, 1.0]]
    """
    if not rows:
        return []
    values = np.array(rows, dtype=float)  # None becomes NaN
    ranks = ranks_of(values if higher_is_better else -values)
    return [[None if np.isnan(r) else float(r) for r in row] for row in ranks]


def ranks_of(values: np.ndarray) -> np.ndarray:
    """Ranks along the first axis, 1 for the highest; equal values share the mean, NaN has none.

    >>> ranks_of(np.array([3.0, 5.0, 3.0]))
    array([2.5, 1. , 2.5])
    """
    from scipy.stats import rankdata  # half a second, which no other view needs

    return np.asarray(rankdata(-values, axis=0, nan_policy="omit"))


def shares_won(ranks: Sequence[Sequence[float | None]]) -> list[float]:
    """The share of the others that each one beats; a draw is half, and one that met nobody has 0.5.

    A system's rank in a direction depends on who else was scored there, so that mean ranks over
    different directions do not compare. Two systems are compared on the directions that both have:
    the one with the better mean rank there wins.

    >>> shares_won([[1.0, 2.0], [2.0, None], [None, 1.0]])
    [0.5, 0.0, 1.0]
    """
    if not ranks:
        return []
    table = np.array(ranks, dtype=float)
    present = (~np.isnan(table)).astype(float)
    filled = np.where(present > 0, table, 0.0)
    share: list[float] = []
    for start in range(0, len(table), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        # For each pair, both summed over the columns that both have: own ranks, and the other's.
        ahead = present[some] @ filled.T - filled[some] @ present.T
        met = present[some] @ present.T > 0
        met[np.arange(len(met)), start + np.arange(len(met))] = False
        won = (((ahead > 0) + 0.5 * (ahead == 0)) * met).sum(axis=1)
        others = met.sum(axis=1)
        share += np.where(others > 0, won / np.maximum(others, 1), 0.5).tolist()
    return [round(one, 9) for one in share]
