"""Evaluate a whole suite, systems x directions: a TOML file, or a named one (--list).

Completed work is on disk and is not repeated: you can interrupt and start again at any time. What
cannot be run here is said and left out, the others run, and the exit code is then 1.

For example, suite.toml:
  out = "results"
  [[system]]
  system = "copy"
  directions = ["mini/negative-to-positive", "mini/positive-to-negative"]
  [[system]]
  info = { name = "mine", family = "fpft", date = "2026-01" }
  outputs = { "mini/negative-to-positive" = "mine.txt" }

A part of it, repeatable:
  tstbench run suite.toml --system mine --direction mini/negative-to-positive --metric bleu

The benchmark itself, first what it would take:
  tstbench run paper --dry-run
  tstbench run paper --seeds 3 --direction yelp --yes
"""

from __future__ import annotations

import argparse

from ..console import say, show
from ..errors import InputError
from .arguments import Arguments, Parser, add_batch_size, add_yes


class _List(argparse.Action):
    """Lists the named suites and ends, as ``--help`` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ..pipelines.suite_file import named_suites
        from ..pipelines.tables import print_rows

        print_rows(("suite", "what it runs"), list(named_suites().items()))
        parser.exit()


def add_arguments(parser: Parser) -> None:
    """Add the suite file, its parts, its changes and the format."""
    parser.add_argument("suite", metavar="SUITE", help="a file SUITE.toml, or a name")
    parser.add_argument("--list", action=_List, nargs=0, help="list the suites that have a name")
    parser.switch(
        "--dry-run",
        "say what would be run, what is missing and how to get it, and what it takes; "
        "nothing is downloaded, trained, asked or scored",
    )
    for name, what in (
        ("system", "system of the suite"),
        ("direction", "direction, or dataset"),
        ("metric", "metric or family"),
    ):
        parser.repeatable(f"--{name}", name.upper(), f"only this {what}; repeatable")
    parser.count("--seeds", "train each system N times, with N seeds")
    parser.repeatable(
        "--set",
        "SYSTEM.SETTING=VALUE",
        "a setting of a named system, such as tyb.base=FOLDER; repeatable",
    )
    parser.add_argument(
        "--engine",
        choices=("process", "ray"),
        default="process",
        help="where jobs run: in this process (default), or on a Ray cluster",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="with --engine ray: a running cluster, or 'auto' on one of its nodes; without it, "
        "Ray is started on this machine for this run",
    )
    parser.add_argument(
        "--storage",
        metavar="URL",
        help="with --engine ray: a folder that all machines reach (s3://..., hf://..., "
        "file://...), if they share no disk: files travel through it",
    )
    add_batch_size(parser)
    add_yes(parser)
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "latex", "html"),
        default="table",
        help="format of the rankings",
    )


def run(arguments: Arguments) -> None:
    """Run the suite."""
    from ..pace import agreed
    from ..pipelines.rankings import print_standings
    from ..pipelines.suite import Changes, Part, run_suite
    from ..pipelines.suite_plan import plan_suite

    part = Part(
        *(tuple(some) for some in (arguments.system, arguments.direction, arguments.metric))
    )
    changes = Changes(tuple(arguments.set), arguments.seeds, arguments.batch_size)
    for name in ("address", "storage"):
        if getattr(arguments, name) and arguments.engine != "ray":
            raise InputError(f"--{name} is of a Ray cluster: add --engine ray")
    if arguments.dry_run:
        show(plan_suite(arguments.suite, part, changes))
        return
    with agreed(arguments.yes):
        root = run_suite(
            arguments.suite,
            lambda standings: print_standings([standings], arguments.format),
            part,
            changes,
            engine=arguments.engine,
            address=arguments.address,
            storage=arguments.storage,
        )
    say(f"results are in {root}; to view them: tstbench leaderboard {root}")
