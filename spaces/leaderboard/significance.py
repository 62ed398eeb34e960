"""The places that a paired test gives, from the files of a results folder.

They come from the bootstrap replicates beside the reports, compared as in the pipeline. Only where
a report has none, of schema 1, they come from the direction's ``significance.json``: nothing else
could tell that this file was edited. If neither exists, places are by value alone and marked as
untested. Bounds have none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped, rank_values
from ...pipelines.results import REPLICATES_FILE
from .data import Board, Entry
from .places import Place
from .runs import result_of

ComputedPlaces = Mapping[str, Mapping[str, Place]]  # metric -> label -> place


def stored_places(
    board: Board, entries: Sequence[Entry], metric: str
) -> Mapping[str, Place] | None:
    """The places of these entries in the direction's ``significance.json``, by label.

    The entries are of one setting, so the metric has one signature. ``None`` if the file does not
    name exactly the entries that have a value, because then it is older than the reports; and if
    all of these have replicates, from which :func:`computed_places` has the same places.
    """
    valued = [
        (entry, score)
        for entry in competing(entries)
        if (score := entry.report.score(metric)) and score.value is not None
    ]
    if not valued or all(_has_replicates(entry) for entry, _ in valued):
        return None
    known = board.places.get(entries[0].direction.name, {}).get(valued[0][1].signature, {})
    names = {entry.label: _name_in(known, entry) for entry, _ in valued}
    if None in names.values() or len(set(names.values())) < len(names):
        return None
    found = {label: known[name] for label, name in names.items() if name is not None}
    return found if max(place.last for place in found.values()) <= len(valued) else None


def computed_places(entries: Sequence[Entry]) -> ComputedPlaces:
    """Compare the replicates of all entries, for each metric whose values all have them."""
    entries = competing(entries)
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


def competing(entries: Iterable[Entry]) -> list[Entry]:
    """The entries that are ranked: all but the bounds."""
    return [entry for entry in entries if not entry.report.system.is_bound]


def replicates_of(entry: Entry) -> Mapping[str, Bootstrapped]:
    """The replicates beside an entry's report; none if the file is damaged or not there."""
    try:
        return result_of(entry).bootstrapped()
    except (InputError, OSError):
        return {}


def _has_replicates(entry: Entry) -> bool:
    """Whether there is a file of replicates beside the report, or beside those of all its runs."""
    return all(
        run.report.replicates_sha256 is not None or os.path.lexists(run.folder / REPLICATES_FILE)
        for run in entry.runs or (entry,)
    )


def _name_in(known: Mapping[str, Place], entry: Entry) -> str | None:
    """An entry's name in the significance file: its own or its folder's."""
    names = (entry.report.system.name, entry.folder.name)
    return next((name for name in names if name in known), None)
