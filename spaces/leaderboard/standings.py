"""The overview's tests: the places in each column, and how certain a mean rank is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...pipelines.ranking import Bootstrapped
from .data import Entry
from .overview import Overview, ranks_of
from .places import MOST_TESTED, Place, plain_places, replicates_of, tested_places

_INTERVAL = (2.5, 97.5)  # percentiles


@dataclass(frozen=True)
class Standings:
    """What the replicates of all systems of an overview say.

    Attributes:
        places: of each column, by system; empty while they are being computed.
        tested: of each column, whether its places are from a paired test.
        mean_ranks: by system, the interval of its mean rank over the columns that it has.
    """

    places: Sequence[Mapping[str, Place]] = ()
    tested: Sequence[bool] = ()
    mean_ranks: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def standings(overview: Overview) -> Standings:
    """Read the replicates of all ranked systems and compare them, column by column."""
    replicates = [_column_replicates(overview, i) for i in range(len(overview.columns))]
    places, tested = [], []
    for i, found in enumerate(replicates):
        higher = overview.higher_is_better
        tested.append(bool(found))
        places.append(
            tested_places(found, higher_is_better=higher)
            if found
            else plain_places(_values(overview, i), higher)
        )
    return Standings(places, tested, mean_rank_intervals(overview, replicates))


def _entries(overview: Overview, i: int) -> dict[str, Entry]:
    """The ranked entries with a value in a column, by system."""
    return {
        row.system: entry
        for row in overview.systems
        if (entry := row.entries[i]) is not None and row.values[i] is not None
    }


def _values(overview: Overview, i: int) -> dict[str, float]:
    return {row.system: v for row in overview.systems if (v := row.values[i]) is not None}


def _column_replicates(overview: Overview, i: int) -> Mapping[str, Bootstrapped]:
    """The replicates of a column's systems; none unless all of them have some of one shape."""
    found: dict[str, Bootstrapped] = {}
    entries = _entries(overview, i)
    for system, entry in entries.items() if len(entries) <= MOST_TESTED else ():
        own = replicates_of(entry).get(entry.report.scores[0].key)
        if own is None:
            return {}
        found[system] = own
    return found if len({one.replicates.shape for one in found.values()}) == 1 else {}


def mean_rank_intervals(
    overview: Overview, replicates: Sequence[Mapping[str, Bootstrapped]]
) -> dict[str, tuple[float, float]]:
    """In each replicate, rank the systems in every column; then the mean over a system's columns.

    A system has an interval if all its columns have replicates. It contains the observed mean rank:
    a best system can only lose places when sentences are drawn again, so that the percentiles alone
    could leave out what was seen.
    """
    ranks: list[dict[str, np.ndarray]] = []
    for found in replicates:
        drawn = np.array([one.replicates for one in found.values()])
        drawn = drawn if overview.higher_is_better else -drawn
        if np.isnan(drawn).all():  # too few sentences, or too many systems
            ranks.append({})
            continue
        drawn = np.where(np.isnan(drawn), -np.inf, drawn)  # undefined is worst
        ranks.append(dict(zip(found, ranks_of(drawn), strict=True)))
    intervals = {}
    for row in overview.systems:
        own = [i for i, value in enumerate(row.values) if value is not None]
        if own and all(row.system in ranks[i] for i in own):
            means = np.mean([ranks[i][row.system] for i in own], axis=0)
            seen = float(np.mean([rank for rank in row.ranks if rank is not None]))
            low, high = map(float, np.percentile(means, _INTERVAL))
            intervals[row.system] = (min(low, seen), max(high, seen))
    return intervals
