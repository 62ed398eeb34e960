"""Write a published study's human ratings as judgments, which the leaderboard shows beside scores.

Studies: li2018, the ratings of eight systems on Yelp by Li et al. (2018), CC BY-SA 4.0: if you
share the file, credit them and keep the licence. Rows of other studies in FILE are kept.

Example:
  tstbench judgments li2018 --out results/human.jsonl
  tstbench leaderboard results
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import unknown_name
from ..talk import say

if TYPE_CHECKING:
    from ..datasets_scripts.judgments.schema import Judgment

STUDIES = ("li2018",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add study and file."""
    parser.add_argument("study", help=", ".join(STUDIES))
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="JSON Lines file to write"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write the ratings; print the mean of each system on standard output."""
    from ..datasets_scripts.judgments.li2018 import STUDY, li2018_judgments
    from ..datasets_scripts.judgments.schema import read_judgments, write_judgments
    from ..pipelines.tables import print_rows

    if arguments.study not in STUDIES:
        raise unknown_name("study", arguments.study, STUDIES)
    kept = []
    if arguments.out.exists():
        kept = [row for row in read_judgments(arguments.out) if row.study != STUDY]
    ratings = li2018_judgments()
    say(str(ratings))
    write_judgments(arguments.out, [*kept, *ratings.judgments])
    others = f", after {len(kept)} of other studies" if kept else ""
    say(f"wrote {len(ratings.judgments)} judgments to {arguments.out}{others}")
    print_rows(*_means(ratings.judgments))


def _means(judgments: Iterable[Judgment]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows: mean of each aspect and share of successes, by direction and system."""
    from ..datasets_scripts.judgments.aspects import RATED
    from ..datasets_scripts.judgments.li2018 import success_rate

    groups: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        groups.setdefault((judgment.direction, judgment.system), []).append(judgment)
    rows = []
    for (direction, system), group in sorted(groups.items()):
        cells = []
        for aspect in RATED:
            scores = [j.score for j in group if j.aspect == aspect.name and j.score is not None]
            cells.append(f"{sum(scores) / len(scores):.2f}" if scores else "-")
        rate = success_rate(group)
        items = str(len({j.sample_id for j in group}))
        rows.append((direction, system, items, *cells, "-" if rate is None else f"{rate:.1%}"))
    return ("direction", "system", "sentences", *(a.name for a in RATED), "success"), rows
