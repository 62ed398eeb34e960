"""A suite: systems x directions from one TOML file, one resumable cell each.

A cell is done when its report exists and answers to the same question: the same predictions,
test set, profile, metrics and signatures. Anything else is computed again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ..datasets_scripts.directions import parse_direction
from ..datasets_scripts.load import TestSet, load_test_set
from ..errors import InputError, TSTBenchError
from ..files import read_text
from ..metrics.facts import METRICS
from ..metrics.measure import Options
from ..metrics.scorers.profile import Profile, Scorers, parse_profile
from .evaluate import check_metrics, evaluate, recipe, write_evaluation
from .outputs import Outputs, read_outputs
from .prepare import prepare
from .ranking import Rank
from .report import Report, Strict, SystemInfo, read_report
from .results import direction_folder, folder_name, read_direction, write_significance
from .talk import say
from .transfer import baseline_info, predict


class SuiteSystem(Strict):
    """One ``[[system]]`` table: a baseline with its directions, or files by direction."""

    info: SystemInfo | None = None
    baseline: str | None = None
    directions: tuple[str, ...] = ()
    outputs: dict[str, str] = {}


class Suite(Strict):
    """The whole file."""

    out: str = "results"
    profile: str = "embedded"
    metrics: tuple[str, ...] = tuple(METRICS)
    bleu: str = "tstbench"
    ppl: str = "words"
    system: Annotated[tuple[SuiteSystem, ...], Field(min_length=1)]


Show = Callable[[list[Report], dict[str, list[Rank]]], None]


@dataclass(frozen=True)
class Cell:
    """One system on one direction."""

    direction: str
    info: SystemInfo
    path: Path | None
    baseline: str | None = None  # computed, where there is no file

    def outputs(self, test_set: TestSet) -> Outputs:
        """Read the file, or have the baseline transfer."""
        if self.baseline is not None:
            return Outputs(self.info.name, tuple(predict(self.baseline, test_set)))
        return read_outputs(str(self.path), test_set, self.info.name)


def read_suite(path: Path) -> Suite:
    """Read a suite's TOML.

    Raises:
        InputError: not TOML, or not a suite; the message names the field.
    """
    try:
        return Suite.model_validate(tomllib.loads(read_text(path)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {where}: {first['msg']}") from error


def cells(suite: Suite, folder: Path) -> list[Cell]:
    """Every cell of the suite; paths are relative to the suite's folder.

    Raises:
        InputError: a system that is neither, or a file that is not there.
        UnknownNameError: no such direction.
    """
    found = list(_cells(suite, folder))
    for cell in found:
        parse_direction(cell.direction)
        if cell.path is not None and not cell.path.is_file():
            raise InputError(f"{cell.info.name}, {cell.direction}: no such file: {cell.path}")
    names = [(cell.direction, folder_name(cell.info.name)) for cell in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two systems called {name[1]!r} for {name[0]}")
    return found


def run_suite(path: Path, show: Show) -> Path:
    """Evaluate what is not done yet; returns the results folder.

    Args:
        path: the TOML file.
        show: called with the reports and ranks of each direction as it is done.

    Everything is read and checked before anything is scored. Cells of one direction are scored
    together, so that its scorers are loaded once; each is written as soon as its direction is.
    """
    suite = read_suite(path)
    check_metrics(suite.metrics)
    profile = parse_profile(suite.profile)
    root = path.parent / suite.out
    todo: dict[str, list[Cell]] = {}
    for cell in cells(suite, path.parent):
        todo.setdefault(cell.direction, []).append(cell)
    for direction, some in todo.items():
        folder = _run_direction(suite, profile, direction, some, root)
        show([stored.report for stored in read_direction(folder)], write_significance(folder))
    return root


def _run_direction(
    suite: Suite, profile: Profile, direction: str, some: list[Cell], root: Path
) -> Path:
    test_set = load_test_set(direction)
    options = Options(bleu=suite.bleu, ppl=suite.ppl)  # type: ignore[arg-type]
    outputs = {cell.info.name: cell.outputs(test_set) for cell in some}
    prepare(test_set.direction, profile, suite.metrics)
    scorers = Scorers(profile, test_set.direction)
    pending = []
    for cell in some:
        wanted = recipe(outputs[cell.info.name], test_set, scorers, suite.metrics, options)
        report = _stored(direction_folder(root, test_set.direction) / folder_name(cell.info.name))
        if report is None or report.recipe != wanted or report.system != cell.info:
            pending.append(cell)
    say(f"{direction}: {len(pending)} of {len(some)} systems to score")
    for cell in pending:
        evaluation = evaluate(
            [outputs[cell.info.name]],
            test_set,
            profile,
            suite.metrics,
            options,
            {cell.info.name: cell.info},
        )
        write_evaluation(evaluation, root)
    return direction_folder(root, test_set.direction)


def _stored(folder: Path) -> Report | None:
    """The report in a folder; ``None`` when there is none, or one that cannot be trusted."""
    try:
        return read_report(folder / "report.json")
    except TSTBenchError:
        return None


def _cells(suite: Suite, folder: Path) -> Iterator[Cell]:
    for number, system in enumerate(suite.system, start=1):
        where = f"system {number}"
        if system.baseline:
            if system.outputs or not system.directions:
                raise InputError(f"{where}: a baseline needs 'directions', and no 'outputs'")
            for direction in system.directions:
                info = system.info or baseline_info(system.baseline)
                yield Cell(direction, info, None, system.baseline)
        elif system.info is None or not system.outputs:
            raise InputError(f"{where}: 'info.name' and 'outputs', or 'baseline', are needed")
        else:
            for direction, file in system.outputs.items():
                yield Cell(direction, system.info, folder / file)
