"""List the directions: dataset, styles, references, whether training pairs exist."""

from __future__ import annotations

import argparse

from ...datasets_scripts.directions import DATASETS
from ..tables import print_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_: argparse.Namespace) -> None:
    """Print a line a direction."""
    header = ("direction", "task", "references", "training pairs", "published")
    rows = [
        (
            direction.name,
            facts.task,
            str(facts.references),
            "yes" if facts.parallel else "no",
            "no: licensed" if facts.licensed else "yes",
        )
        for facts in DATASETS.values()
        for direction in facts.directions
    ]
    print_rows(header, rows)
