"""What takes too long for a first view, computed once in the background and cached."""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from .data import Board
from .groups import Setting
from .overview import Overview
from .significance import ComputedPlaces, computed_places, stored_places
from .standings import Standings, standings

_PATIENCE = 0.25  # seconds that a first view may wait, enough for small boards
_KEPT = 64
Result = TypeVar("Result")


class RankCache:
    """Computes places and mean ranks from the replicates."""

    def __init__(self) -> None:
        self._pool = futures.ThreadPoolExecutor(1, thread_name_prefix="ranks")
        self._found: dict[object, futures.Future[Any]] = {}
        self._lock = Lock()

    def get(self, board: Board, setting: Setting) -> tuple[ComputedPlaces, bool]:
        """The places known so far in a setting, and whether more are being computed."""
        if not _worthwhile(board, setting):
            return {}, False
        labels = tuple(entry.label for entry in setting.entries)
        key = (board.revision, setting.entries[0].direction.name, setting.key, labels)
        found = self._soon(key, partial(computed_places, setting.entries))
        return found or {}, found is None

    def standings(self, board: Board, overview: Overview) -> tuple[Standings, bool]:
        """The places and mean ranks of an overview known so far, and whether more are computed."""
        key = (board.revision, overview.metric, overview.columns)
        found = self._soon(key, partial(standings, board, overview))
        return found or Standings(), found is None

    def _soon(self, key: object, compute: Callable[[], Result]) -> Result | None:
        """The result, if it is there within a moment."""
        with self._lock:
            if key not in self._found:
                while len(self._found) >= _KEPT:
                    self._found.pop(next(iter(self._found)))
                self._found[key] = self._pool.submit(compute)
            future = self._found[key]
        try:
            return future.result(timeout=_PATIENCE)
        except futures.TimeoutError:  # before Python 3.11 not the built-in one
            return None


def _worthwhile(board: Board, setting: Setting) -> bool:
    """Whether there are systems to compare and a metric whose places the file does not say."""
    entries = setting.entries
    metrics = {score.metric for entry in entries for score in entry.report.scores}
    return len(entries) > 1 and any(stored_places(board, entries, m) is None for m in metrics)
