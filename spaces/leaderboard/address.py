"""What an address asks for and the results do not have: said in words, with what exists."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from markupsafe import Markup

from ...datasets_scripts.catalog import DIRECTIONS
from .data import Board, direction_title
from .markup import ui
from .query import VIEWS, Query

_MOST = 12  # links in one notice


def missing(what: str, wanted: str, known: Sequence[str], shown: str) -> Markup | None:
    """A notice if the address names something unknown; ``None`` if not.

    >>> print(missing("metric", "bleu", ["s_bleu"], "s-BLEU"))
    <div class="notice note" role="note">There is no metric “bleu”. \
Did you mean s_bleu? Showing s-BLEU.</div>
    """
    if not wanted or wanted in known:
        return None
    near = get_close_matches(wanted, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    return ui.notice(
        f"There is no {what} \N{LEFT DOUBLE QUOTATION MARK}{wanted}"
        f"\N{RIGHT DOUBLE QUOTATION MARK}.{hint} Showing {shown}."
    )


def missing_view(query: Query) -> Markup | None:
    """A notice if there is no such view."""
    return missing("view", query.unknown_view, list(VIEWS), VIEWS.get(query.view, ""))


def missing_direction(board: Board, wanted: str, shown: str, view: str) -> Markup | None:
    """A notice with links to the directions that exist, if the address names another one."""
    names = [direction.name for direction in board.directions]
    if not wanted or wanted in names:
        return None
    known = wanted in DIRECTIONS
    near = [] if known else get_close_matches(wanted, names, n=1)
    what = "has no results yet" if known else "is not a known direction"
    if board.unread:
        what = "has not been read yet"
    hint = f" Did you mean {near[0]}?" if near else ""
    links = [
        ui.link(direction_title(direction), view=view, direction=direction.name)
        for direction in board.directions[:_MOST]
    ]
    more = len(names) - len(links)
    return ui.notice(
        f"{wanted} {what}.{hint} Showing {shown}.",
        ui.tag(
            "p",
            [
                "There are results of: ",
                *_separated(links),
                f" and {more} more" if more else None,
                ".",
            ],
        ),
    )


def _separated(links: Sequence[Markup]) -> list[Markup | str]:
    return [part for one in links for part in (", ", one)][1:]
