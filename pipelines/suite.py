"""A suite: systems x directions from one TOML file, in a transfer stage and a score stage.

A score that exists and is intact is not computed again: adding a metric or a system to the file
costs only what is new, and each system is written as soon as it is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..datasets_scripts.added import load_data
from ..datasets_scripts.load import TestSet, load_test_set
from ..datasets_scripts.training import load_training
from ..errors import InputError, unknown_name
from ..metrics.registry import family_of
from ..talk import say
from .cells import Cell, cells
from .evaluate import Evaluated, Evaluation, cohort, evaluate
from .outputs import Outputs
from .ranking import Rank
from .report import Report, SystemInfo
from .results import direction_folder
from .scoring import Scoring
from .significance import write_significance
from .suite_file import read_suite, suite_file

Show = Callable[[list[Report], dict[str, list[Rank]]], None]


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


def run_suite(
    path: str | Path, show: Show, part: Part = EVERYTHING, *, batch_size: int | None = None
) -> Path:
    """Run a suite, computing only what is missing; returns the results folder.

    Args:
        path: the TOML file, or the name of a suite of the package.
        show: called with the reports and ranks of each direction as it is done.
        part: which systems, directions and metrics.
        batch_size: the most sentences that a model scores at once; by default the suite's.

    All files are read and checked before any system runs, and all systems run before anything is
    scored, so a mistake in the last file costs nothing. Predictions are kept in ``predictions`` in
    the results folder. Directions are scored one after the other.
    """
    file, folder = suite_file(path)
    suite = read_suite(file)
    if batch_size is not None:
        suite = suite.model_copy(update={"batch_size": batch_size})
    for data in suite.data:
        load_data(folder / data)
    whole = suite.scoring()
    how = replace(whole, metrics=part.metrics_of(whole.metrics))
    root = _near(folder / suite.out)
    checked = []
    for direction, some in part.of(cells(suite, folder)).items():
        test_set, training = load_test_set(direction), cache(load_training)
        checked.append((test_set, [cell.check(test_set, root, training) for cell in some]))
    asked = [(test_set, [one.outputs() for one in some]) for test_set, some in checked]
    for test_set, systems in asked:
        evaluation = _run_direction(how, test_set, systems, root)
        write_significance(direction_folder(root, test_set.direction))
        show(list(evaluation.reports), evaluation.ranks)
    return root


def _near(folder: Path) -> Path:
    """The folder as a person would write it: relative if it is inside the current one."""
    folder = folder.resolve()
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _run_direction(
    how: Scoring,
    test_set: TestSet,
    systems: list[tuple[SystemInfo, Outputs]],
    root: Path,
) -> Evaluation:
    """Score and write what is missing, one system after the other."""
    how.prepare(test_set.direction)
    all_systems = cohort([outputs for _, outputs in systems], test_set, how, root)
    scorers, done = how.scorers(test_set.direction), list[Evaluated]()
    for info, outputs in systems:
        infos = {info.name: info}
        (system,) = evaluate([outputs], test_set, how, infos, root, all_systems, scorers).systems
        done.append(system)
    evaluation = Evaluation(test_set, tuple(done))
    scored = sum(system.computed > 0 for system in done)
    say(f"{test_set.direction}: scored {scored} of {len(done)} systems; {evaluation.summary()}")
    return evaluation
