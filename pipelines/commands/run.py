"""Evaluate a whole suite, systems x directions, from one TOML file.

What is done is on disk and is not done again: interrupt and start again as you like.

For example, suite.toml::
  out = "results"
  [[system]]
  baseline = "copy"
  directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
  [[system]]
  info = { name = "mine", family = "fpft", date = "2026-01" }
  outputs = { "mini/negative-to-positive" = "mine.txt" }
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ..talk import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file."""
    parser.add_argument("suite", type=Path, metavar="SUITE.toml")
    parser.add_argument(
        "--format", choices=("table", "markdown", "latex"), default="table", help="of the rankings"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run it."""
    from ..rankings import print_ranking
    from ..suite import run_suite

    root = run_suite(
        arguments.suite, lambda reports, ranks: print_ranking(reports, ranks, arguments.format)
    )
    say(f"results are in {root}; look at them with: tstbench leaderboard {root}")
