"""One system on every direction: its rows of all rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .data import Board, Entry
from .groups import Setting, settings
from .query import Query
from .ranking import Cell, Column
from .ranks import RankCache
from .runs import together
from .scene import open_scene


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


def systems(board: Board) -> dict[str, int]:
    """The names of all systems, and on how many directions each was scored."""
    directions: dict[str, set[str]] = {}
    for direction in board.directions:
        for setting in settings(board.of(direction.name)):
            for entry in (*setting.entries, *together(setting.entries)):  # runs, and their systems
                directions.setdefault(entry.report.system.name, set()).add(direction.name)
    return {name: len(directions[name]) for name in sorted(directions, key=str.casefold)}


def standings(board: Board, name: str, ranks: RankCache) -> Iterator[Standing]:
    """The rows of the system with that name, by direction, then by setting."""
    wanted: list[tuple[Query, Setting, bool]] = []
    for direction in board.directions:
        for runs in settings(board.of(direction.name)):
            setting = replace(runs, entries=together(runs.entries))
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
            if row.entry.report.system.name != name:
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
                    column.key: sum(r.cells[i].ranks is not None for r in scene.ranking.rows)
                    for i, column in enumerate(columns)
                },
                pending=scene.pending,
            )


def _has(entries: Iterable[Entry], name: str) -> bool:
    return any(entry.report.system.name == name for entry in entries)
