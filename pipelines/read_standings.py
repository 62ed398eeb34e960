"""Choosing what to show from a results folder: read from disk, never computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..datasets_scripts.catalog import DIRECTIONS
from ..errors import InputError, MissingFileError, unknown_name
from ..metrics.registry import METRICS, expand, families
from .ranked_table import Standings
from .results import Stored, read_direction, system_folders
from .results_folder import check_results_folder
from .seeds import MeanOfRuns, pooled
from .significance import rank_stored


def default_results() -> Path:
    """``results`` or ``demo`` in the current folder.

    Raises:
        MissingFileError: neither has results.
    """
    for name in ("results", "demo"):
        if any(Path(name).glob("*/*/*/report.json")):
            return Path(name)
    raise MissingFileError(
        "there is no results folder here: name the one that 'tstbench evaluate --out DIR' or "
        "'tstbench run' wrote"
    )


def read_standings(
    root: Path,
    directions: Sequence[str] = (),
    metrics: Sequence[str] = (),
    systems: Sequence[str] = (),
    *,
    each_seed: bool = False,
) -> list[Standings]:
    """The systems of each direction, and their ranks among one another.

    Args:
        root: a results folder.
        directions: names of directions or datasets; by default all.
        metrics: names of metrics or families, in the order to be shown; by default all.
        systems: names; by default all.
        each_seed: whether runs of one system have a row each, instead of their mean.

    Raises:
        UnknownNameError: a name that is not there, with near misses.
        InputError: nothing is left, or ``root`` is no results folder.
    """
    folders = chosen_directions(root, directions)
    stored = [read_direction(folder) for folder in folders.values()]
    there = dict.fromkeys(
        name
        for some in stored
        for one in (*some, *(() if each_seed else pooled(some)))
        for name in [one.report.system.name]
    )
    for name in systems:
        if name not in there:
            raise unknown_name("system", name, there)
    wanted = _chosen_metrics(metrics, (one for some in stored for one in some))
    found = []
    for some in stored:
        kept = [_only(one, wanted) if wanted else one for one in some]
        kept = [one for one in kept if one.report.scores]
        if chosen := _chosen_systems(kept, systems, each_seed=each_seed):
            reports = tuple(one.report for one in chosen)
            found.append(Standings(reports, rank_stored(chosen), wanted))
    if not any(stored):
        raise InputError(f"{root}: no system's results are whole. Evaluate those named above again")
    if not found:
        raise InputError(
            f"{root}: nothing is left to show; relax --directions, --metrics or --systems"
        )
    return found


def _chosen_systems(
    stored: Sequence[Stored], names: Sequence[str], *, each_seed: bool
) -> list[Stored | MeanOfRuns]:
    """The results of the systems with these names; a run that is named stands for itself."""
    if each_seed:
        return [one for one in stored if not names or one.report.system.name in names]
    together = pooled(stored)
    if not names:
        return together
    chosen = [one for one in together if one.report.system.name in names]
    shown = {one.report.system.name for one in chosen}
    alone = [one for one in stored if one.report.system.name in {*names} - shown]
    return [*chosen, *alone]


def chosen_directions(root: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """The folders of the named directions, or of those of the named datasets; by default all.

    Raises:
        UnknownNameError: there are no results of that name.
        InputError: ``root`` is no results folder.
        MissingFileError: ``root`` does not exist.
    """
    folders = _direction_folders(root)
    datasets = dict.fromkeys(direction.split("/")[0] for direction in folders)
    chosen: dict[str, Path] = {}
    for name in names:
        if name not in folders and name not in datasets:
            raise unknown_name(f"direction in {root}", name, [*folders, *datasets])
        chosen |= {d: f for d, f in folders.items() if name in (d, d.split("/")[0])}
    return chosen or folders


def _direction_folders(root: Path) -> dict[str, Path]:
    """Every direction that has results, the benchmark's in its order and first."""
    check_results_folder(root)
    found = {
        f"{folder.parent.name}/{folder.name}": folder
        for folder in root.glob("*/*")
        if system_folders(folder)
    }
    if not found:
        raise InputError(
            f"{root} has no results yet: score outputs into it with 'tstbench evaluate ... "
            f"--out {root}'"
        )
    order = {name: place for place, name in enumerate(DIRECTIONS)}
    return {n: found[n] for n in sorted(found, key=lambda n: (order.get(n, len(order)), n))}


def _chosen_metrics(names: Sequence[str], stored: Iterable[Stored]) -> tuple[str, ...]:
    """The metrics in the order asked for; families become their metrics that are there."""
    there = dict.fromkeys(score.metric for one in stored for score in one.report.scores)
    chosen: dict[str, None] = {}
    for name in names:
        if name not in there and name not in METRICS and name not in families():
            raise unknown_name("metric", name, dict.fromkeys([*there, *METRICS, *families()]))
        some = [name] if name in there else [m for m in expand([name]) if m in there]
        if not some:
            raise InputError(f"no result here has {name!r}; there are: {', '.join(there)}")
        chosen |= dict.fromkeys(some)
    return tuple(chosen)


def _only(stored: Stored, metrics: Sequence[str]) -> Stored:
    """The results as if only these metrics had been requested."""
    columns = {stored.report.column(s) for s in stored.report.scores if s.metric in metrics}
    return replace(stored, report=stored.report.only(columns))
