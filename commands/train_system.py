"""``tstbench train NAME ...`` for a system: its flags are the fields of its configuration."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ..datasets_scripts.catalog import directions_of, parse_direction
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.training import TrainingData, load_training
from ..errors import InputError
from ..pipelines.tables import print_rows
from ..settings import from_texts, read_settings
from ..trainers.learning.run import Run, process_index
from ..trainers.registry import system_class
from ..trainers.system import SystemConfig
from ..trainers.system_card import SYSTEM_STORE, StoredSystem
from ..trainers.train import (
    check_target,
    config_class,
    presets,
    seeded,
    system_config,
    train_system,
)
from .flags import add_flags, add_resume, given, read_toml, refuse
from .parser import Parser


def train(name: str, options: Sequence[str]) -> None:
    """Train a system on one direction, or on each of a dataset, and print where it is.

    Raises:
        TSTBenchError: no such system, direction or setting, or a setting is out of range.
    """
    config = config_class(name)
    parser = _parser(name, config)
    arguments, rest = parser.parse_known_args(options)
    if rest:
        refuse(rest[0], parser)
    values = {**read_toml(arguments.config), **given(config, arguments, name)}
    run = read_settings(Run, given(Run, arguments, "training"), "training")
    run = replace(run, resume=arguments.resume)
    directions, preset = _directions(name, arguments), arguments.preset
    several = len(directions) > 1
    runs = [
        (direction, one)
        for direction in directions
        for one in _runs(name, arguments, system_config(name, direction, values, preset=preset))
    ]
    for direction, (called, _) in runs:
        if arguments.out is not None:
            check_target(_folder(arguments, direction, called, several=several))
    data: dict[Direction, TrainingData] = {}
    for direction, (called, one) in runs:
        if direction not in data:
            split = arguments.split or system_class(name).split_to_learn(direction.dataset)
            how = {"cleaning": arguments.cleaning, "data_dir": arguments.data_dir}
            data = {direction: load_training(direction, split=split, **how)}
        stored = train_system(name, data[direction], one, called=called, run=run)
        if process_index() > 0:  # the first process writes and prints
            continue
        if arguments.out is not None:
            folder = _folder(arguments, direction, called, several=several)
            stored = SYSTEM_STORE.export_stored(stored, folder)
        _show(stored)


def _folder(
    arguments: argparse.Namespace, direction: Direction, called: str | None, *, several: bool
) -> Path:
    """Where ``--out`` has a system: a folder for each seed, and in it one for each direction."""
    folder: Path = arguments.out if arguments.seeds is None else arguments.out / str(called)
    return folder / direction.config if several else folder


def _runs(
    name: str, arguments: argparse.Namespace, config: SystemConfig
) -> list[tuple[str | None, SystemConfig]]:
    """What is trained, and what it is called: one system, or one for each seed."""
    if arguments.seeds is None:
        return [(arguments.name, config)]
    count = from_texts(_Seeds, {"seeds": arguments.seeds}, "training")
    runs = seeded(name, config, read_settings(_Seeds, count, "training").seeds, arguments.name)
    return [(run.name, run.config) for run in runs]


@dataclass(frozen=True)
class _Seeds:
    seeds: Annotated[int, Field(ge=2)]


def _parser(name: str, config: type[SystemConfig]) -> argparse.ArgumentParser:
    what = (system_class(name).__doc__ or "").partition("\n")[0]
    parser = Parser(prog=f"tstbench train {name}", description=what, allow_abbrev=False)
    parser.add_argument("--direction", help="such as yelp/negative-to-positive")
    parser.add_argument("--dataset", help="train on each direction of a dataset instead")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="also write the system here; with --dataset, one folder per direction",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE.toml", help="settings in TOML; flags take precedence"
    )
    parser.add_argument("--name", help=f"name of the trained system (default {name})")
    parser.add_argument(
        "--split", help="what it learns from; default: train, and for rules what scorers learn from"
    )
    parser.add_argument("--cleaning", help="default: that of the dataset's language")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    parser.add_argument(
        "--seeds",
        metavar="N",
        help="train N systems, with --seed and the seeds that follow it, called NAME-seed0 and so "
        "on; with --out, one folder each",
    )
    parser.add_argument("--preset", metavar="NAME", help=_presets(config))
    add_resume(parser)
    add_flags(parser, "settings, part of the recipe", config)
    add_flags(parser, "where and how, not part of the recipe", Run)
    return parser


def _presets(config: type[SystemConfig]) -> str:
    names = presets(config)
    return f"a set of settings: {', '.join(names)}" if names else "this system has none"


def _directions(name: str, arguments: argparse.Namespace) -> tuple[Direction, ...]:
    """The directions to train on; one of a pair that a system learns both ways."""
    kind = system_class(name)
    if kind.ANY_DIRECTION and arguments.direction is None and arguments.dataset is None:
        return (kind.direction_to_learn(parse_direction("mini/negative-to-positive")),)
    if (arguments.direction is None) == (arguments.dataset is None):
        raise InputError("give either --direction (such as mini/negative-to-positive) or --dataset")
    if arguments.direction is not None:
        return (system_class(name).direction_to_learn(parse_direction(arguments.direction)),)
    directions = directions_of(arguments.dataset)
    return tuple(dict.fromkeys(map(system_class(name).direction_to_learn, directions)))


def _show(stored: StoredSystem) -> None:
    card = stored.card
    print_rows(
        ("", card.name),
        [
            ("directions", ", ".join(card.directions)),
            ("trained on", card.trained_on),
            ("sentences", str(card.n_sentences)),
            ("pairs", str(card.n_pairs)),
            ("left out", str(card.n_excluded)),
            *((name, f"{value:.4f}") for name, value in card.scores.items()),
            ("hash", stored.hash),
            ("folder", str(stored.folder)),
        ],
    )
