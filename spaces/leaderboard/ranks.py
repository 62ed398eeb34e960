"""Rank ranges that nobody has computed yet: computed once, beside the page, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent import futures
from threading import Lock

from .data import Board
from .groups import Setting
from .ranking import ComputedRanks
from .significance import computed_ranks, sentence_scores

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
        if not self._worthwhile(board, setting):
            return {}, False
        key = (board.revision, setting.entries[0].direction.name, setting.key)
        with self._lock:
            if key not in self._found:
                while len(self._found) >= _KEPT:
                    self._found.pop(next(iter(self._found)))
                self._found[key] = self._pool.submit(_compute, setting)
            future = self._found[key]
        try:
            return future.result(timeout=_PATIENCE), False
        except futures.TimeoutError:  # before Python 3.11 not the built-in one
            return {}, True

    @staticmethod
    def _worthwhile(board: Board, setting: Setting) -> bool:
        """Nothing to do where the file has every metric, or where there is nobody to compare."""
        metrics = {score.metric for e in setting.entries for score in e.report.scores}
        ranked = board.ranks.get(setting.entries[0].direction.name, {})
        return len(setting.entries) > 1 and not metrics <= ranked.keys()


def _compute(setting: Setting) -> Mapping[str, Mapping[str, tuple[int, int]]]:
    scores = {entry.label: sentence_scores(entry) for entry in setting.entries}
    return computed_ranks({entry.label: entry for entry in setting.entries}, scores)
