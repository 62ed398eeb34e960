"""``tstbench train backbone ...``: a small language model for systems that fine-tune one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

from ..errors import unknown_name
from ..pipelines.tables import print_rows
from ..settings import read_settings
from ..trainers.backbone import train_backbone
from ..trainers.backbone_config import BackboneConfig
from ..trainers.learning.backbone_text import backbone_text
from ..trainers.learning.run import Run
from ..trainers.nets.backbones import BackboneFamily
from .flags import add_flags, add_resume, given, read_toml, refuse
from .parser import Parser


def train(options: Sequence[str]) -> None:
    """Train a backbone, write it to a folder and print its loss.

    Raises:
        TSTBenchError: no such family, dataset or setting, or a setting is out of range.
    """
    parser = _parser()
    arguments, rest = parser.parse_known_args(options)
    if rest:
        refuse(rest[0], parser)
    if arguments.family not in get_args(BackboneFamily):
        raise unknown_name("family of backbones", arguments.family, get_args(BackboneFamily))
    presets = {
        None: BackboneConfig(),
        "small": BackboneConfig.small(arguments.family),
        "tiny": BackboneConfig.tiny(arguments.family),
    }
    if arguments.preset not in presets:
        raise unknown_name("preset of backbone", arguments.preset, [n for n in presets if n])
    values = {**read_toml(arguments.config), **given(BackboneConfig, arguments, "backbone")}
    usual = asdict(presets[arguments.preset])
    config = read_settings(BackboneConfig, {**usual, **values}, "backbone")
    run = read_settings(Run, given(Run, arguments, "training"), "training")
    text = backbone_text(arguments.dataset, data_dir=arguments.data_dir)
    learned = train_backbone(
        text, arguments.family, config, arguments.out, replace(run, resume=arguments.resume)
    )
    print_rows(
        ("", f"a small {arguments.family}"),
        [
            ("datasets", ", ".join(text.datasets)),
            ("sentences", str(len(text.sentences))),
            ("left out", str(text.n_excluded)),
            ("loss per token", f"{learned.scores['loss']:.4f}"),
            ("step", str(learned.step)),
            ("folder", str(arguments.out)),
        ],
    )


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tstbench train backbone",
        description="Pre-train a small language model on training sentences. It becomes a folder "
        "that transformers reads, for systems that fine-tune one.",
        allow_abbrev=False,
    )
    parser.add_argument("--family", required=True, help=", ".join(get_args(BackboneFamily)))
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        help="learn from its training sentences; repeatable (default: every dataset at hand but "
        "GYAFC; nothing that is made from that may be published)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--config", type=Path, metavar="FILE.toml", help="settings in TOML; flags take precedence"
    )
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    parser.add_argument("--preset", metavar="NAME", help="a set of settings: small, tiny")
    add_resume(parser)
    add_flags(parser, "settings", BackboneConfig)
    add_flags(parser, "where and how", Run)
    return parser
