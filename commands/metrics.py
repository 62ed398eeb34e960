"""List the metrics: what each means, its unit, and which way is better."""

from __future__ import annotations

import argparse

from ..metrics.registry import METRICS
from ..pipelines.tables import print_rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_: argparse.Namespace) -> None:
    """Print one line per metric."""
    header = ("metric", "title", "aspect", "unit", "better", "meaning")
    rows = [
        (m.name, m.title, m.aspect, m.unit, "higher" if m.higher_is_better else "lower", m.meaning)
        for m in METRICS.values()
    ]
    print_rows(header, rows)
