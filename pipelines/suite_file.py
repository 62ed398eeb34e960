"""The TOML file of a suite: systems x directions, and how to score them.

Some suites ship with the package, in ``suites/``, and are known by name. A suite's cells are one
system on one direction each, checked before anything runs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue

from ..console import say
from ..datasets_scripts.catalog import directions_of, parse_direction
from ..datasets_scripts.load import TestSet, TrainingData
from ..datasets_scripts.strict_toml import read_toml
from ..errors import InputError, unknown_name
from ..files import read_text
from ..records import Strict
from ..trainers.card import run_name
from ..trainers.load import USUAL_CHOICE, Choice, FoundSystem, find_stored, find_system
from ..trainers.system import SYSTEM_STORE, Generation, check_direction, system_class, system_names
from ..trainers.train import config_class, seeded, system_config
from .outputs import Outputs, read_outputs
from .predictions import Predictions, read_card
from .references import (
    bound_info,
    bound_predictions,
    is_reference,
    published_directions,
    published_info,
    published_predictions,
)
from .report import SystemInfo
from .results import check_names, folder_name
from .scoring import Scoring, scoring
from .transfer import ask, predictions_path, system_info, transfer

_OURS = Path(__file__).with_name("suites")
TIMEOUT = r"^\d+(\.\d+)?[smhd]$"  # such as 90m


def _whole_if_several(gpus: float) -> float:
    if gpus > 1 and gpus % 1:
        raise ValueError("more than one GPU is a whole number")
    return gpus


class Resources(Strict):
    """What a system takes to be trained and to rewrite; what is not given is the engine's."""

    cpus: Annotated[float, Field(ge=0.01)] | None = None
    gpus: Annotated[float, Field(ge=0), AfterValidator(_whole_if_several)] | None = None
    memory: Annotated[float, Field(gt=0)] | None = None  # GiB
    flavor: str | None = None  # of Hub Jobs
    timeout: Annotated[str, Field(pattern=TIMEOUT)] | None = None  # of Hub Jobs


class SuiteSystem(Strict):
    """One ``[[system]]`` table: a system, published outputs, or the user's own files."""

    info: SystemInfo | None = None
    system: str | None = None  # a name, a folder, a Hub id or reference-1
    published: str | None = None
    directions: tuple[str, ...] = ()
    outputs: dict[str, str] = {}
    seed: int = 0
    generation: dict[str, Any] = {}
    preset: str | None = None  # of a name that is trained: tiny, small
    settings: dict[str, JsonValue] = {}  # that it is trained with
    seeds: Annotated[int, Field(ge=2)] | None = None  # train it so often, each time with another
    split: str | None = None  # what it learns from; default: train
    postprocess: tuple[str, ...] = ()  # what to do to its answers
    resources: Resources = Resources()


class Suite(Strict):
    """The whole file."""

    out: str = "results"
    directions: tuple[str, ...] = ()  # of systems that name none and can do any
    data: tuple[str, ...] = ()  # data files of the user's own datasets
    profile: str = "embedded"
    scorers: dict[str, str] = {}  # role -> a scorer in place of the profile's
    metrics: tuple[str, ...] | None = None  # metrics or families; default: the benchmark's ten
    options: dict[str, dict[str, JsonValue]] = {}  # family -> option -> value
    device: str = "auto"
    dtype: str = "float32"
    batch_size: Annotated[int, Field(ge=1)] | None = None  # no score depends on it
    system: Annotated[tuple[SuiteSystem, ...], Field(min_length=1)]

    def scoring(self) -> Scoring:
        """How to score, checked.

        Raises:
            UnknownNameError, InputError: as :func:`.scoring.scoring`.
        """
        return scoring(
            self.metrics,
            profile=self.profile,
            scorers=[f"{role}={spec}" for role, spec in self.scorers.items()],
            settings=self.options,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
        )


def named_suites() -> dict[str, str]:
    """The suites of the package: name -> what it is, the first line of its file."""
    files = sorted(_OURS.glob("*.toml"))
    return {file.stem: read_text(file).split("\n")[0].removeprefix("# ") for file in files}


def suite_file(name_or_path: str | Path) -> tuple[Path, Path]:
    """The file of a suite, and the folder that its paths are relative to.

    Args:
        name_or_path: a file; or the name of a suite of the package, whose paths are relative to
            the current folder.

    Raises:
        UnknownNameError: neither.
    """
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file():
        return path, path.parent
    if str(path) not in named_suites():
        raise unknown_name("suite", str(path), [*named_suites(), "or a file NAME.toml"])
    return _OURS / f"{path}.toml", Path()


def read_suite(path: Path) -> Suite:
    """Read a suite's TOML.

    Raises:
        InputError: not TOML, or not a suite; the message names the line and the key.
    """
    return read_toml(path, Suite)


Training = Callable[..., TrainingData]


@dataclass(frozen=True)
class Answers:
    """A checked cell: what a report says about the system, and how to get its outputs.

    Attributes:
        info: who made the predictions.
        outputs: reads the predictions, or has the system make the missing ones.
        asked: the question to a system; ``None`` where predictions exist.
        found: that system.
    """

    info: SystemInfo
    outputs: Callable[[], tuple[SystemInfo, Outputs]]
    asked: Predictions | None = None
    found: FoundSystem | None = None


@dataclass(frozen=True)
class Cell(ABC):
    """One system on one direction."""

    direction: str
    info: SystemInfo

    @property
    def names(self) -> tuple[str, ...]:
        """What it answers to: its name."""
        return (self.info.name,)

    @abstractmethod
    def check(self, test_set: TestSet, root: Path, training: Training) -> Answers:
        """Find every mistake that can be found before anything is trained, run or scored.

        Args:
            test_set: the direction's test set.
            root: the results folder.
            training: loads a direction's training data, once for all its cells.
        """


@dataclass(frozen=True)
class WrittenCell(Cell):
    """Predictions that exist already and need no system.

    Attributes:
        read: the predictions, aligned with a test set: of the user's own file, published by
            others, or one person's rewrites.
    """

    read: Callable[[TestSet], tuple[str, ...]]

    def check(self, test_set: TestSet, root: Path, training: Training) -> Answers:
        """Read them all."""
        del root, training
        outputs = Outputs(self.info.name, self.read(test_set))
        return Answers(self.info, lambda: (self.info, outputs))


def _of_file(path: Path, name: str, test_set: TestSet) -> tuple[str, ...]:
    return read_outputs(path, test_set, name).predictions


@dataclass(frozen=True)
class SystemCell(Cell):
    """A system that rewrites; its predictions are kept in the results folder."""

    name: str
    stored: FoundSystem | None  # None: made on the spot
    generation: Generation
    choice: Choice = USUAL_CHOICE
    steps: tuple[str, ...] = ()  # of post-processing
    runs_of: str | None = None  # the name of the system that this is a run of, with other seeds
    device: str = "auto"
    resources: Resources = Resources()  # noqa: RUF009 - it is frozen

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and that of the system that it is a run of."""
        return (self.info.name, *filter(None, [self.runs_of]))

    def check(self, test_set: TestSet, root: Path, training: Training) -> Answers:
        """Find the system and check its settings."""
        found = self.stored or find_system(
            self.name, test_set.direction, training=training, choice=self.choice
        )
        check_direction(found.card, test_set.direction)
        path = predictions_path(root / "predictions", test_set, folder_name(self.info.name))
        asked = ask(found, test_set, path, self.generation, self.steps)
        return Answers(self.info, partial(self._transfer, found, test_set, path), asked, found)

    def _transfer(
        self, found: FoundSystem, test_set: TestSet, path: Path
    ) -> tuple[SystemInfo, Outputs]:
        predictions = transfer(
            found,
            test_set,
            path,
            generation=self.generation,
            device=self.device,
            steps=self.steps,
        )
        card = read_card(path)
        run = card.about.seed_run
        if run is not None and self.runs_of is not None:
            run = run.model_copy(update={"system": self.runs_of})
        made_by = {
            "system_hash": card.system_hash,
            "seed_run": run,
            "post_processing": card.about.post_processing,
        }
        return self.info.model_copy(update=made_by), Outputs(self.info.name, predictions)


def cells(suite: Suite, folder: Path) -> dict[str, list[Cell]]:
    """The cells of each direction; paths are relative to the suite's folder.

    Raises:
        InputError: a table is not valid, or a file does not exist.
        UnknownNameError: no such direction or system.
        MissingSystemError: a folder or repository does not contain a system.
    """
    groups: dict[str, list[Cell]] = {}
    for number, system in enumerate(suite.system, start=1):
        try:
            for cell in _Table(system, folder, suite.directions, suite.device).cells():
                parse_direction(cell.direction)
                groups.setdefault(cell.direction, []).append(cell)
        except _TableError as error:
            raise InputError(f"system {number}: {error}") from error
    for direction, some in groups.items():
        try:
            check_names([cell.info.name for cell in some])
        except InputError as error:
            message = str(error).replace("such as NAME=PATH", 'info = { name = "..." }')
            raise InputError(f"{direction}: {message}") from error
    return groups


_OF_SYSTEMS = (
    "seed", "generation", "preset", "settings", "seeds", "split", "postprocess", "resources",
)  # fmt: skip


class _TableError(Exception):
    """What is wrong with a table; the caller adds which table it is."""


def _expanded(names: Iterable[str]) -> tuple[str, ...]:
    """Directions, with those of a dataset in the place of its name."""
    return tuple(
        one
        for name in names
        for one in ([name] if "/" in name else [d.name for d in directions_of(name)])
    )


@dataclass(frozen=True)
class _Table:
    """One ``[[system]]`` table, to be turned into cells."""

    system: SuiteSystem
    folder: Path
    common: tuple[str, ...]  # directions of the suite
    device: str

    def cells(self) -> Iterator[Cell]:
        """The table's cells, one per direction."""
        table = self.system
        if sum(map(bool, (table.system, table.published, table.outputs))) != 1:
            raise _TableError("one of 'system', 'published' and 'outputs' is needed")
        only = [key for key in _OF_SYSTEMS if key in table.model_fields_set]
        if only and (not self._name or is_reference(self._name)):
            raise _TableError(f"{only[0]!r} only applies to a 'system'")
        if table.published:
            yield from self._published(table.published)
        elif table.outputs:
            yield from self._files(table.outputs)
        elif is_reference(self._name):
            info = table.info or bound_info(self._name)
            rewrites = partial(bound_predictions, self._name)
            yield from (WrittenCell(d, info, rewrites) for d in self._directions(()))
        else:
            yield from self._systems()

    @cached_property
    def _name(self) -> str:
        return self.system.system or ""

    def _directions(self, usual: Iterable[str]) -> tuple[str, ...]:
        directions = _expanded(self.system.directions or tuple(usual) or self.common)
        if not directions:
            raise _TableError(f"'directions' is missing: name those to run {self._name} on")
        return directions

    def _systems(self) -> Iterator[Cell]:
        name, stored = self._name, None
        choice = Choice(self.system.preset, self.system.settings, split=self.system.split)
        here = self.folder / name
        trains = choice != USUAL_CHOICE or self.system.seeds is not None
        wins = not trains and SYSTEM_STORE.is_model(here)
        if name in system_names() and not wins:
            card = system_class(name).untrained()
            if choice != USUAL_CHOICE:
                config_class(name)  # raises if it is not trained
        else:
            if trains:
                raise _TableError(
                    f"'preset', 'settings', 'seeds' and 'split' only apply to a name, not to {name}"
                )
            if name in system_names():
                say(f"{name}: the folder {here} is taken, not the system with its name")
            stored = find_stored(str(here) if here.is_dir() else name)
            card = stored.card
        info = system_info(card)
        if self.system.info:  # the rest is what the system's card says
            said = self.system.info.model_dump(exclude_unset=True)
            info = info.model_copy(update=said)
        generation = Generation(seed=self.system.seed, settings=self.system.generation)
        for direction in self._directions(card.directions):
            steps = self.system.postprocess
            cell = SystemCell(
                direction,
                info,
                name,
                stored,
                generation,
                choice,
                steps,
                device=self.device,
                resources=self.system.resources,
            )
            yield from [cell] if self.system.seeds is None else self._runs(cell, self.system.seeds)

    def _runs(self, cell: SystemCell, count: int) -> Iterator[Cell]:
        """A cell for each seed."""
        direction = system_class(cell.name).direction_to_learn(parse_direction(cell.direction))
        chosen = cell.choice
        config = system_config(cell.name, direction, chosen.settings, preset=chosen.preset)
        for run in seeded(cell.name, config, count):
            info = cell.info.model_copy(update={"name": run_name(cell.info.name, run.seed)})
            settings = {**chosen.settings, "seed": run.seed}
            choice = replace(chosen, settings=settings, called=run.name)
            yield replace(cell, info=info, choice=choice, runs_of=cell.info.name)

    def _published(self, name: str) -> Iterator[Cell]:
        if self.system.info:
            raise _TableError("'info' does not apply to a published system, which has its own")
        for direction in _expanded(self.system.directions or published_directions(name)):
            info, read = published_info(name, direction), partial(published_predictions, name)
            yield WrittenCell(direction, info, read)

    def _files(self, outputs: dict[str, str]) -> Iterator[Cell]:
        info = self.system.info
        if info is None:
            raise _TableError("'outputs' need 'info.name'")
        if self.system.directions:
            raise _TableError("'directions' does not apply: 'outputs' names the directions")
        for direction, file in outputs.items():
            path = self.folder / file
            if not path.is_file():
                raise InputError(f"{info.name}, {direction}: no such file: {path}")
            yield WrittenCell(direction, info, partial(_of_file, path, info.name))
