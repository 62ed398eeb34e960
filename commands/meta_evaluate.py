"""Measure how far metrics agree with people: registered metrics, or a table of scores.

STUDY is li2018, mir2019, pauli2025, tstbench2025, or a file of your own: the annotation page's
export (JSON Lines) or a table (CSV with columns source, output, system, direction and one for each
aspect). Correlations with intervals at sentence and system level, and tests of the difference
between metrics; see docs/reproduction.md.

Examples:
  tstbench meta-evaluate mir2019 li2018 --metrics s_bleu bertscore acc
  tstbench meta-evaluate my.csv --column style=AnswerA --metrics acc --out agreement
  tstbench meta-evaluate li2018 --scores mine.csv --lower-is-better distance
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

from ..console import say, show
from ..errors import InputError
from ..files import home
from .arguments import Arguments, Parser, add_data_dir, add_scoring_arguments, read_scoring
from .judgments import add_layout_arguments, read_layout, read_studies

if TYPE_CHECKING:
    from ..pipelines.meta.evaluate import Scored
    from ..pipelines.meta.result import MetaReport


def add_arguments(parser: Parser) -> None:
    """Add studies, what is compared with them, and how."""
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="default: all published ones")
    parser.repeatable("--study", "FILE", "a study of your own, too")
    add_layout_arguments(parser)
    parser.path(
        "--scores",
        "FILE",
        "compare the columns of a table: outputs known by id (with direction and system) or "
        "by source and output, or systems by direction and system",
    )
    parser.several("--lower-is-better", "COLUMN", "of --scores")
    add_scoring_arguments(parser)
    parser.switch(
        "--all-aspects", "compare a metric with every aspect, not only with those it measures"
    )
    parser.count("--resamples", "default: 1000; at most 100000", default=1000)
    parser.switch("--no-tests", "no tests of differences")
    parser.switch(
        "--all",
        "print every coefficient, direction and model, at system level too, with its bounds",
    )
    add_data_dir(parser)
    parser.path(
        "--summary",
        "FILE",
        "add whole studies' r and rho to this JSON file, in the place of older ones",
    )
    parser.path("--out", "DIR", "write JSON, CSV and Markdown to this folder")


def run(arguments: Arguments) -> None:
    """Read everything first, then compute; tables go to standard output."""
    from ..datasets_scripts.judgments.studies import STUDIES
    from ..files import check_replaceable
    from ..pipelines.meta.coefficients import Settings
    from ..pipelines.meta.evaluate import meta_evaluate
    from ..pipelines.meta.known import add_run, read_agreement
    from ..pipelines.meta.result import JSON_FILE, write_folder

    named = [*arguments.studies, *arguments.study] or list(STUDIES)
    settings = Settings(
        resamples=arguments.resamples,
        all_aspects=arguments.all_aspects,
        differences=not arguments.no_tests,
    )
    if arguments.scores and arguments.metrics:
        raise InputError("give --metrics or --scores: one report compares one kind")
    if arguments.lower_is_better and not arguments.scores:
        raise InputError("--lower-is-better names columns of --scores, which is not given")
    if arguments.out:
        check_replaceable(arguments.out, lambda path: (path / JSON_FILE).is_file())
    if arguments.summary and arguments.summary.exists():
        read_agreement(arguments.summary)  # another file is told of before anything is scored
    score = _scored(arguments)
    judgments = read_studies(named, read_layout(arguments, named))
    report = meta_evaluate(judgments, score, settings)
    if arguments.out:  # first: a closed pipe ends the printing
        write_folder(arguments.out, report)
    if arguments.summary:
        add_run(arguments.summary, report, _command(arguments))
    _print(report, arguments.all)
    if arguments.out:
        say(f"wrote {arguments.out}/README.md, {JSON_FILE}, scores.csv and differences.csv")


def _command(arguments: Arguments) -> str:
    """The command that prints the same numbers, without where they are written."""
    words = ["tstbench", "meta-evaluate", *arguments.studies]
    words += (word for file in arguments.study for word in ("--study", file))
    if arguments.scores:
        words += ["--scores", str(arguments.scores)]
    lower = arguments.lower_is_better
    words += ["--lower-is-better", *lower] if lower else []
    words += (word for one in arguments.column for word in ("--column", one))
    words += ["--direction", arguments.direction] if arguments.direction else []
    words += ["--scale", arguments.scale] if arguments.scale else []
    words += ["--metrics", *arguments.metrics] if arguments.metrics else []
    words += ["--profile", arguments.profile] if arguments.profile != "embedded" else []
    words += (word for one in arguments.scorer for word in ("--scorer", one))
    words += (word for one in arguments.settings for word in ("--set", one))
    words += ["--dtype", arguments.dtype] if arguments.dtype != "float32" else []
    words += ["--all-aspects"] if arguments.all_aspects else []
    words += ["--resamples", str(arguments.resamples)]
    here = str(home())
    return " ".join(quote(word).replace(here, "$TSTBENCH_HOME") for word in words)


def _scored(arguments: Arguments) -> Scored:
    """Where the scores come from: a table, or registered metrics."""
    from ..pipelines.meta.columns import computed_columns, read_scores

    if arguments.scores:
        return read_scores(arguments.scores, arguments.lower_is_better).scored
    return partial(computed_columns, how=read_scoring(arguments), data_dir=arguments.data_dir)


def _bracketed(directions: Sequence[str]) -> list[str]:
    return [f"({', '.join(dict.fromkeys(directions))})"] if directions else []


def _print(report: MetaReport, everything: bool) -> None:
    """What a paper quotes; with ``everything``, tables in a terminal, all numbers in a pipe."""
    from ..pipelines.meta.result import QUOTED, MetaScore, terminal
    from ..pipelines.tables import print_rows

    reasons: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in report.left_out:
        directions = reasons.setdefault((one.metric, one.why), {}).setdefault(one.study, [])
        directions += [one.direction] if one.direction else []
    for (metric, why), where in reasons.items():
        studies = (" ".join([study, *_bracketed(some)]) for study, some in where.items())
        say(f"{metric} is left out of {', '.join(studies)}: {why}")
    if not report.scores and not report.left_out:
        raise InputError(
            "nothing could be compared: these metrics measure other aspects than people scored. "
            "--all-aspects compares them anyway"
        )
    if not report.scores:
        raise InputError("nothing could be compared; the reasons are above")
    if everything and sys.stdout.isatty():
        show(terminal(report))
        return
    scores = report.scores if everything else report.quoted()
    names = [name for name in MetaScore.model_fields if everything or name in QUOTED]
    rows = [[_cell(getattr(score, name)) for name in names] for score in scores]
    print_rows(names, rows)
    if more := len(report.scores) - len(scores):
        say(
            f"{more} more numbers, of directions, systems and other coefficients: "
            "--all prints them, --out DIR writes them"
        )


def _cell(value: object) -> str:
    return "" if value is None else str(value)
