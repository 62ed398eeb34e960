"""Where a system stands in a column: the ranks it could have, and whether it could be the best.

A paired test says so, of the bootstrap replicates beside the reports, compared as in the pipeline.
Where the systems of a column cannot all be compared, places are by value alone and marked as
untested. Bounds have none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped, rank_values
from .data import Entry
from .runs import result_of

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


def plain_places(values: Mapping[Name, float], higher_is_better: bool) -> dict[Name, Place]:
    """Places by value alone, shared by equal values, without a test.

    >>> {name: place.ranks for name, place in plain_places({"a": 3.0, "b": 5.0}, True).items()}
    {'a': (2, 2), 'b': (1, 1)}
    """
    array = np.array(list(values.values()), dtype=float) * (1 if higher_is_better else -1)
    ordered = np.sort(-array)
    first = np.searchsorted(ordered, -array, side="left") + 1
    last = np.searchsorted(ordered, -array, side="right")
    return {
        name: Place(int(a), int(b), best=int(a) == 1)
        for name, a, b in zip(values, first, last, strict=True)
    }


def computed_places(entries: Sequence[Entry]) -> ComputedPlaces:
    """Compare the replicates of all entries, for each metric whose values all have them."""
    entries = [entry for entry in entries if not entry.report.system.is_bound]
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
