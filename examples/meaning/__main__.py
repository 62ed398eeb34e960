"""Train a meaning scorer on pairs made from sentences: ``python -m meaning --text FILE``."""

import argparse
import sys
from pathlib import Path

from tstbench.datasets_scripts.judgments.studies import sentences_left_out
from tstbench.errors import TSTBenchError
from tstbench.settings import read_settings

from .material import material
from .train import MeaningConfig, train_meaning

parser = argparse.ArgumentParser(prog="python -m meaning", description=__doc__.partition(":")[0])
parser.add_argument(
    "--text", type=Path, action="append", default=[], help="one sentence a line; repeatable"
)
parser.add_argument(
    "--only-text", action="store_true", help="learn from --text alone, not from the datasets"
)
parser.add_argument(
    "--without",
    action="append",
    default=[],
    metavar="STUDY",
    help="learn from no sentence of a study of human judgments; repeatable",
)
parser.add_argument("--pairs", type=int, help="pairs that are made (default: 28000)")
parser.add_argument("--epochs", type=int, help="how often they are seen (default: 1)")
parser.add_argument("--seed", type=int, help="of pairs and training (default: 0)")
arguments = parser.parse_args()
values = {name: getattr(arguments, name) for name in ("pairs", "epochs", "seed")}
chosen = {name: value for name, value in values.items() if value is not None}
try:
    config = read_settings(MeaningConfig, chosen, "meaning")
    without = sentences_left_out(arguments.without)
    corpora = material(arguments.text, datasets=not arguments.only_text, without=without)
    artefact = train_meaning(corpora, config)
except TSTBenchError as error:
    print(f"python -m meaning: {error}", file=sys.stderr)
    sys.exit(2)
for name, value in artefact.card.scores.items():
    print(f"{name}\t{value:.4f}")
print(f"--scorer meaning={artefact.folder}")
