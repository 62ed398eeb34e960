"""Write a study's human ratings as judgments, in one schema.

STUDY is a published one (li2018, mir2019, pauli2025, tstbench2025) or a table of your own (CSV with
columns source, output, system, direction and one for each aspect). Each study has its own terms,
which are printed. Rows of other studies in FILE are kept. The leaderboard shows results/human.jsonl
beside the scores; 'tstbench meta-evaluate' measures how far metrics agree with people.

Examples:
  tstbench judgments li2018 --out results/human.jsonl
  tstbench judgments mir2019 --out mir2019.jsonl
  tstbench judgments my.csv --direction yelp/negative-to-positive --column style=AnswerA --out my.jsonl
"""  # noqa: E501 - an example is one line

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..console import say
from ..errors import InputError
from .arguments import Arguments, Parser

if TYPE_CHECKING:
    from ..datasets_scripts.judgments.own import Layout
    from ..datasets_scripts.judgments.schema import Judgment


def add_arguments(parser: Parser) -> None:
    """Add study and file."""
    parser.add_argument("study", help="li2018, mir2019, pauli2025, tstbench2025, or a file")
    parser.path("--out", "FILE", "JSON Lines file to write", required=True)
    add_layout_arguments(parser)


def add_layout_arguments(parser: Parser) -> None:
    """Add how a table of the user's is read."""
    parser.repeatable(
        "--column",
        "OURS=THEIRS",
        "a table's own column name, such as style=AnswerA or source=Input",
    )
    parser.add_argument("--direction", help="of all rows of a table without such a column")
    parser.add_argument("--scale", help="of a table's scores: 1-5 (default), or 'ordinal 1-5'")


def read_layout(arguments: Arguments, named: Iterable[str]) -> Layout:
    """The checked layout of the arguments.

    Args:
        arguments: those of :func:`add_layout_arguments`.
        named: the studies and files that are read.

    Raises:
        InputError: a layout is given, but nothing that it could be of.
    """
    from ..datasets_scripts.judgments.own import Layout, is_table, parse_columns
    from ..datasets_scripts.judgments.studies import STUDIES

    given = {
        "--column": arguments.column,
        "--direction": arguments.direction,
        "--scale": arguments.scale,
    }
    flags = [flag for flag, value in given.items() if value]
    if flags and not any(name not in STUDIES and is_table(Path(name)) for name in named):
        raise InputError(
            f"{', '.join(flags)}: of a table of your own, and none is given (published studies and "
            "JSON Lines have their own columns, directions and scales)"
        )
    layout = Layout(columns=parse_columns(arguments.column), direction=arguments.direction)
    return replace(layout, scale=arguments.scale) if arguments.scale else layout


def read_studies(named: Iterable[str], layout: Layout) -> list[Judgment]:
    """The judgments of several studies and files.

    Raises:
        InputError: a study that is in two of them.
    """
    judgments: list[Judgment] = []
    given: dict[str, str] = {}
    for name in dict.fromkeys(named):
        rows = read_any(name, layout)
        for study in dict.fromkeys(row.study for row in rows):
            if (first := given.setdefault(study, name)) != name:
                raise InputError(
                    f"the study {study!r} is in {first} and in {name}: give one of them. A table's "
                    "study is called like its file; parts of one study can be put into one file"
                )
        judgments += rows
    return judgments


def read_any(study: str, layout: Layout) -> list[Judgment]:
    """The judgments of a published study or of a file; what to know about them is said."""
    from ..datasets_scripts.judgments.own import read_study
    from ..datasets_scripts.judgments.studies import STUDIES, parse_study

    if study not in STUDIES and ("/" in study or "." in study):
        return read_study(Path(study), layout)
    found = parse_study(study)
    rows = found.judgments()
    say(str(found))
    return rows


def run(arguments: Arguments) -> None:
    """Write the ratings; print the mean of each system on standard output."""
    from ..datasets_scripts.judgments.schema import read_judgments, write_judgments
    from ..pipelines.tables import print_rows

    if arguments.out.suffix in (".csv", ".tsv"):
        raise InputError(f"{arguments.out}: judgments are JSON Lines: let the name end in .jsonl")
    rows = read_any(arguments.study, read_layout(arguments, [arguments.study]))
    studies = {row.study for row in rows}
    kept = []
    if arguments.out.exists():
        kept = [row for row in read_judgments(arguments.out) if row.study not in studies]
    write_judgments(arguments.out, [*kept, *rows])
    others = f", after {len(kept)} of other studies" if kept else ""
    flagged = sum(row.flag is not None for row in rows)
    said = f"; {flagged} scores are not on their scale and flagged" if flagged else ""
    say(f"wrote {len(rows)} judgments to {arguments.out}{others}{said}")
    print_rows(*_means(rows))


def _means(judgments: Iterable[Judgment]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows: mean of each aspect and share of successes, by direction and system."""
    from ..datasets_scripts.judgments.li2018 import STUDY, success_rate
    from ..datasets_scripts.judgments.schema import ASPECTS, RATED

    groups: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        groups.setdefault((judgment.direction, judgment.system), []).append(judgment)
    asked = {judgment.aspect for group in groups.values() for judgment in group}
    aspects = [name for name in ASPECTS if name in asked]
    aspects += sorted(asked - set(aspects))
    succeed = {aspect.name for aspect in RATED} <= asked and all(
        judgment.study == STUDY for group in groups.values() for judgment in group
    )
    rows = []
    for (direction, system), group in sorted(groups.items()):
        cells = []
        for aspect in aspects:
            scores = [j.usable for j in group if j.aspect == aspect and j.usable is not None]
            cells.append(f"{sum(scores) / len(scores):.2f}" if scores else "-")
        items = str(len({j.sample_id or j.item for j in group}))
        if succeed:  # the measure of Li et al. (2018)
            rate = success_rate(group)
            cells.append("-" if rate is None else f"{rate:.1%}")
        rows.append((direction, system, items, *cells))
    end = ("success",) if succeed else ()
    return ("direction", "system", "sentences", *aspects, *end), rows
