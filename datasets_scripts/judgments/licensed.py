"""What remains of a judgment when the sentences that it is about are licensed."""

from __future__ import annotations

from ..catalog import DATASETS
from .schema import Judgment

# What we write into a note ourselves: it says nothing of the sentence. A rater may quote it.
OUR_NOTES = frozenset(
    {
        "skipped",
        "flagged",
        "skipped flagged",
        "no majority of the raters",
        "published although the scale ends at 5",
    }
)


def without_licensed_text(row: Judgment) -> Judgment:
    """The judgment, without source, output and a rater's note if its dataset is licensed."""
    facts = DATASETS.get(row.dataset)  # people also judge what is no dataset here
    if facts is None or not facts.licensed:
        return row
    marks = (row.note or "").split(": ")[0]  # a rater's own words follow
    note = marks if marks in OUR_NOTES else None
    return row.model_copy(update={"source": None, "output": None, "note": note})
