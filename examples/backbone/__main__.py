"""Pre-train a small language model: ``python -m backbone --family bart --preset small --out bart``.

It becomes a folder that transformers reads, and that systems take as ``--base``.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

from tstbench.commands.arguments import Parser, add_flags, add_resume, given
from tstbench.errors import TSTBenchError, unknown_name
from tstbench.settings import read_settings
from tstbench.trainers.training.backbones import BackboneFamily
from tstbench.trainers.training.run import Run

from .config import BackboneConfig
from .text import backbone_text
from .train import train_backbone


def main(options: Sequence[str]) -> None:
    """Train a backbone, write it to a folder and print its loss.

    Raises:
        TSTBenchError: no such family, dataset or setting, or a setting is out of range.
    """
    families = get_args(BackboneFamily)
    parser = Parser(prog="python -m backbone", description=__doc__, allow_abbrev=False)
    parser.add_argument("--family", required=True, help=", ".join(families))
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        help="learn from its training sentences; repeatable (default: every dataset at hand but "
        "GYAFC; nothing that is made from that may be published)",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")
    parser.add_argument("--preset", metavar="NAME", help="a set of settings: small, tiny")
    add_resume(parser)
    add_flags(parser, "settings", BackboneConfig)
    add_flags(parser, "where and how", Run)
    arguments = parser.known(options)
    if arguments.family not in families:
        raise unknown_name("family of backbones", arguments.family, families)
    presets = {
        None: BackboneConfig(),
        "small": BackboneConfig.small(arguments.family),
        "tiny": BackboneConfig.tiny(arguments.family),
    }
    if arguments.preset not in presets:
        raise unknown_name("preset of backbone", arguments.preset, [n for n in presets if n])
    usual = asdict(presets[arguments.preset])
    values = {**usual, **given(BackboneConfig, arguments, "backbone")}
    config = read_settings(BackboneConfig, values, "backbone")
    run = read_settings(Run, given(Run, arguments, "training"), "training")
    text = backbone_text(arguments.dataset, data_dir=arguments.data_dir)
    learned = train_backbone(
        text, arguments.family, config, arguments.out, replace(run, resume=arguments.resume)
    )
    print(f"{len(text.sentences):,} sentences of {', '.join(text.datasets)}; left out, since they")
    print(f"are in a test split: {text.n_excluded:,}. Loss per token {learned.scores['loss']:.4f}")
    print(f"after {learned.step} steps; --base {arguments.out}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except TSTBenchError as error:
        print(f"python -m backbone: {error}", file=sys.stderr)
        sys.exit(2)
