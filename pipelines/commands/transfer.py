"""Rewrite a direction's test set with a baseline system, as a file that 'evaluate' reads.

Example:
  tstbench transfer delete-retrieve --direction yelp/negative-to-positive --out dr.jsonl
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..talk import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """System, direction, file."""
    parser.add_argument(
        "system", help="copy, random-target, reference-1 (-2, ...) or delete-retrieve"
    )
    parser.add_argument("--direction", required=True, help="such as yelp/negative-to-positive")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON Lines")
    parser.add_argument("--data-dir", type=Path, help="your copy of a licensed corpus (GYAFC)")


def run(arguments: argparse.Namespace) -> None:
    """Transfer and write."""
    from ...datasets_scripts.load import load_test_set
    from ..transfer import predict, write_predictions

    test_set = load_test_set(arguments.direction, data_dir=arguments.data_dir)
    predictions = predict(arguments.system, test_set, data_dir=arguments.data_dir)
    write_predictions(arguments.out, test_set, predictions)
    say(f"wrote {len(test_set)} predictions to {arguments.out}")
