"""A suite: systems x directions from one TOML file, one resumable cell each.

A cell is done when its results are whole and answer to the same question: the same predictions,
test set, profile, metrics and scorers. Anything else is computed again.
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
from .evaluate import check_metrics, evaluate, recipe, write_systems
from .outputs import Outputs, read_outputs
from .prepare import prepare
from .published import published_directions, published_info, published_predictions
from .ranking import Rank
from .report import Report, Strict, SystemInfo, read_report
from .results import (
    REPLICATES_FILE,
    Stored,
    check_names,
    direction_folder,
    folder_name,
    rank_stored,
    read_direction,
    write_significance,
)
from .talk import say
from .transfer import baseline_info, predict


class SuiteSystem(Strict):
    """One ``[[system]]`` table: a baseline, outputs that others published, or one's own files."""

    info: SystemInfo | None = None
    baseline: str | None = None
    published: str | None = None
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
    published: bool = False  # fetched, where there is no file

    def outputs(self, test_set: TestSet) -> Outputs:
        """Read the file, or have the baseline transfer."""
        if self.baseline is not None:
            return Outputs(self.info.name, tuple(predict(self.baseline, test_set)))
        if self.published:
            return Outputs(self.info.name, published_predictions(self.info.name, test_set))
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
    for direction, some in _by_direction(found).items():
        try:
            check_names([cell.info.name for cell in some])
        except InputError as error:
            raise InputError(f"{direction}: {error}") from error
    return found


def run_suite(path: Path, show: Show) -> Path:
    """Evaluate what is not done yet; returns the results folder.

    Args:
        path: the TOML file.
        show: called with the reports and ranks of each direction as it is done.

    Everything is read and checked before anything is scored, so that a mistake in the last file
    costs no scoring. Directions follow each other; a system is written as soon as it is scored.
    """
    suite = read_suite(path)
    check_metrics(suite.metrics)
    profile = parse_profile(suite.profile)
    options = Options(bleu=suite.bleu, ppl=suite.ppl)  # type: ignore[arg-type]
    root = _near(path.parent / suite.out)
    read = []
    for direction, some in _by_direction(cells(suite, path.parent)).items():
        test_set = load_test_set(direction)
        read.append((test_set, [(cell.info, cell.outputs(test_set)) for cell in some]))
    for test_set, systems in read:
        _run_direction(suite, profile, options, test_set, systems, root)
        folder = direction_folder(root, test_set.direction)
        write_significance(folder)
        ours = {folder_name(info.name) for info, _ in systems}  # others may lie there too
        stored = [one for one in read_direction(folder) if one.folder.name in ours]
        show([one.report for one in stored], rank_stored(stored))
    return root


def _near(folder: Path) -> Path:
    """The folder as a person would write it: relative where it lies below the current one."""
    folder = folder.resolve()
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _run_direction(
    suite: Suite,
    profile: Profile,
    options: Options,
    test_set: TestSet,
    systems: list[tuple[SystemInfo, Outputs]],
    root: Path,
) -> None:
    """Score and write the systems whose results are not there, one after the other."""
    prepare(test_set.direction, profile, suite.metrics)
    scorers = Scorers(profile, test_set.direction)
    pending = []
    for info, outputs in systems:
        wanted = recipe(outputs, test_set, scorers, suite.metrics, options)
        report = _stored(direction_folder(root, test_set.direction) / folder_name(info.name))
        if report is None or report.recipe != wanted or report.system != info:
            pending.append((info, outputs))
    say(f"{test_set.direction}: {len(pending)} of {len(systems)} systems to score")
    for info, outputs in pending:
        infos = {info.name: info}
        evaluation = evaluate([outputs], test_set, profile, suite.metrics, options, infos)
        write_systems(evaluation, root)


def _by_direction(some: list[Cell]) -> dict[str, list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in some:
        groups.setdefault(cell.direction, []).append(cell)
    return groups


def _stored(folder: Path) -> Report | None:
    """The report in a folder; ``None`` when there is none, or results that are not whole."""
    if not (folder / REPLICATES_FILE).is_file():
        return None
    try:
        stored = Stored(folder, read_report(folder))
        stored.check_whole()
    except TSTBenchError:
        return None
    return stored.report


def _cells(suite: Suite, folder: Path) -> Iterator[Cell]:
    for number, system in enumerate(suite.system, start=1):
        where = f"system {number}"
        if sum(map(bool, (system.baseline, system.published, system.outputs))) != 1:
            raise InputError(f"{where}: one of 'baseline', 'published' and 'outputs' is needed")
        if system.baseline:
            if not system.directions:
                raise InputError(f"{where}: a baseline needs 'directions'")
            for direction in system.directions:
                info = system.info or baseline_info(system.baseline)
                yield Cell(direction, info, None, system.baseline)
        elif system.published:
            if system.info:
                raise InputError(f"{where}: a published system has its own 'info'")
            for direction in system.directions or published_directions(system.published):
                info = published_info(system.published, direction)
                yield Cell(direction, info, None, published=True)
        else:
            if system.info is None:
                raise InputError(f"{where}: 'outputs' need 'info.name'")
            if system.directions:
                raise InputError(f"{where}: 'outputs' has the directions, 'directions' has no use")
            for direction, file in system.outputs.items():
                yield Cell(direction, system.info, folder / file)
