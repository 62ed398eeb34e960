"""Rank ranges that nobody has computed yet: computed once, beside the page, and kept."""

from __future__ import annotations

from concurrent import futures
from threading import Lock

from .data import Board
from .groups import Setting
from .significance import ComputedRanks, computed_ranks, stored_ranks

_PATIENCE = 0.25  # seconds that a first view may wait; small boards are done by then
_KEPT = 64


class RankCache:
    """Computes rank ranges of settings whose direction has no ``significance.json`` that fits."""

    def __init__(self) -> None:
        self._pool = futures.ThreadPoolExecutor(1, thread_name_prefix="ranks")
        self._found: dict[object, futures.Future[ComputedRanks]] = {}
        self._lock = Lock()

    def get(self, board: Board, setting: Setting) -> tuple[ComputedRanks, bool]:
        """What is known by now, and whether more is on its way."""
        if not _worthwhile(board, setting):
            return {}, False
        key = (board.revision, setting.entries[0].direction.name, setting.key)
        with self._lock:
            if key not in self._found:
                while len(self._found) >= _KEPT:
                    self._found.pop(next(iter(self._found)))
                self._found[key] = self._pool.submit(computed_ranks, setting.entries)
            future = self._found[key]
        try:
            return future.result(timeout=_PATIENCE), False
        except futures.TimeoutError:  # before Python 3.11 not the built-in one
            return {}, True


def _worthwhile(board: Board, setting: Setting) -> bool:
    """Nothing to do where the file has every metric, or where there is nobody to compare."""
    entries = setting.entries
    metrics = {score.metric for entry in entries for score in entry.report.scores}
    return len(entries) > 1 and any(stored_ranks(board, entries, m) is None for m in metrics)
