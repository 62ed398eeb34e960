"""The page of one system: who made it, its scores on all directions, and its outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...datasets_scripts.catalog import DATASETS
from ...errors import InputError, unknown_name
from ...pipelines.growth import Earlier, read_history
from ...pipelines.report import SystemInfo
from .data import Board, Entry, direction_title
from .groups import Setting
from .markup import render, ui
from .query import Query
from .ranking import Cell, Column
from .ranks import RankCache
from .runs import ABOUT
from .scene import View, open_scene
from .words import parallel_text


@dataclass(frozen=True)
class Standing:
    """One report of a system, in one setting of its direction.

    Attributes:
        entry: with the label that it has in this setting.
        setting: the setting's key, for links.
        way: the setting's label, where its direction has several; otherwise empty.
        cells: by metric; human scores are left out.
        ranked: by metric: how many systems have a rank.
        pending: whether ranks are still being computed.
    """

    entry: Entry
    setting: str
    way: str
    cells: dict[str, tuple[Column, Cell]]
    ranked: dict[str, int]
    pending: bool


def systems(board: Board, ranks: RankCache) -> dict[str, int]:
    """The names of all systems, and on how many directions each was scored."""
    directions: dict[str, set[str]] = {}
    for direction in board.directions:
        for each_run in (True, False):  # runs, and their systems
            for setting in ranks.settings(board, direction.name, each_run=each_run):
                for entry in setting.entries:
                    directions.setdefault(entry.facts.name, set()).add(direction.name)
    return {name: len(directions[name]) for name in sorted(directions, key=str.casefold)}


def standings(board: Board, name: str, ranks: RankCache) -> Iterator[Standing]:
    """The rows of the system with that name, by direction, then by setting."""
    wanted: list[tuple[Query, Setting, bool]] = []
    for direction in board.directions:
        both = (ranks.settings(board, direction.name, each_run=each) for each in (True, False))
        for runs, setting in zip(*both, strict=True):
            # A run has no row in the ranking, where its system has one: it is ranked for itself.
            alone = _has(runs.entries, name) and not _has(setting.entries, name)
            if alone or _has(setting.entries, name):
                query = replace(Query(), direction=direction.name, setting=setting.key)
                wanted.append((query, runs if alone else setting, alone))
    ranks.ask(board, [setting for _, setting, _ in wanted])
    for query, setting, alone in wanted:
        scene = open_scene(board, query, ranks, each_run=alone)
        if scene is None:  # cannot be: the direction has entries
            continue
        columns = scene.ranking.columns
        for row in scene.ranking.rows:
            if row.entry.facts.name != name:
                continue
            yield Standing(
                entry=row.entry,
                setting=setting.key,
                way=setting.label if len(scene.settings) > 1 else "",
                cells={
                    column.key: (column, cell)
                    for column, cell in zip(columns, row.cells, strict=True)
                    if not column.human
                },
                ranked={
                    column.key: int(np.count_nonzero(numbers.first))
                    for column, numbers in zip(columns, scene.ranking.numbers, strict=True)
                },
                pending=scene.pending,
            )


def _has(entries: Iterable[Entry], name: str) -> bool:
    return any(entry.facts.name == name for entry in entries)


def system_view(board: Board, query: Query, ranks: RankCache) -> View:
    """The page of the system in the link; without one, the list of all systems."""
    if not board.entries:
        return View(ui.nothing_yet(board), "Systems")
    names = ranks.table("systems", board.revision, lambda: systems(board, ranks))
    if query.system not in names:
        return _no_such_system(names, query.system)
    found = list(standings(board, query.system, ranks))
    info = found[0].entry.report.system
    html = render(
        "system.html",
        earlier=_earlier(found),
        facts=_facts(found),
        found=found,
        info=info,
        licensed=[facts.name for facts in DATASETS.values() if facts.licensed],
        lines=_about_scores(info, found),
        metrics=_metrics(found),
        # Each report once, although several settings may have it.
        reports=[*reversed({one.entry.folder: one for one in reversed(found)}.values())],
        title_of=direction_title,
    )
    return View(html, query.system, pending=any(one.pending for one in found))


def _no_such_system(names: dict[str, int], wanted: str) -> View:
    title, warning = "No such system" if wanted else "All systems", ""
    if wanted:
        hint = str(unknown_name("system", wanted, names)).partition(" Known:")[0]
        warning = f"There is no page for this {hint.removeprefix('unknown ')}"
        warning = warning if "?" in warning else f"{warning.rstrip('.')}."
    html = render("systems.html", title=title, warning=warning, names=names)
    return View(html, title, status=404 if wanted else 200)


def _facts(found: Sequence[Standing]) -> dict[str, list[str | None]]:
    """What the reports say of the system; of several answers, all."""
    infos = list(dict.fromkeys(one.entry.report.system for one in found))
    facts: dict[str, list[str | None]] = {
        "Directions": [str(len({one.entry.direction.name for one in found}))],
        "Training data": [parallel_text(info.needs_parallel) for info in infos],
        "Date": [info.date for info in infos],
        "Origin": [info.origin for info in infos],
        "Run of": [f"{run.system}, seed {run.seed}" for one in infos if (run := one.seed_run)],
        "Post-processing": [", ".join(info.post_processing) for info in infos],
        "System SHA-256": [info.system_hash for info in infos],
    }
    for rare in ("Run of", "Post-processing"):
        if not any(facts[rare]):
            del facts[rare]
    return {name: list(dict.fromkeys(values)) for name, values in facts.items()}


def _metrics(found: Sequence[Standing]) -> dict[str, Column]:
    """All metrics that are in a row, in the rankings' order, each with a column of it."""
    longest_first = sorted(found, key=lambda one: -len(one.cells))
    order = dict.fromkeys(metric for one in longest_first for metric in one.cells)
    return {m: next(one.cells[m][0] for one in found if m in one.cells) for m in order}


def _about_scores(info: SystemInfo, found: Sequence[Standing]) -> list[str]:
    lines = ["Below each score: its 95% bootstrap interval, and its rank on that direction."]
    if not info.is_bound:
        lines.append(
            "Bold: best on that direction, or not significantly different from the best (paired "
            "bootstrap, p \N{GREATER-THAN OR EQUAL TO} 0.05)."
        )
    if any(one.entry.runs for one in found):
        lines.append(ABOUT)
    if any(
        column.tested == "untested" and cell.ranks
        for one in found
        for column, cell in one.cells.values()
    ):
        lines.append("* A rank by value alone, without a significance test.")
    return lines


def _earlier(found: Sequence[Standing]) -> list[tuple[Standing, Earlier | str]]:
    """What newer outputs replaced, the latest first, or why that cannot be read."""
    rows: list[tuple[Standing, Earlier | str]] = []
    for folder, one in {one.entry.folder: one for one in found if not one.entry.runs}.items():
        try:
            rows += ((one, before) for before in reversed(read_history(folder)))
        except InputError as error:
            rows.append((one, str(error)))
    return rows
