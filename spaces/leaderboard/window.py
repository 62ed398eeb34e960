"""The rows of a table too long for a page: sorted and filtered here as table.js does elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .data import Entry
from .markup import SHOWN
from .query import Query
from .words import parallel_key

LONG = 500  # rows; a table of more comes in windows, and a menu lists the first of them
_DATE = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")
Row = TypeVar("Row")
Value = float | str | None


@dataclass(frozen=True)
class Window(Generic[Row]):
    """What a page shows of a long table.

    Attributes:
        rows, bounds: of those that fit, the page's; few bounds are on each page.
        count: how many systems fit.
        told: the count as text.
        page, pages: from 1.
    """

    rows: Sequence[Row]
    bounds: Sequence[Row]
    count: int
    told: str
    page: int
    pages: int


def window(
    systems: Sequence[Row],
    bounds: Sequence[Row],
    query: Query,
    about: Callable[[Row], tuple[str, Entry]],
    value: Callable[[Row], Value],
    *,
    descending: bool,
) -> Window[Row]:
    """The rows of a page.

    Args:
        systems: all that are ranked.
        bounds: all that are not.
        query: what is searched and filtered, and the page.
        about: a row's label, and an entry.
        value: what it is sorted by: missing ones are last; ties are by name.
        descending: whether the largest is first.
    """
    found = [
        _sorted([row for row in some if _fits(*about(row), query)], about, value, descending)
        for some in (systems, bounds)
    ]
    count = len(found[0])
    pages = max(1, *(-(-len(some) // SHOWN) for some in found))
    page = min(query.page_number, pages)
    told = f"{len(systems):,} systems"
    if count < len(systems):
        told = f"{count:,} of {told}"
    if found[1]:
        told = f"{told}, {len(found[1]):,} bound{'s' * (len(found[1]) != 1)}"
    start = (page - 1) * SHOWN
    below = found[1] if len(found[1]) <= SHOWN else found[1][start : start + SHOWN]
    return Window(found[0][start : start + SHOWN], below, count, told, page, pages)


def listed(entries: Sequence[Entry], chosen: Collection[str]) -> list[Entry]:
    """What a menu lists: the first systems and bounds of a ranking, and those that are chosen."""
    left = {True: LONG, False: LONG}
    found = []
    for entry in entries:
        left[entry.facts.is_bound] -= 1
        if left[entry.facts.is_bound] >= 0 or entry.label in chosen:
            found.append(entry)
    return found


def _sorted(
    rows: list[Row],
    about: Callable[[Row], tuple[str, Entry]],
    value: Callable[[Row], Value],
    descending: bool,
) -> list[Row]:
    rows = sorted(rows, key=lambda row: about(row)[0].casefold())
    keyed: list[tuple[Any, Row]] = [(value(row), row) for row in rows]
    there = [one for one in keyed if one[0] is not None]
    there.sort(key=lambda one: one[0], reverse=descending)
    return [row for _, row in there] + [row for key, row in keyed if key is None]


def _fits(label: str, entry: Entry, query: Query) -> bool:
    facts, name = entry.facts, label.casefold()
    if not all(word in name for word in query.q.casefold().split()):
        return False
    families = [family for family in query.family.split(",") if family]
    if families and facts.family not in families:
        return False
    if facts.is_bound:  # nothing was trained, and no date orders them
        return True
    if query.parallel and query.parallel != parallel_key(facts):
        return False
    wanted = (query.from_.strip(), query.to.strip())
    start, end = (text if _DATE.fullmatch(text) else "" for text in wanted)
    if not (start or end):
        return True
    own = facts.date or ""
    # Dates are compared as far as both are known: 2018 is within 2018-03 and 2018-05.
    after, before = min(len(start), len(own)), min(len(end), len(own))
    return bool(own) and own[:after] >= start[:after] and own[:before] <= end[:before]
