"""Train and store systems; the same recipe is not trained twice."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from ..console import say
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData
from ..errors import InputError, unknown_name
from ..files import check_replaceable, make_folder
from ..pace import process_index, training
from ..settings import read_settings
from .card import SystemCard, run_name
from .system import SYSTEM_STORE, StoredSystem, SystemConfig, system_class
from .training.curve import CURVE_FILE
from .training.run import IN_MEMORY, Run

PRESETS = ("tstbench", "small", "tiny")  # each a method of SystemConfig


@dataclass(frozen=True)
class Clock:
    """Started before a training, asked after it.

    Attributes:
        began: on the monotonic clock, in seconds.
        whole: whether the training began from nothing; the time of one that was continued is
            not known.
        run: where it takes place.
    """

    began: float
    whole: bool
    run: Run

    @classmethod
    def start(cls, folder: Path, run: Run) -> Clock:
        """Start; ``folder`` may have checkpoints of the training's earlier part.

        Raises:
            InputError: ``run.resume`` requires one, and there is none.
        """
        return cls(time.monotonic(), not run.continues(folder), run)

    def made(self) -> dict[str, JsonValue]:
        """``seconds`` (if it ran in one go), ``device``, ``threads`` and ``processes``."""
        import torch  # what has a learning curve has imported it

        found: dict[str, JsonValue] = {}
        if self.whole:
            found["seconds"] = round(time.monotonic() - self.began, 1)
        if self.run.device != "cpu" and torch.cuda.is_available():
            found["device"] = torch.cuda.get_device_name()
        else:
            found["device"] = f"cpu, {platform.machine()}"
            found["threads"] = torch.get_num_threads()
        found["processes"] = int(os.environ.get("WORLD_SIZE", "1"))
        return found


class Seeded(NamedTuple):
    """One of several runs of a system."""

    name: str
    seed: int
    config: SystemConfig


def config_class(name: str) -> type[SystemConfig]:
    """The dataclass of a system's settings.

    Raises:
        UnknownNameError: no such system.
        InputError: the system needs no training.
    """
    config = system_class(name).Config
    if config is None:
        raise InputError(f"{name} needs no training")
    return config


def presets(config: type[SystemConfig]) -> list[str]:
    """The names of a system's presets: sets of settings besides its defaults."""
    kinds = [kind for kind in config.__mro__ if kind is not SystemConfig]
    return [name for name in PRESETS if any(name in vars(kind) for kind in kinds)]


def system_config(
    name: str,
    direction: Direction,
    values: Mapping[str, Any] | None = None,
    *,
    preset: str | None = None,
) -> SystemConfig:
    """The settings to train a system with: those given, or the system's defaults for the direction.

    Args:
        name: a name of the registry.
        direction: the direction to learn.
        values: settings by name, which take precedence.
        preset: a name of :func:`presets`, instead of the defaults.

    Raises:
        UnknownNameError: no such system, setting or preset.
        InputError: the system needs no training; a value has the wrong type or is out of range.
    """
    config = config_class(name)
    if preset is not None and preset not in presets(config):
        raise unknown_name(f"preset of {name}", preset, presets(config))
    usual = getattr(config, preset or "for_direction")(direction)
    return read_settings(config, {**asdict(usual), **(values or {})}, name)


def seeded(name: str, config: SystemConfig, count: int, called: str | None = None) -> list[Seeded]:
    """The runs of a system with several seeds: that of its settings, and those that follow it.

    Args:
        name: a name of the registry.
        config: its settings.
        count: of seeds.
        called: the name that the runs share; default ``name``.

    Raises:
        InputError: fewer than two runs, or nothing in the system's training is random.
    """
    first = getattr(config, "seed", None)
    if first is None:
        raise InputError(f"{name} is trained without a seed: several runs would be the same")
    if count < 2:
        raise InputError(f"{count} seeds: give at least 2, or leave it away")
    return [
        Seeded(run_name(called or name, seed), seed, read_settings(type(config), values, name))
        for seed in range(first, first + count)
        for values in [{**asdict(config), "seed": seed}]
    ]


def planned_system(
    name: str,
    data: TrainingData,
    config: SystemConfig | None = None,
    *,
    called: str | None = None,
) -> SystemCard:
    """The card of a system as it would be trained: its recipe is known before training."""
    config = _checked(name, data, config)
    card = system_class(name).planned(data, config)
    return card if called is None else replace(card, name=called)


def train_system(
    name: str,
    data: TrainingData,
    config: SystemConfig | None = None,
    *,
    called: str | None = None,
    run: Run = IN_MEMORY,
) -> StoredSystem:
    """Train a system and store it, unless it is already in the store.

    Checkpoints and the learning curve are in ``$TSTBENCH_HOME/runs``, or in ``run.folder``, while
    the training lasts, in a folder named by the recipe: the same recipe continues where it
    stopped. The curve is then among the system's files.

    Args:
        name: a name of the registry.
        data: the data to learn from.
        config: its settings; ``None`` for its defaults for the direction.
        called: its name on leaderboards; default ``name``.
        run: where and how.

    Raises:
        UnknownNameError: no such system.
        IntegrityError: the checkpoint to continue from is damaged.
        InputError: the system needs no training, settings belong to another system or are out of
            range, or it cannot learn from the data.
    """
    config = _checked(name, data, config)
    card = planned_system(name, data, config, called=called)
    if (there := SYSTEM_STORE.find_recipe(card)) is not None:
        return there
    sentences, pairs = f"{card.n_sentences:,} sentences", f"{card.n_pairs:,} pairs"
    if process_index() == 0:
        names = card.directions or ("any direction",)
        what = names[0] if len(names) == 1 else f"{names[0]} and back"
        say(f"training {card.name} for {what}: {sentences}, {pairs}")
    goal = f"{card.name} for {card.directions[0] if card.directions else 'any direction'}"
    with training(goal, name, card.recipe, run.folder) as folder:
        clock = Clock.start(folder, run)
        system = system_class(name).train(data, config, replace(run, folder=folder))
        has_curve = (folder / CURVE_FILE).is_file()

        def write(target: Path) -> None:
            system.write(target)
            if has_curve:
                shutil.copyfile(folder / CURVE_FILE, target / CURVE_FILE)

        made = clock.made() if has_curve else {}
        card = replace(system.card, name=card.name, made=made)
        stored = None
        if process_index() == 0:
            stored = SYSTEM_STORE.keep(card, write)
        _wait_for_all()
    stored = stored or SYSTEM_STORE.find_recipe(card)
    return stored or SYSTEM_STORE.keep(card, system.write)


def _wait_for_all() -> None:
    """Until all processes of a training are here: the first has then stored the system."""
    if "RANK" in os.environ:
        import torch.distributed

        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.barrier()


def check_target(folder: Path) -> None:
    """Find out before training, not after it, that a system cannot be written to a folder.

    Raises:
        InputError: the folder contains something other than an earlier system, or cannot be made.
    """
    check_replaceable(folder, SYSTEM_STORE.is_model)
    make_folder(folder.absolute().parent)


def _checked(name: str, data: TrainingData, config: SystemConfig | None) -> SystemConfig:
    if config is None:
        return system_config(name, data.direction)
    expected = config_class(name)
    if not isinstance(config, expected):
        raise InputError(f"{name} is trained with {expected.__name__}, got {type(config).__name__}")
    return read_settings(expected, asdict(config), name)
