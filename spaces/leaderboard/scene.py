"""What every view needs: the direction and setting looked at, or what to say without one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from ...datasets_scripts.directions import DIRECTIONS, Direction
from .controls import direction_select, empty, link, notice, select
from .data import Board, direction_title
from .groups import Setting, choose, settings
from .markup import el, join
from .query import Query
from .ranking import Ranking, build_ranking
from .ranks import RankCache


@dataclass(frozen=True)
class View:
    """What the browser gets.

    Attributes:
        html: the view's markup.
        title: for the browser's title bar.
        figures: by the ``data-figure`` of the element each is drawn into.
        pending: whether asking again in a moment gives more, because ranks are being computed.
    """

    html: Markup
    title: str
    figures: dict[str, Any] = field(default_factory=dict)
    pending: bool = False


@dataclass(frozen=True)
class Scene:
    """A board and the direction and setting of it that the reader looks at."""

    board: Board
    direction: Direction
    settings: tuple[Setting, ...]
    setting: Setting
    notes: tuple[Markup, ...]
    ranking: Ranking
    pending: bool

    def pickers(self) -> list[Markup]:
        """Direction, and setting where there are several."""
        found = [direction_select(self.board.directions, self.direction)]
        if len(self.settings) > 1:
            options = [(s.key, f"{s.label} ({len(s.entries)} systems)") for s in self.settings]
            found.append(select("setting", "Scored with", options, self.setting.key))
        return found


def open_scene(board: Board, query: Query, ranks: RankCache) -> Scene | None:
    """Look up the query's direction and setting; ``None`` where there is nothing at all."""
    if not board.entries:
        return None
    notes = []
    directions = board.directions
    direction = next((d for d in directions if d.name == query.direction), None)
    if direction is None:
        direction = _first(board, directions)
        if query.direction:
            known = query.direction in DIRECTIONS
            what = "has no results yet" if known else "is no direction we know"
            notes.append(notice(f"{query.direction} {what}. Showing {direction_title(direction)}."))
    found = settings(board.of(direction.name))
    setting = choose(found, query.setting)
    computed, pending = ranks.get(board, setting)
    ranking = build_ranking(board, setting, computed)
    return Scene(board, direction, found, setting, tuple(notes), ranking, pending)


def figure_box(key: str, title: str, caption: str, label: str | None = None) -> Markup:
    """The place of a picture, with what it shows in words."""
    return el(
        "figure",
        el("figcaption", el("h3", title), el("p", caption)),
        el("div", data_figure=key, class_="plot", role="img", aria_label=label or title),
    )


def problems(board: Board) -> Markup | None:
    """Files that could not be read: said, never swallowed."""
    if not board.problems:
        return None
    count = len(board.problems)
    title = f"{count} file{'s' * (count != 1)} of the results could not be used"
    items = [el("li", problem.replace(f"{board.root}/", "")) for problem in board.problems[:20]]
    return el("details", el("summary", title), el("ul", items), class_="notice warning")


def nothing_yet(board: Board) -> Markup:
    """What an empty results folder looks like, and how to fill it."""
    return join(
        [
            problems(board),
            empty(
                "No results yet",
                "As soon as a system has been scored, it is listed here.",
                join(
                    [
                        "Score one with ",
                        el(
                            "code",
                            "tstbench evaluate outputs.txt --direction "
                            "yelp/negative-to-positive --out results",
                        ),
                        ", or ",
                        link("submit a file", view="submit"),
                        ".",
                    ]
                ),
            ),
        ]
    )


def plain(figure: Any) -> Any:
    """A figure as JSON that any plotly.js reads."""
    return json.loads(figure.to_json())


def _first(board: Board, directions: Sequence[Direction]) -> Direction:
    """Where a newcomer starts: the direction with most systems."""
    return max(directions, key=lambda d: (len(board.of(d.name)), -directions.index(d)))
