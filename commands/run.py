"""Evaluate a whole suite, systems x directions: a TOML file, or a named one (--list).

Completed work is on disk and is not repeated: you can interrupt and start again at any time.

For example, suite.toml:
  out = "results"
  [[system]]
  baseline = "copy"
  directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
  [[system]]
  info = { name = "mine", family = "fpft", date = "2026-01" }
  outputs = { "mini/negative-to-positive" = "mine.txt" }

A part of it, repeatable:
  tstbench run suite.toml --system mine --direction mini/negative-to-positive --metric bleu
"""

from __future__ import annotations

import argparse

from ..talk import say
from .flags import add_yes
from .scoring import add_batch_size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suite file, its parts and the format."""
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="a file SUITE.toml, or a name")
    parser.add_argument("--list", action="store_true", help="list the suites that have a name")
    for name, what in (
        ("system", "system of the suite"),
        ("direction", "direction, or dataset"),
        ("metric", "metric or family"),
    ):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar=name.upper(),
            help=f"only this {what}; repeatable",
        )
    add_batch_size(parser)
    add_yes(parser)
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "latex", "html"),
        default="table",
        help="format of the rankings",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the suite."""
    from ..errors import InputError
    from ..pipelines.rankings import print_ranking
    from ..pipelines.suite import Part, run_suite
    from ..pipelines.suite_file import named_suites
    from ..pipelines.tables import print_rows
    from ..trainers.learning.pace import agreed

    if arguments.list:
        print_rows(("suite", "what it runs"), list(named_suites().items()))
        return
    if arguments.suite is None:
        raise InputError("which suite? Give a file SUITE.toml, or a name that --list shows")
    part = Part(
        *(tuple(some) for some in (arguments.system, arguments.direction, arguments.metric))
    )
    with agreed(arguments.yes):
        root = run_suite(
            arguments.suite,
            lambda reports, ranks: print_ranking(reports, ranks, arguments.format),
            part,
            batch_size=arguments.batch_size,
        )
    say(f"results are in {root}; to view them: tstbench leaderboard {root}")
