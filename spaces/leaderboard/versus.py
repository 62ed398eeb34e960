"""Two systems of one direction: which two, their comparison, and the sentences that decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ...pipelines.comparison import Compared, Comparison, SentencePair, compare, sentence_pairs
from ...pipelines.report import Report
from ...pipelines.results import Stored
from .data import Entry
from .query import Query
from .ranking import Row

Order = Literal["lost", "won"]


@dataclass(frozen=True)
class Pair:
    """The two systems that are compared.

    Attributes:
        unknown: names in the link that are not there.
    """

    first: Entry
    second: Entry
    unknown: tuple[str, ...] = ()


def choose_pair(rows: Sequence[Row], query: Query) -> Pair | None:
    """The systems of the link, otherwise the best that have a rank; ``None`` if there is one only.

    Args:
        rows: of the ranking, best first.
        query: names systems by label.
    """
    if len(rows) < 2:
        return None
    by_label = {row.entry.label: row.entry for row in rows}
    unknown = tuple(n for n in (query.first, query.second) if n and n not in by_label)
    ranked = [row.entry for row in rows if not row.entry.report.system.is_bound]
    choices = ranked + [row.entry for row in rows if row.entry not in ranked]
    second = by_label.get(query.second)
    first = by_label.get(query.first) or next(e for e in choices if e is not second)
    if second is None or second is first:
        second = next(entry for entry in choices if entry is not first)
    return Pair(first, second, unknown)


def comparison(pair: Pair) -> Comparison:
    """Every number that both have.

    Raises:
        InputError: a file is damaged.
    """
    return _compared(*_stored(pair.first), *_stored(pair.second))


def decisive(pair: Pair, compared: Compared, order: Order) -> list[SentencePair]:
    """The sentences on which the first system is worse, or better: by how much, most first."""
    found = _sentences(*_stored(pair.first), *_stored(pair.second), compared)
    if order == "lost":
        return [one for one in found if one.gain < 0]
    return [one for one in reversed(found) if one.gain > 0]


def _stored(entry: Entry) -> tuple[Path, Report]:
    """What a comparison is computed from; the report has the hashes of the files beside it."""
    return entry.folder, entry.report


@lru_cache(maxsize=32)
def _compared(one: Path, report: Report, other: Path, its_report: Report) -> Comparison:
    return compare(Stored(one, report), Stored(other, its_report))


@lru_cache(maxsize=32)
def _sentences(
    one: Path, report: Report, other: Path, its_report: Report, compared: Compared
) -> list[SentencePair]:
    return sentence_pairs(Stored(one, report), Stored(other, its_report), compared)
