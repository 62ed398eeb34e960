"""Systems by name, by folder, or by Hub id: found first, loaded when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..console import say
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData, load_training
from ..datasets_scripts.tables import OwnText
from ..datasets_scripts.unchanged import Remembered, about_dataset
from ..errors import InputError, UnknownNameError, unknown_name
from ..hub import is_repo_id
from ..pace import ask_before
from ..settings import as_json, read_settings
from .card import SystemCard
from .system import (
    SYSTEM_STORE,
    StoredSystem,
    System,
    SystemConfig,
    check_direction,
    open_system,
    system_class,
    system_names,
)
from .train import planned_system, presets, system_config, train_system
from .training.run import Run


@dataclass(frozen=True)
class Choice:
    """The settings to train a system with, as far as they are not its defaults.

    Attributes:
        preset: a name of :func:`~.train.presets`.
        settings: by name; they take precedence.
        called: its name; default that of the registry.
        split: what it learns from; default :meth:`System.split_to_learn`.
    """

    preset: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    called: str | None = None
    split: str | None = None


USUAL_CHOICE = Choice()


@dataclass(frozen=True)
class FoundSystem:
    """A system that exists or can be trained; it is loaded or trained only when used.

    Attributes:
        card: if the system is yet to be trained, as far as it is known.
        identity: what identifies its predictions: the hash of a folder, or the recipe of a name.
        open: finds its folder; trains the system first, on a device, if needed.
    """

    card: SystemCard
    identity: str
    open: Callable[[str], StoredSystem]

    @property
    def kind(self) -> type[System]:
        """Its class."""
        return system_class(self.card.kind)

    def load(self, device: str = "auto") -> System:
        """The system itself, ready to transfer."""
        return self.kind.of(self.open(device), device=device)


def load_system(
    name_or_path: str | Path, *, revision: str | None = None, device: str = "auto"
) -> System:
    """Load a system, ready to transfer.

    Args:
        name_or_path: the name of one that needs no training, such as ``copy``; a folder that
            ``save_pretrained`` wrote, which takes precedence; or a Hub id, ``owner/name``.
        revision: for a Hub id: a branch, tag or commit.
        device: ``auto``, ``cpu``, ``cuda``...

    Raises:
        UnknownNameError: neither a name, nor a folder, nor a Hub id.
        MissingSystemError: no system in that folder or repository.
        IntegrityError: its files do not match its card.
        InputError: the system must be trained first.
    """
    name = str(name_or_path) if revision else prefer_folder(str(name_or_path))
    if name in system_names() and revision is None:
        if system_class(name).Config is not None:
            raise InputError(
                f"{name} must be trained first: tstbench train {name} --direction DIRECTION --out "
                "FOLDER; then load the folder"
            )
        return _untrained(name).load(device)
    return find_stored(name, revision=revision).load(device)


def find_system(
    name_or_path: str,
    direction: Direction,
    *,
    revision: str | None = None,
    cleaning: str | None = None,
    data_dir: Path | None = None,
    training: Callable[..., TrainingData] | None = None,
    choice: Choice = USUAL_CHOICE,
) -> FoundSystem:
    """Find a system for one direction; a named one that learns is trained when it is opened.

    Args:
        name_or_path: the name of any system, a folder, or a Hub id. A folder may contain one
            system per direction, as ``tstbench train --dataset`` writes them.
        direction: the direction it must support.
        revision: for a Hub id.
        cleaning: cleaning of the training sentences; by default the language's.
        data_dir: the user's copy of a licensed corpus, to train on.
        training: ``load_training``, or what remembers its answers.
        choice: the settings to train a named system with.

    Raises:
        UnknownNameError, MissingSystemError, IntegrityError: as :func:`load_system`.
        InputError: the system is for another direction.
        MissingFileError: training sentences cannot be found.
    """
    if name_or_path in system_names() and revision is None:
        if system_class(name_or_path).Config is None:
            return _untrained(name_or_path)
        learned = system_class(name_or_path).direction_to_learn(direction)
        split = choice.split or system_class(name_or_path).split_to_learn(learned.dataset)
        usual = partial(load_training, split=split, cleaning=cleaning, data_dir=data_dir)
        load = partial(training, split=split) if training is not None else usual
        config = system_config(name_or_path, learned, choice.settings, preset=choice.preset)
        system_class(name_or_path).check_settings(config)
        called = choice.called or name_or_path
        question = {"system": name_or_path, "direction": learned.name, "settings": as_json(config)}
        if called != name_or_path:
            question["called"] = called
        if choice.split:
            question["split"] = choice.split
        about = about_dataset(direction.dataset, question, cleaning=cleaning, data_dir=data_dir)
        about = replace(
            about, files=(*about.files, *_local_files(system_class(name_or_path), config))
        )
        if (there := _trained_before(name_or_path, called, learned, about)) is not None:
            return FoundSystem(there.card, there.card.recipe, lambda _device: there)
        before = about.state()
        card = planned_system(name_or_path, load(learned), config, called=called)
        about.keep(card.recipe, before)
        # Loaded again when it is trained: until then, no corpus is kept in memory.
        return FoundSystem(
            card,
            card.recipe,
            lambda device: _trained(name_or_path, usual(learned), config, called, device),
        )
    if revision is None:
        name_or_path = str(_of_direction(Path(name_or_path), direction))
    found = find_stored(name_or_path, revision=revision)
    check_direction(found.card, direction)
    return found


def _trained(
    name: str, data: TrainingData, config: SystemConfig, called: str, device: str
) -> StoredSystem:
    """Train a system; the user is asked if that takes hours."""
    ask_if_long(name, data.direction, config, device)
    run = read_settings(Run, {"device": device}, "training")
    return train_system(name, data, config, called=called, run=run)


def ask_if_long(name: str, direction: Direction, config: SystemConfig, device: str) -> None:
    """Ask before a training that takes hours or days; see :func:`.pace.ask_before`.

    Raises:
        InputError: the answer is no, or there is no terminal to ask on.
    """
    if takes_long(name, direction, config, device):
        ask_before(
            f"{name} is not trained for {direction} yet, and with the published settings this "
            "takes hours or days on a CPU",
            "'tstbench transfer' and 'tstbench run' do it with --yes; or train a small one in half "
            f"an hour, tstbench train {name} --preset small --direction {direction} --out FOLDER, "
            "and give FOLDER",
        )


def takes_long(name: str, direction: Direction, config: SystemConfig, device: str) -> bool:
    """Whether training takes hours or days on a device: published settings, and no GPU."""
    known = presets(type(config))
    whole = (
        system_config(name, direction, preset=preset)
        for preset in (None, "tstbench")
        if preset is None or preset in known
    )
    usual = any(is_same_but_seed(config, one) for one in whole)
    return usual and "small" in known and (device == "cpu" or not has_gpu())


def is_same_but_seed(config: SystemConfig, other: SystemConfig) -> bool:
    """Whether two settings differ at most in their seed."""
    return {**asdict(config), "seed": 0} == {**asdict(other), "seed": 0}


def has_gpu() -> bool:
    """Whether systems are trained on a GPU here."""
    import torch  # whatever has presets needs it

    return torch.cuda.is_available()


def prefer_folder(name: str, direction: Direction | None = None) -> str:
    """The name of a system, or ``./NAME`` if a trained system is in a folder of that name here."""
    folder = Path(name)
    place = folder if direction is None else _of_direction(folder, direction)
    if name not in system_names() or not SYSTEM_STORE.is_model(place):
        return name
    say(f"{name}: the folder ./{name} is used, not the system of that name")
    return f"./{name}"


def _local_files(kind: type[System], config: SystemConfig) -> Iterator[OwnText]:
    """The files besides the dataset's that training reads: those that its settings name."""
    for setting in kind.LOCAL:
        if value := getattr(config, setting):
            place = Path(value).expanduser()
            inside = sorted(path for path in place.rglob("*") if path.is_file())
            yield from (OwnText(file, setting) for file in inside or [place])


def _of_direction(folder: Path, direction: Direction) -> Path:
    """The folder of a direction in a folder that has one system per direction."""
    own = folder.expanduser() / direction.config
    return own if SYSTEM_STORE.is_model(own) and not SYSTEM_STORE.is_model(own.parent) else folder


def find_stored(name: str, *, revision: str | None = None) -> FoundSystem:
    """The system in a folder or with a Hub id.

    Raises:
        UnknownNameError, MissingSystemError, IntegrityError: as :func:`load_system`.
    """
    if not (Path(name).expanduser().exists() or is_repo_id(name)):
        if name in system_names():
            raise UnknownNameError(
                f"a trained {name} is needed here: a folder that 'tstbench train {name}' "
                "wrote, or a Hub id (owner/name)"
            )
        hint = unknown_name("system", name, system_names())
        raise UnknownNameError(f"{hint} You can also give a folder or a Hub id (owner/name).")
    stored = open_system(name, revision=revision)
    system_class(stored.card.kind)  # raises if its package is not installed
    return FoundSystem(stored.card, stored.hash, lambda _device: stored)


def _trained_before(
    name: str, called: str, direction: Direction, about: Remembered
) -> StoredSystem | None:
    """The system in the store, if nothing it was trained on has changed."""
    recipe = about.answer()
    n_learned = len(system_class(name).learned_directions(direction))
    key = {
        0: (called, "any", "all"),
        1: (called, direction.dataset, direction.config),
    }.get(n_learned, (called, direction.dataset, "all"))
    return None if recipe is None else SYSTEM_STORE.with_recipe(key, recipe)


def _untrained(name: str) -> FoundSystem:
    card = system_class(name).untrained()
    stored = StoredSystem(Path(), card, SYSTEM_STORE.hash_of(card))
    return FoundSystem(card, card.recipe, lambda _device: stored)
