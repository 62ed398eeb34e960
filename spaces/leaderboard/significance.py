"""Rank ranges: which places a system could take, given the sentences that were drawn.

They come from the direction's ``significance.json``, else from the bootstrap replicates beside the
reports, compared as the pipeline compares them. Where neither is there, places are by value alone
and are called untested.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from ...errors import InputError
from ...pipelines.ranking import Bootstrapped, rank
from ...pipelines.results import Stored
from .data import Board, Entry

Ranks = tuple[int, int]  # the first and the last place that cannot be excluded
ComputedRanks = Mapping[str, Mapping[str, Ranks]]  # metric -> label -> ranks
Name = TypeVar("Name", bound=Hashable)


def plain_ranks(values: Mapping[Name, float], higher_is_better: bool) -> dict[Name, Ranks]:
    """Places by value alone; equal values share theirs. Nothing is tested.

    >>> plain_ranks({"a": 3.0, "b": 5.0, "c": 3.0}, higher_is_better=True)
    {'a': (2, 3), 'b': (1, 1), 'c': (2, 3)}
    """
    array = np.array(list(values.values()), dtype=float) * (1 if higher_is_better else -1)
    ordered = np.sort(-array)
    first = np.searchsorted(ordered, -array, side="left") + 1
    last = np.searchsorted(ordered, -array, side="right")
    return {n: (int(a), int(b)) for n, a, b in zip(values, first, last, strict=True)}


def stored_ranks(board: Board, entries: Sequence[Entry], metric: str) -> Mapping[str, Ranks] | None:
    """What the direction's ``significance.json`` says of these entries, by label.

    The file ranks each system among those of its own signature. ``None`` where it does not name
    every entry that has a value, or counts more of them: then it is older than the reports.
    """
    valued = [e for e in entries if (s := e.report.score(metric)) and s.value is not None]
    if not valued:
        return None
    ranked = board.ranks.get(entries[0].direction.name, {}).get(metric, {})
    names = {entry.label: _name_in(ranked, entry) for entry in valued}
    if None in names.values() or len(set(names.values())) < len(names):
        return None
    found = {label: ranked[name] for label, name in names.items() if name is not None}
    return found if max(last for _, last in found.values()) <= len(valued) else None


def computed_ranks(entries: Sequence[Entry]) -> ComputedRanks:
    """Compare the replicates of all entries, for each metric whose every value has them."""
    replicates = {entry.label: _replicates(entry) for entry in entries}
    metrics = dict.fromkeys(score.metric for entry in entries for score in entry.report.scores)
    found: dict[str, dict[str, Ranks]] = {}
    for metric in metrics:
        systems: dict[str, Bootstrapped] = {}
        for entry in entries:
            score = entry.report.score(metric)
            if score is None or score.value is None:
                continue
            if metric not in replicates[entry.label]:
                break
            systems[entry.label] = replicates[entry.label][metric]
        else:
            if len({one.replicates.shape for one in systems.values()}) == 1:
                ranks = rank(metric, systems)
                found[metric] = {one.system: (one.low, one.high) for one in ranks}
    return found


def _name_in(ranked: Mapping[str, Ranks], entry: Entry) -> str | None:
    """What the significance file calls an entry: its name or its folder's."""
    names = (entry.report.system.name, entry.folder.name)
    return next((name for name in names if name in ranked), None)


def _replicates(entry: Entry) -> Mapping[str, Bootstrapped]:
    try:
        return Stored(entry.folder, entry.report).bootstrapped()
    except (InputError, OSError):
        return {}  # a damaged file: these ranks stay untested
