"""List the metrics: what each means, its unit, which way is better, and whether people agree.

The last column of numbers is measured: Spearman's correlation of single outputs' scores with
human scores, in the study with most rated outputs. In a file or pipe the study, interval and number
of outputs stand with it.
"""

from __future__ import annotations

import sys

from ..console import say
from ..metrics.registry import METRICS
from ..pipelines.meta.known import DOUBT, WHAT, one_line, short
from ..pipelines.tables import print_rows
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """No arguments."""


def run(_: Arguments) -> None:
    """Print one line per metric; in a terminal less of it, so that 80 columns are enough."""
    if sys.stdout.isatty():
        _for_people()
        return
    header = ("metric", "title", "aspect", "unit", "better", "meaning", "people")
    rows = [
        (
            m.name,
            m.title,
            m.aspect,
            m.unit,
            m.better,
            m.meaning,
            one_line(m.name),
        )
        for m in METRICS.values()
    ]
    print_rows(header, rows)


def _for_people() -> None:
    """The title is nearly the name, and better is an arrow at the unit."""
    rows = [
        (
            m.name,
            m.aspect,
            f"{m.unit} {m.arrow}".rstrip(),
            short(m.name) or "\N{EN DASH}",
            m.meaning,
        )
        for m in METRICS.values()
    ]
    print_rows(("metric", "aspect", "unit", "people", "meaning"), rows)
    say(f"people: {WHAT} {DOUBT}.")
