"""List the directions: dataset, styles, references, whether training pairs exist.

The last column says whether 'tstbench hub build' may put the sentences into a repository: not those
of a licensed corpus, nor those whose owner states no licence.
"""

from __future__ import annotations

from ..datasets_scripts.catalog import DATASETS
from ..pipelines.tables import print_rows
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """No arguments."""


def run(_: Arguments) -> None:
    """Print one line per direction."""
    header = ("direction", "task", "refs", "pairs", "may be published")
    rows = [
        (
            direction.name,
            facts.task,
            str(facts.references),
            "yes" if facts.parallel else "no",
            "yes" if facts.publishable else "no: licensed" if facts.licensed else "no: no licence",
        )
        for facts in DATASETS.values()
        for direction in facts.directions
    ]
    print_rows(header, rows)
