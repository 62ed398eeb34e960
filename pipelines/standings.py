"""The systems of a direction beside one another: read from a results folder, in columns, ranked.

Only numbers with equal signatures are compared; nothing is computed again here but the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ..datasets_scripts.catalog import DIRECTIONS
from ..errors import InputError, MissingFileError, unknown_name
from ..files import write_json
from ..metrics.registry import METRICS, expand, families, is_neutral
from ..metrics.signature import column_of
from .meta.known import ranking_place
from .ranking import Bootstrapped, Rank, rank_values
from .report import Report, Score
from .results import Stored, read_direction, system_folders
from .seeds import MeanOfRuns, Measured, pooled

SIGNIFICANCE_FILE = "significance.json"
Ranks = Mapping[str, Sequence[Rank]]  # the ranking by each score, by signature


@dataclass(frozen=True, kw_only=True)
class Column:
    """One way of computing one metric: all numbers with this signature are comparable.

    Attributes:
        title: of the metric, numbered where the direction has it with several signatures.
        aspect: one of :data:`~.meta.known.ASPECTS`.
        number: the one in the title; 0 where there is none.
    """

    metric: str
    signature: str
    title: str
    unit: str
    higher_is_better: bool
    aspect: str
    number: int = 0

    @property
    def arrow(self) -> str:
        """The title, and which way is better, if one is."""
        if is_neutral(self.metric):
            return self.title
        return f"{self.title} {'↑' if self.higher_is_better else '↓'}"

    def score_of(self, report: Report) -> Score | None:
        """A system's score in this column, if it has one, even without a value."""
        return next((s for s in report.scores if report.column(s) == self.signature), None)


@dataclass(frozen=True)
class Standings:
    """The systems of one direction.

    Attributes:
        reports: one per system.
        ranks: the ranking by each score, by signature.
        metrics: in the order to be shown; by default the benchmark's.
    """

    reports: tuple[Report, ...]
    ranks: Ranks
    metrics: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Sequence[Measured], metrics: Sequence[str] = ()) -> Standings:
        """These results, ranked among one another; see :func:`rank_results`."""
        return cls(tuple(one.report for one in results), rank_results(results), tuple(metrics))

    @property
    def direction(self) -> str:
        """Its name."""
        return self.reports[0].direction

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """In the order asked for, or the benchmark's with unknown ones last; then as found."""
        scores = {report.column(s): s for report in self.reports for s in report.scores}
        order = list(dict.fromkeys([*self.metrics, *METRICS]))
        place = {metric: i for i, metric in enumerate(order)}
        count, number = Counter(score.metric for score in scores.values()), Counter[str]()
        found = []
        for signature, score in sorted(
            scores.items(), key=lambda item: place.get(item[1].metric, len(order))
        ):
            facts, several = METRICS.get(score.metric), count[score.metric] > 1
            number[score.metric] += several
            title = facts.title if facts else score.metric
            found.append(
                Column(
                    metric=score.metric,
                    signature=signature,
                    title=f"{title} ({number[score.metric]})" if several else title,
                    unit=score.unit,
                    higher_is_better=score.higher_is_better,
                    aspect=facts.aspect if facts else "other",
                    number=number[score.metric],
                )
            )
        return tuple(found)

    def ranking_column(self, metric: str = "") -> Column | None:
        """The column that orders the systems; of several of one metric, that with most systems.

        Args:
            metric: only its columns.
        """
        columns = [one for one in self.columns if metric in ("", one.metric)]
        ranked = [one for one in columns if self.ranks.get(one.signature)] or columns
        most = max((len(self.ranks.get(one.signature, ())) for one in ranked), default=0)

        def place(one: Column) -> tuple[float, ...]:
            lacking = most - len(self.ranks.get(one.signature, ()))
            fewer = column_of(one.signature) != one.signature  # references, as of one of them
            return *ranking_place(one.metric, one.signature, lacking), lacking, fewer

        return min(ranked, key=place, default=None)

    def ranking(self, metric: str = "") -> Sequence[Rank]:
        """The systems by :meth:`ranking_column`, best first; bounds are not ranked."""
        column = self.ranking_column(metric)
        return self.ranks.get(column.signature, ()) if column else ()


def rank_results(systems: Sequence[Measured]) -> dict[str, list[Rank]]:
    """The ranking of a direction's systems by each score, by signature.

    Only numbers with equal signatures are compared; bounds are not ranked. Runs of one system are
    ranked one by one: :func:`.seeds.pooled` makes them one system. There is no ranking by a
    score for which a system has no replicates beside its report, nor by a metric that is not
    installed here: which way is better is never read from a report.
    """
    groups: dict[str, tuple[bool, dict[str, Bootstrapped]]] = {}
    untested: set[str] = set()
    for one in systems:
        if one.report.system.is_bound:
            continue
        found = one.bootstrapped()
        for score in (s for s in one.report.scores if s.metric in METRICS):
            higher = METRICS[score.metric].higher_is_better
            _, group = groups.setdefault(score.signature, (higher, {}))
            if score.key in found:
                group[one.report.system.name] = found[score.key]
            else:
                untested.add(score.signature)
    return {
        signature: rank_values(some, higher_is_better=higher)
        for signature, (higher, some) in groups.items()
        if signature not in untested
    }


def write_significance(folder: Path) -> None:
    """Compare all systems of a direction and write ``significance.json``, by signature.

    Several seeds of one system are one system there.
    """
    record = {
        signature: {
            "test": "paired bootstrap, two-sided, alpha 0.05, uncorrected",
            "ranks": {r.system: [r.low, r.high] for r in some},
            "p_best": {r.system: r.p_best for r in some if np.isfinite(r.p_best)},
        }
        for signature, some in rank_results(pooled(read_direction(folder))).items()
    }
    write_json(folder / SIGNIFICANCE_FILE, record)


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
            found.append(Standings.of(chosen, wanted))
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


_LAYOUT = "<dataset>/<direction>/<system>/report.json"
_SHOWN = 3  # names in a message


def check_results_folder(path: Path) -> None:
    """Check that a folder has reports where a results folder has them, or has nothing yet.

    Raises:
        MissingFileError: there is no such folder.
        InputError: it is a file, or a folder of something else; the message says which to give.
    """
    if path.is_file():
        folder = _root_of(path)
        raise InputError(
            f"{path} is a file, but a results folder is needed"
            + (f": give {folder}" if folder else f", with {_LAYOUT} in it")
        )
    if not path.is_dir():
        raise MissingFileError(
            f"no such folder: {path}. Give one that 'tstbench evaluate --out' or 'run' wrote"
        )
    visible = sorted(p for p in path.iterdir() if not p.name.startswith("."))
    only_begun = {p.name for p in visible} <= {"predictions", "human.jsonl"}
    if only_begun or _has(path, "*/*/*/report.json"):
        return
    raise InputError(f"{path} is not a results folder: {_instead(path, visible)}")


def _instead(path: Path, visible: list[Path]) -> str:
    """What the folder is, and what to give."""
    for pattern, what, up in (
        ("report.json", "one system's folder", 3),
        ("*/report.json", "one direction's folder", 2),
        ("*/*/report.json", "one dataset's folder", 1),
    ):
        if _has(path, pattern):
            return f"it is {what}. Give the folder above, {_above(path, up)}"
    inside = [folder for folder in visible if folder.is_dir() and _has(folder, "*/*/*/report.json")]
    if inside:
        found = ", ".join(map(str, inside[:_SHOWN]))
        return (
            f"it contains {'one' if len(inside) == 1 else f'{len(inside)} of them'}. Give {found}"
        )
    names = ", ".join(p.name for p in visible[:_SHOWN])
    more = f" and {len(visible) - _SHOWN} more" if len(visible) > _SHOWN else ""
    if _has(path, "*/*/*.card.json") or _has(path, "*.card.json"):
        what = "it contains predictions that are not scored yet"
    elif _has(path, "*.toml") or _has(path, "*.parquet") or _has(path, "*/*.parquet"):
        what = f"it contains data ({names}{more})"
    else:
        what = f"it contains {names}{more}, and no {_LAYOUT}"
    return f"{what}. Score outputs into it with 'tstbench evaluate ... --out FOLDER'"


def _root_of(file: Path) -> Path | None:
    """The results folder of a report or what lies beside it."""
    if file.name == "significance.json" and _has(file.parent, "*/report.json"):
        return _above(file.parent, 2)
    return _above(file.parent, 3) if _has(file.parent, "report.json") else None


def _has(folder: Path, pattern: str) -> bool:
    return next(folder.glob(pattern), None) is not None


def _above(path: Path, levels: int) -> Path:
    """The folder so many levels up, as short as the given path."""
    if path.is_absolute() or len(path.parts) <= levels:
        return path.resolve().parents[levels - 1]
    return path.parents[levels - 1]
