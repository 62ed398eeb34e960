"""All numbers as CSV, one line each, with everything that tells what they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from math import isfinite

from ..ranked_table import warnings_of
from ..seeds import MeanScore
from ..standings import Standings

HEADER = (
    "direction", "system", "bound", "metric", "value", "low", "high", "unit", "higher_is_better",
    "rank_low", "rank_high", "p_best", "bold", "profile", "signature", "made_with", "sentences",
    "data", "outputs_sha256", "seeds", "seed_deviation", "warnings",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes a cell that begins so


def csv_values(standings: Sequence[Standings]) -> str:
    """One line per direction, system and score; numbers in full, empty where there is none.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for one in standings:
        writer.writerows([safe_cell(cell) for cell in row] for row in values(one))
    return text.getvalue()


def values(standings: Standings) -> Iterator[tuple[object, ...]]:
    """One row per number, see :data:`HEADER`."""
    for report in standings.reports:
        system, data = report.system, report.data
        for score in report.scores:
            ranks = standings.ranks.get(score.signature, ())
            place = next((rank for rank in ranks if rank.system == system.name), None)
            bounds = score.interval
            spread = score.spread if isinstance(score, MeanScore) else None
            yield (
                report.direction,
                system.name,
                system.is_bound,
                score.metric,
                score.value,
                bounds.low if bounds else None,
                bounds.high if bounds else None,
                score.unit,
                score.higher_is_better,
                place.low if place else None,
                place.high if place else None,
                place.p_best if place and isfinite(place.p_best) else None,
                bool(place and place.ties_best and len(ranks) > 1),
                score.profile,
                score.signature,
                score.made_with,
                data.sentences,
                data.fingerprint,
                report.outputs_sha256,
                " ".join(map(str, spread.seeds)) if spread else None,
                spread.deviation if spread else None,
                "; ".join(warnings_of(report, standings.reports)) or None,
            )


def safe_cell(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula; ``yes`` and ``no`` for truth values."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
