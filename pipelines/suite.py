"""A suite: systems x directions from one TOML file, in a transfer stage and a score stage.

A score that exists and is intact is not computed again: adding a metric or a system to the file
costs only what is new, and each system is written as soon as it is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import progress, say
from ..datasets_scripts.catalog import load_data
from ..errors import InputError, unknown_name
from ..hub import offline
from ..metrics.registry import family_of
from ..settings import from_texts
from ..trainers.system import system_class, system_names
from .engines import Engine, InProcess, Ray, run
from .evaluate import Evaluation
from .jobs import Job, Left, Work, Workplace
from .standings import Standings
from .suite_file import Cell, Suite, SuiteSystem, cells, read_suite, suite_file

if TYPE_CHECKING:
    from .hub_jobs import Hardware

Show = Callable[[Standings], None]


@dataclass(frozen=True)
class Part:
    """Which part of a suite to run; what is empty is not restricted.

    Attributes:
        systems: names of systems.
        directions: names of directions, or of datasets for all of theirs.
        metrics: names of metrics or families.
    """

    systems: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()

    def of(self, groups: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
        """The cells of this part, by direction.

        Raises:
            UnknownNameError: the suite has no such system or direction.
            InputError: it has none of the systems on any of the directions.
        """
        cells = [cell for some in groups.values() for cell in some]
        systems = dict.fromkeys(name for cell in cells for name in cell.names)
        datasets = dict.fromkeys(direction.split("/")[0] for direction in groups)
        _check_known("direction of this suite", self.directions, [*groups, *datasets])
        _check_known("system of this suite", self.systems, systems)
        kept = {
            direction: [c for c in some if not self.systems or {*c.names} & {*self.systems}]
            for direction, some in groups.items()
            if not self.directions or {direction, direction.split("/")[0]} & {*self.directions}
        }
        kept = {direction: some for direction, some in kept.items() if some}
        if not kept:
            raise InputError(
                f"the suite does not run {', '.join(self.systems)} on {', '.join(self.directions)}"
            )
        return kept

    def metrics_of(self, suite: tuple[str, ...]) -> tuple[str, ...]:
        """The suite's metrics that belong to this part, in the suite's order.

        Raises:
            UnknownNameError: the suite has no such metric or family.
        """
        if not self.metrics:
            return suite
        families_of = {metric: family_of(metric).name for metric in suite}
        known = dict.fromkeys([*suite, *families_of.values()])
        _check_known("metric of this suite", self.metrics, known)
        return tuple(m for m in suite if m in self.metrics or families_of[m] in self.metrics)


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)


EVERYTHING = Part()


@dataclass(frozen=True)
class Changes:
    """What a run changes of a suite's file.

    Attributes:
        settings: ``SYSTEM.SETTING=VALUE`` texts: settings of a system's training, or of how a
            system that is not trained generates.
        seeds: how often each system whose training is random is trained; ``None`` as in the file.
        batch_size: the most sentences that a model scores at once; ``None`` as in the file.
    """

    settings: tuple[str, ...] = ()
    seeds: int | None = None
    batch_size: int | None = None

    def of(self, suite: Suite) -> Suite:
        """The changed suite.

        Raises:
            InputError: a text of another form, or fewer than one seed.
            UnknownNameError: the suite has no such named system, or the system no such setting.
        """
        if self.seeds is not None and self.seeds < 1:
            raise InputError(f"{self.seeds} seeds: give at least 1")
        texts: dict[str, dict[str, str]] = {}
        for text in self.settings:
            name, value = text.partition("=")[::2]
            system, dot, setting = name.partition(".")
            if not (dot and "=" in text):
                raise InputError(f"--set {text}: write SYSTEM.SETTING=VALUE")
            texts.setdefault(system, {})[setting] = value
        known = [one.system for one in suite.system if one.system in system_names()]
        _check_known("named system of this suite", texts, dict.fromkeys(known))
        tables = (
            self._table(one, texts.get(one.system, {})) if one.system in known else one
            for one in suite.system
        )
        changes: dict[str, Any] = {"system": tuple(tables)}
        if self.batch_size is not None:
            changes["batch_size"] = self.batch_size
        return suite.model_copy(update=changes)

    def _table(self, table: SuiteSystem, texts: dict[str, str]) -> SuiteSystem:
        name = str(table.system)
        kind, changes = system_class(name), dict[str, Any]()
        if texts:
            key, of = ("settings", kind.Config) if kind.Config else ("generation", kind.Settings)
            changes[key] = {**getattr(table, key), **from_texts(of, texts, name)}
        if self.seeds is not None and hasattr(kind.Config, "seed"):
            changes["seeds"] = self.seeds if self.seeds > 1 else None
        return table.model_copy(update=changes)


def open_suite(
    path: str | Path, changes: Changes = Changes()
) -> tuple[Suite, Path, dict[str, list[Cell]]]:
    """A suite, the folder of its results, and its cells.

    Raises:
        UnknownNameError, InputError: a name or a table that is wrong.
    """
    file, folder = suite_file(path)
    suite = changes.of(read_suite(file))
    for data in suite.data:
        load_data(folder / data, say_again=False)
    return suite, _near(folder / suite.out), cells(suite, folder)


@dataclass(frozen=True)
class Where:
    """Where jobs are done.

    Attributes:
        engine: ``process``, ``ray`` for a cluster, or ``hf-jobs`` for the Hub's hardware; see
            :mod:`.engines` and :mod:`.hub_jobs`.
        address: of the cluster; by default one is started on this machine.
        storage: a URL where files travel through between machines that share no disk.
        hardware: of the Hub; ``None`` for the cheapest.
    """

    engine: str = "process"
    address: str | None = None
    storage: str | None = None
    hardware: Hardware | None = None

    def of(self, workplace: Workplace, suite: Suite) -> Engine:
        """The engine, ready to be entered."""
        if self.engine == "ray":
            return Ray(workplace, Work(workplace.how, workplace.root), self.address, self.storage)
        if self.engine == "hf-jobs":
            from .hub_jobs import Hardware, HubJobs  # only now: the Hub's client takes a second

            return HubJobs(workplace, suite, self.storage, self.hardware or Hardware())
        return InProcess(workplace)


def run_suite(
    path: str | Path,
    show: Show,
    part: Part = EVERYTHING,
    changes: Changes = Changes(),
    where: Where = Where(),
) -> Path:
    """Run a suite, computing only what is missing; returns the results folder.

    Args:
        path: the TOML file, or the name of a suite of the package.
        show: called with the standings of each direction as it is done.
        part: which systems, directions and metrics.
        changes: of the file.
        where: jobs are done.

    All files are read and checked before any system runs, so a mistake in the last one costs
    nothing. Then directions are run and scored one after the other. Predictions are kept in
    ``predictions`` in the results folder. A cell that lacks something (a licensed corpus, weights,
    a key, a server) or fails when it runs is left out, and the others run.

    Raises:
        IncompleteError: cells were left out; all others are done.
        UnknownNameError, InputError: a mistake in the suite or in a file that it names.
    """
    left = Left()
    suite, workplace, groups = _opened(path, part, changes)
    jobs = workplace.plan(groups, left)
    by_id = {job.id: job for job in jobs}
    gone: set[str] = set()  # scores of cells that were left out
    chosen = where.of(workplace, suite)
    with chosen, progress(len(jobs), "jobs", shown=where.engine != "process") as bar:
        for outcome in run(jobs, chosen):
            bar.set_postfix_str(chosen.status(), refresh=False)
            bar.update()
            job = by_id[outcome.id]
            if outcome.state == "left out":
                scores = [one for one in _scores_without(job, jobs) if one.id not in gone]
                left.out(job.direction, [one.system for one in scores], outcome.why)
                gone |= {one.id for one in scores}
            elif outcome.evaluated:
                workplace.evaluated.setdefault(job.direction, {})[job.place] = outcome.evaluated
            elif job.kind == "rank" and (done := workplace.evaluated.get(job.direction)):
                systems = tuple(done[place] for place in sorted(done))
                evaluation = Evaluation(workplace.test_set(job.direction), systems)
                scored = sum(system.computed > 0 for system in systems)
                text = f"scored {scored} of {len(done)} systems; {evaluation.summary()}"
                say(f"{job.direction}: {text}")
                show(evaluation.standings)
    left.check(sum(map(len, groups.values())))
    return workplace.root


def undone_jobs(
    path: str | Path, part: Part = EVERYTHING, changes: Changes = Changes()
) -> list[Job]:
    """The jobs that a run would do, as far as nothing is missing; nothing is downloaded."""
    with offline():
        _, workplace, groups = _opened(path, part, changes)
        return [one for one in workplace.plan(groups, Left()) if not workplace.is_done(one)]


def _opened(
    path: str | Path, part: Part, changes: Changes
) -> tuple[Suite, Workplace, dict[str, list[Cell]]]:
    suite, root, every = open_suite(path, changes)
    whole = suite.scoring()
    how = replace(whole, metrics=part.metrics_of(whole.metrics))
    return suite, Workplace(Work(how, root)), part.of(every)


def _scores_without(job: Job, jobs: Sequence[Job]) -> list[Job]:
    """The scores on a direction that there will not be without a job."""
    ids = {job.id, *(one.id for one in jobs if job.id in one.needs and one.kind == "transfer")}
    scores = (one for one in jobs if one.kind == "score" and one.direction == job.direction)
    return [one for one in scores if one.id in ids or ids & {*one.needs}]


def _near(folder: Path) -> Path:
    """The folder as a person would write it: relative if it is inside the current one."""
    folder = folder.resolve()
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
