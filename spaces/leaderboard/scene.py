"""What every view needs: the chosen direction and setting, or a message if there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from ...datasets_scripts.directions import Direction
from .address import missing, missing_direction
from .data import Board, dataset_title, direction_title
from .groups import Setting, choose
from .markup import ui
from .query import Query
from .ranking import Ranking
from .ranks import RankCache


@dataclass(frozen=True)
class View:
    """What the browser receives.

    Attributes:
        html: the view's markup.
        title: for the browser's title bar.
        pending: whether ranks are still being computed, so that the page should ask again.
        revision: of the results.
        status: of HTTP, if this is the page that was asked for: 404 where there is no such thing.
    """

    html: Markup
    title: str
    pending: bool = False
    status: int = 200
    revision: str = ""


@dataclass(frozen=True)
class Scene:
    """A board with the direction and setting shown to the reader."""

    board: Board
    direction: Direction
    settings: tuple[Setting, ...]
    setting: Setting
    notes: tuple[Markup, ...]
    ranking: Ranking
    pending: bool

    def pickers(self) -> list[Markup]:
        """The direction picker, and the setting picker if there are several settings."""
        directions = [
            (dataset_title(dataset), [(d.name, direction_title(d)) for d in some])
            for dataset, some in groupby(self.board.directions, key=lambda d: d.dataset)
        ]
        found = [ui.select("direction", "Direction", directions, self.direction.name)]
        if len(self.settings) > 1:
            options = [(s.key, f"{s.label} ({len(s.entries)} systems)") for s in self.settings]
            found.append(ui.select("setting", "Scored with", options, self.setting.key))
        else:
            found.append(ui.hidden("setting", self.setting.key))
        return found


def open_scene(
    board: Board, query: Query, ranks: RankCache, *, each_run: bool = False
) -> Scene | None:
    """Look up the query's direction and setting; ``None`` if there are no results.

    Args:
        board: the results.
        query: what the reader asked for.
        ranks: places that are computed.
        each_run: whether runs of one system, with several seeds, have a row each.
    """
    if not board.entries:
        return None
    notes: list[Markup | None] = []
    directions = board.directions
    direction = next((d for d in directions if d.name == query.direction), None)
    if direction is None:
        direction = _first(board, directions)
        shown = direction_title(direction)
        notes.append(missing_direction(board, query.direction, shown, query.view))
    found = ranks.settings(board, direction.name, each_run=each_run)
    setting = choose(found, query.setting)
    keys = [one.key for one in found]
    notes.append(missing("way of scoring", query.setting, keys, f"the one of {setting.label}"))
    ranking, pending = ranks.ranking(board, setting)
    said = tuple(note for note in notes if note is not None)
    return Scene(board, direction, found, setting, said, ranking, pending)


def _first(board: Board, directions: Sequence[Direction]) -> Direction:
    """The default direction: the one with most systems."""
    return max(directions, key=lambda d: (len(board.of(d.name)), -directions.index(d)))
