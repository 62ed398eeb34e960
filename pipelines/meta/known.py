"""The measured agreement that comes with the package: what leaderboards show beside a metric.

``agreement.json`` is a summary that ``tstbench meta-evaluate ... --summary FILE`` wrote; its date,
version and signatures say what was measured.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .result import MetaReport, MetaScore, read_report

FILE = Path(__file__).with_name("agreement.json")


@cache
def known_agreement() -> MetaReport | None:
    """The report that comes with the package; ``None`` if this installation has none."""
    return read_report(FILE) if FILE.exists() else None


def agreement_of(metric: str) -> tuple[MetaScore, ...]:
    """A metric's sentence-level Pearson correlation with people, one for each study and aspect.

    Empty for a metric that was not measured.
    """
    report = known_agreement()
    return () if report is None else report.of(metric)
