"""Where a system stands in a column: the ranks it could have, and whether it could be the best.

A paired test says so, of the bootstrap replicates beside the reports, compared as in the pipeline.
Where the systems of a column cannot all be compared, places are by value alone and marked as
untested. Bounds have none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped, rank_values
from .data import Entry
from .runs import result_of

MOST_TESTED = 500  # systems: each two are compared, and the replicates of 500 take a GB
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Place:
    """One system's place among the ranked systems of a column; bounds have none.

    Attributes:
        first, last: the ranks that cannot be excluded.
        best: whether it is the best or not significantly different from the best: what bold means.
    """

    first: int
    last: int
    best: bool

    @property
    def ranks(self) -> tuple[int, int]:
        """The first and the last rank."""
        return self.first, self.last


ComputedPlaces = Mapping[str, Mapping[str, Place]]  # metric -> label -> place


def plain_ranks(values: np.ndarray, higher_is_better: bool) -> tuple[np.ndarray, np.ndarray]:
    """First and last rank by value alone, shared by equal values, without a test; 0 for NaN.

    >>> [ranks.tolist() for ranks in plain_ranks(np.array([3.0, 5.0, np.nan, 3.0]), True)]
    [[2, 1, 0, 2], [3, 1, 0, 3]]
    """
    worse = -values if higher_is_better else values
    ordered = np.sort(worse[~np.isnan(worse)])
    first = np.searchsorted(ordered, worse, side="left") + 1
    last = np.searchsorted(ordered, worse, side="right")
    return np.where(np.isnan(worse), 0, first), np.where(np.isnan(worse), 0, last)


def plain_places(values: Mapping[Name, float], higher_is_better: bool) -> dict[Name, Place]:
    """The same by name."""
    first, last = plain_ranks(np.array(list(values.values()), dtype=float), higher_is_better)
    return {
        name: Place(int(a), int(b), best=int(a) == 1)
        for name, a, b in zip(values, first, last, strict=True)
    }


def are_tested(entries: Iterable[Entry]) -> bool:
    """Whether the ranked ones among entries are few enough to be compared with each other."""
    return sum(not entry.facts.is_bound for entry in entries) <= MOST_TESTED


def computed_places(entries: Sequence[Entry]) -> ComputedPlaces:
    """Compare the replicates of all entries, for each metric whose values all have them."""
    entries = [entry for entry in entries if not entry.facts.is_bound]
    replicates = {entry.label: replicates_of(entry) for entry in entries}
    higher_is_better = {
        score.metric: score.higher_is_better for entry in entries for score in entry.report.scores
    }
    found: dict[str, dict[str, Place]] = {}
    for metric in higher_is_better:
        systems: dict[str, Bootstrapped] = {}
        for entry in entries:
            score = entry.report.score(metric)
            if score is None or score.value is None:
                continue
            if score.key not in replicates[entry.label]:
                break
            systems[entry.label] = replicates[entry.label][score.key]
        else:
            if len({one.replicates.shape for one in systems.values()}) == 1:
                found[metric] = tested_places(systems, higher_is_better=higher_is_better[metric])
    return found


def tested_places(
    systems: Mapping[str, Bootstrapped], *, higher_is_better: bool
) -> dict[str, Place]:
    """The places of systems with replicates of the same shape, as the pipeline ranks them."""
    ranks = rank_values(systems, higher_is_better=higher_is_better)
    return {one.system: Place(one.low, one.high, one.ties_best) for one in ranks}


def replicates_of(entry: Entry) -> Mapping[str, Bootstrapped]:
    """The replicates beside an entry's report; none if the file is damaged or not there."""
    try:
        return result_of(entry).bootstrapped()
    except (InputError, OSError):
        return {}


def bold(place: Place | None, ranked: int) -> bool:
    """Whether a value is bold: it could be the best, and there is another to be better than."""
    return place is not None and place.best and ranked > 1
