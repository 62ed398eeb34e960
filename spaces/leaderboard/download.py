"""The tables on the page as files, in the formats of ``tstbench report``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from ...errors import InputError, unknown_name
from ...pipelines.rankings import Form, Layout, standings_text
from ...pipelines.report import Report
from ...pipelines.standings import Standings
from .data import Board, Entry
from .places import are_tested
from .query import Query
from .ranks import RankCache
from .runs import result_of
from .scene import open_scene

FORMS = {"csv": ("CSV", "csv"), "latex": ("LaTeX", "tex"), "markdown": ("Markdown", "md")}


def download(board: Board, query: Query, form: str, ranks: RankCache) -> dict[str, str]:
    """Name and text of the file of the table that a query shows.

    Raises:
        UnknownNameError: no such format.
    """
    if form not in FORMS:
        raise unknown_name("format", form, FORMS)
    overview = query.view == "overview"
    standings = [_standings(entries) for entries in _shown(board, query, ranks) if entries]
    layout: Layout = "metrics" if overview else "directions"
    text = standings_text(standings, cast(Form, form), layout=layout) if standings else ""
    stem = "overview" if overview or not standings else standings[0].direction
    return {"name": f"{_safe(stem)}.{FORMS[form][1]}", "text": text}


def _shown(board: Board, query: Query, cache: RankCache) -> list[Sequence[Entry]]:
    """The entries on the page, by direction."""
    if query.view != "overview":
        scene = open_scene(board, query, cache)
        return [[row.entry for row in scene.ranking.rows]] if scene else []
    overview = cache.overview(board, query)
    if overview is None:
        return []
    by_column = zip(*(row.entries for row in overview.rows), strict=True)
    return [[entry for entry in column if entry is not None] for column in by_column]


def _standings(entries: Sequence[Entry]) -> Standings:
    """The reports under the names that the page shows, ranked as ``tstbench report`` ranks them."""
    stored = [result_of(entry, _labelled(entry)) for entry in entries]
    if are_tested(entries):
        with suppress(InputError, OSError):  # damaged replicates
            return Standings.of(stored)
    return Standings(tuple(one.report for one in stored), {})  # no test, so nothing is bold


def _safe(stem: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in stem)


def _labelled(entry: Entry) -> Report:
    """The report under the name that the page shows, which tells equal names apart."""
    system = entry.report.system.model_copy(update={"name": entry.label})
    return entry.report.model_copy(update={"system": system})
