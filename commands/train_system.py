"""``tstbench train NAME ...`` for a system: its flags are the fields of its configuration."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import dataset_facts, parse_direction
from ..datasets_scripts.training import load_training
from ..errors import InputError
from ..pipelines.tables import print_rows
from ..trainers.learning.run import Run
from ..trainers.registry import system_class
from ..trainers.settings import read_settings
from ..trainers.system import SystemConfig
from ..trainers.system_card import StoredSystem
from ..trainers.train import (
    config_class,
    export,
    presets,
    process_index,
    system_config,
    train_system,
)
from .flags import add_flags, add_resume, given, read_toml, refuse


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
    directions = _directions(name, arguments)
    configs = [
        system_config(name, direction, values, preset=arguments.preset) for direction in directions
    ]
    for direction, one in zip(directions, configs, strict=True):
        data = load_training(direction, cleaning=arguments.cleaning, data_dir=arguments.data_dir)
        stored = train_system(name, data, one, called=arguments.name, run=run)
        if process_index() > 0:  # the first process writes and prints
            continue
        if arguments.out is not None:
            several = len(directions) > 1
            stored = export(stored, arguments.out / direction.config if several else arguments.out)
        _show(stored)


def _parser(name: str, config: type[SystemConfig]) -> argparse.ArgumentParser:
    what = (system_class(name).__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        prog=f"tstbench train {name}", description=what, allow_abbrev=False
    )
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
    parser.add_argument("--cleaning", help="default: that of the dataset's language")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
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
    if (arguments.direction is None) == (arguments.dataset is None):
        raise InputError("give either --direction (such as mini/negative-to-positive) or --dataset")
    if arguments.direction is not None:
        return (parse_direction(arguments.direction),)
    covered: dict[str, Direction] = {}
    for direction in dataset_facts(arguments.dataset).directions:
        if direction.name not in covered:
            learned = system_class(name).learned_directions(direction)
            covered.update(dict.fromkeys(learned, direction))
    return tuple(dict.fromkeys(covered.values()))


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
