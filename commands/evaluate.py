"""Score files of rewritten sentences and rank the systems.

OUTPUTS is a text file (one prediction per line, in the order of the sources), JSON Lines or CSV (a
'prediction' column, and 'id' if the order is different), or a folder of such files. NAME=PATH names
a system. Scorers that do not exist yet are trained first (see 'tstbench prepare').

Examples:
  tstbench evaluate outputs.txt --direction yelp/negative-to-positive
  tstbench evaluate ours=out.jsonl theirs/ --baseline copy --direction mini/negative-to-positive
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say
from ..errors import InputError
from .arguments import Arguments, Parser, add_data_dir, add_scoring_arguments, read_scoring

if TYPE_CHECKING:
    from ..datasets_scripts.load import TestSet
    from ..pipelines.outputs import Outputs
    from ..pipelines.scoring import Scoring


def add_arguments(parser: Parser) -> None:
    """Add files, direction, and the choices that change a score."""
    parser.add_argument("outputs", nargs="*", metavar="OUTPUTS", help="files or folders")
    parser.add_argument("--direction", help="needed; such as yelp/negative-to-positive")
    parser.repeatable(
        "--baseline",
        "NAME",
        "also score a baseline: copy, random-target, reference-1, delete-retrieve",
    )
    parser.path(
        "--info",
        "FILE",
        "who made the outputs: a TOML file with a table for each system, such as [outputs], "
        "and in it family, date, origin...; for outputs.txt, outputs.toml beside it says the same",
    )
    add_scoring_arguments(parser)
    parser.path("--out", "DIR", "write reports and samples here")
    add_data_dir(parser)
    parser.add_argument(
        "--format",
        choices=("table", "markdown", "latex", "html"),
        default="table",
        help="format of the ranking",
    )
    parser.switch("--intervals", "show the 95%% intervals")
    parser.switch("--json", "print reports as JSON lines")
    parser.switch("--signatures", "print the signatures too")
    parser.switch(
        "--dry-run",
        "llm_judge: print every request, as JSON Lines, and what they may cost; send none",
    )


def run(arguments: Arguments) -> None:
    """Read everything first, so that a mistake in the last file is found before scoring."""
    from ..datasets_scripts.load import load_test_set
    from ..datasets_scripts.strict_toml import read_toml
    from ..files import make_folder
    from ..metrics.registry import METRICS, families
    from ..pipelines.evaluate import evaluate
    from ..pipelines.face import read_systems
    from ..pipelines.outputs import find_outputs, suggestion
    from ..pipelines.references import is_reference
    from ..pipelines.report import SystemsFile
    from ..pipelines.results import check_names, system_folder
    from ..trainers.system import system_names

    known = {*METRICS, *families()}
    swallowed = [m for m in arguments.metrics or () if m not in known and Path(m).exists()]
    if swallowed and not arguments.outputs:
        raise InputError(
            f"{swallowed[0]!r} is read as a metric: put OUTPUTS before --metrics, or '--' between"
        )
    for name in arguments.outputs:
        if (name in system_names() or is_reference(name)) and not Path(name).exists():
            raise InputError(f"no such file: {name}; for the baseline, write --baseline {name}")
    if not arguments.outputs and not arguments.baseline:
        raise InputError("nothing to score: give OUTPUTS files, or --baseline NAME")
    how = read_scoring(arguments)
    if arguments.out and arguments.out.exists() and not arguments.out.is_dir():
        raise InputError(f"--out {arguments.out} is a file, but must be a folder")
    found = find_outputs(arguments.outputs)
    check_names([*(name for name, _ in found), *arguments.baseline])
    if arguments.direction is None:
        hint = suggestion(found[0][1], arguments.data_dir) if found else ""
        raise InputError(f"--direction is missing, see 'tstbench directions'.{hint}")
    test_set = load_test_set(arguments.direction, data_dir=arguments.data_dir)
    told = read_toml(arguments.info, SystemsFile).root if arguments.info else {}
    outputs, infos = read_systems(
        dict(found), arguments.baseline, test_set, told, arguments.data_dir, arguments.device
    )
    if arguments.dry_run:
        _dry_run(outputs, test_set, how)
        return
    if arguments.out:
        make_folder(arguments.out)  # better known now than after scoring
    evaluation = evaluate(outputs, test_set, how, infos, arguments.out, data_dir=arguments.data_dir)
    _print(evaluation, arguments)
    if arguments.out:
        say(evaluation.summary())
        for system in (one for one in evaluation.systems if one.computed):
            place = system_folder(arguments.out, test_set.direction, system.info.name)
            say(f"wrote {place}/report.json and samples.jsonl")


def _dry_run(outputs: list[Outputs], test_set: TestSet, how: Scoring) -> None:
    from ..pipelines.evaluate import judge_estimate

    found = judge_estimate(outputs, test_set, how)
    for one in found.planned:
        row = {
            "request": one.call.body,
            "prompt_tokens": one.prompt_tokens,
            "answered": one.answered,
        }
        print(json.dumps(row))  # noqa: T201 - ASCII on any terminal
    say(found.summary)


def _print(evaluation, arguments: Arguments) -> None:  # type: ignore[no-untyped-def]
    from rich.console import Console

    from ..pipelines.rankings import print_standings
    from ..pipelines.tables import foreign

    if arguments.json:
        for system in evaluation.systems:
            whole = system.results.report.model_dump(mode="json")
            print(json.dumps(whole))  # noqa: T201 - ASCII on any terminal
        return
    print_standings([evaluation.standings], arguments.format, intervals=arguments.intervals)
    reports = evaluation.standings.reports
    left_out: dict[str, dict[str, None]] = {}
    for one in (one for report in reports for one in report.left_out):
        left_out.setdefault(one.why, {})[one.metric] = None
    for why, metrics in left_out.items():
        say(f"{', '.join(metrics)} {'is' if len(metrics) == 1 else 'are'} left out: {why}")
    if arguments.signatures:
        plain = Console(soft_wrap=True, markup=False, highlight=False)
        for score in reports[0].scores:
            plain.print(foreign(f"{score.signature}  # {score.made_with}"))
