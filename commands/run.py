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
import shlex
from dataclasses import replace

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
        choices=("process", "ray", "hf-jobs"),
        default="process",
        help="where jobs run: in this process (default), on a Ray cluster, or by Hub Jobs",
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
        "file://...), if they share no disk: files travel through it; with hf-jobs: "
        "hf://datasets/OWNER/NAME",
    )
    for name, value, what in (
        ("flavor", "NAME", "hardware of the Hub, where a system's resources name none"),
        ("timeout", "TIME", "after which the Hub ends a job, such as 90m"),
        ("image", "IMAGE", "container image, which has uv"),
        (
            "install",
            "REQUIREMENT",
            "what brings TSTBench there, such as tstbench @ git+https://...",
        ),
    ):
        parser.add_argument(f"--{name}", metavar=value, help=f"with --engine hf-jobs: {what}")
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
    from ..pipelines.suite import Changes, Part, Where, run_suite, undone_jobs
    from ..pipelines.suite_plan import plan_suite
    from ..pipelines.tables import print_rows

    part = Part(
        *(tuple(some) for some in (arguments.system, arguments.direction, arguments.metric))
    )
    changes = Changes(tuple(arguments.set), arguments.seeds, arguments.batch_size)
    hub = {name: getattr(arguments, name) for name in ("flavor", "timeout", "image", "install")}
    hub = {name: value for name, value in hub.items() if value}
    engines = {
        "address": ("ray",),
        "storage": ("ray", "hf-jobs"),
        **dict.fromkeys(hub, ("hf-jobs",)),
    }
    for name, some in engines.items():
        if getattr(arguments, name) and arguments.engine not in some:
            raise InputError(f"--{name} is not for this engine: add --engine {' or '.join(some)}")
    where = Where(arguments.engine, arguments.address, arguments.storage)
    if arguments.engine == "hf-jobs":
        from ..pipelines.hub_jobs import Hardware, checked, planned

        checked(arguments.storage)
        where = replace(where, hardware=Hardware(**hub))
    if arguments.dry_run:
        show(plan_suite(arguments.suite, part, changes))
        if where.hardware:
            print_rows(*planned(undone_jobs(arguments.suite, part, changes), where.hardware))
            command = where.hardware.command(arguments.storage, "<digest>")
            say(f"image {where.hardware.image}, secret HF_TOKEN; each runs: {shlex.join(command)}")
        return
    with agreed(arguments.yes):
        root = run_suite(
            arguments.suite,
            lambda standings: print_standings([standings], arguments.format),
            part,
            changes,
            where,
        )
    say(f"results are in {root}; to view them: tstbench leaderboard {root}")
