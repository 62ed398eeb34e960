"""The places that a paired test gives.

They come from the bootstrap replicates beside the reports, compared as in the pipeline. Where the
systems of a column cannot all be compared, places are by value alone and marked as untested.
Bounds have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped, rank_values
from .data import Entry
from .places import Place
from .runs import result_of

ComputedPlaces = Mapping[str, Mapping[str, Place]]  # metric -> label -> place


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
