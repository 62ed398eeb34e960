"""What takes too long for each view: made once for each revision of the results, or behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent import futures
from dataclasses import replace
from functools import partial
from threading import Lock, Thread
from typing import Any, TypeVar

from .data import Board
from .groups import Setting, settings
from .overview import Overview, build_overview
from .places import ComputedPlaces, are_tested, computed_places
from .query import Query
from .ranking import Ranking, build_ranking
from .runs import together
from .standings import Standings, standings

_PATIENCE = 0.25  # seconds that a first view may wait, enough for small boards
_KEPT = 64
_MANY = 2_000  # reports, of which the table of all directions takes longer
_TABLES = 32  # of each kind: a system's page asks for those of all directions
Result = TypeVar("Result")


class RankCache:
    """Computes places and mean ranks from the replicates; keeps them, and what is shown of them."""

    def __init__(self) -> None:
        self._found: dict[object, futures.Future[Any]] = {}
        self._tables: dict[str, dict[object, Any]] = {}
        self._lock, self._turn = Lock(), Lock()
        self._ended = 0  # computations

    def get(self, board: Board, setting: Setting) -> tuple[ComputedPlaces, bool]:
        """The places known so far in a setting, and whether more are being computed."""
        if not _is_tested(setting):
            return {}, False
        found = self._soon(*_places(board, setting))
        return found or {}, found is None

    def settings(self, board: Board, direction: str, *, each_run: bool) -> tuple[Setting, ...]:
        """How a direction was scored; perhaps with each run of a system for itself."""

        def make() -> tuple[Setting, ...]:
            found = settings(board.of(direction))
            if each_run:
                return found
            return tuple(replace(one, entries=together(one.entries)) for one in found)

        return self.table("settings", (board.revisions[direction], direction, each_run), make)

    def ranking(self, board: Board, setting: Setting) -> tuple[Ranking, bool]:
        """The table with these places."""
        computed, pending = self.get(board, setting)
        key = (_places(board, setting)[0], pending)
        found = self.table("ranking", key, lambda: build_ranking(board, setting, computed))
        return found, pending

    def overview(self, board: Board, query: Query) -> Overview | None:
        """The table of all directions; ``None`` if nothing was measured."""
        asked = (query.metric, query.protocol, query.dataset)
        make = partial(build_overview, board, *asked)
        return self.table("overview", (board.revision, *asked), make)

    def overview_soon(self, board: Board, query: Query) -> tuple[Overview | None, bool]:
        """The same, and whether it is still being made, as a long one is behind."""
        if len(board.entries) <= _MANY:
            return self.overview(board, query), False
        key = ("overview", board.revision, query.metric, query.protocol, query.dataset)
        made = self._soon(key, lambda: self.overview(board, query) is not None)
        return (None, True) if made is None else (self.overview(board, query), False)

    def table(
        self,
        kind: str,
        key: object,
        make: Callable[[], Result],
        pending: Callable[[Result], bool] = lambda _: False,
    ) -> Result:
        """What is made of results, or was: the last few are kept, as a long one takes a second.

        Args:
            kind: each has its own few.
            key: all that it depends on, the results' revision too.
            make: makes it.
            pending: whether it is kept only until another computation ends.
        """
        kept, until = self._tables.get(kind, {}), (key, self._ended)
        found: Result = kept[key] if key in kept else kept[until] if until in kept else make()
        key = until if pending(found) else key
        most = 4 if kind == "overview" else _TABLES  # of many reports, 60 MB each
        last = [one for one in kept.items() if one[0] != key][1 - most :]
        self._tables = {**self._tables, kind: {**dict(last), key: found}}
        return found

    def ask(self, board: Board, settings: Iterable[Setting]) -> None:
        """Have the places of many settings computed: one moment for all instead of one for each."""
        wanted = [self._asked(*_places(board, s))[0] for s in settings if _is_tested(s)]
        futures.wait(wanted, timeout=_PATIENCE)

    def standings(self, board: Board, overview: Overview) -> tuple[Standings, bool]:
        """The places and mean ranks of an overview known so far, and whether more are computed."""
        key = (board.revision, overview.metric, overview.columns)
        found = self._soon(key, partial(standings, overview))
        return found or Standings(), found is None

    def _asked(
        self, key: object, compute: Callable[[], Result]
    ) -> tuple[futures.Future[Result], bool]:
        """The computation, and whether it was asked for before."""
        with self._lock:
            known = key in self._found
            if not known:
                while len(self._found) >= _KEPT:
                    self._found.pop(next(iter(self._found)))
                future = self._found[key] = futures.Future()
                # No pool: it would let a page that is closed wait until all is computed.
                Thread(target=self._compute, args=(future, compute), daemon=True).start()
            return self._found[key], known

    def _compute(self, future: futures.Future[Result], compute: Callable[[], Result]) -> None:
        with self._turn:  # one at a time
            try:
                found = compute()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(found)
            self._ended += 1

    def _soon(self, key: object, compute: Callable[[], Result]) -> Result | None:
        """The result, if it is there; only who asks first waits a moment for it."""
        future, known = self._asked(key, compute)
        try:
            return future.result(timeout=0 if known else _PATIENCE)
        except futures.TimeoutError:  # before Python 3.11 not the built-in one
            return None


def _is_tested(setting: Setting) -> bool:
    return len(setting.entries) > 1 and are_tested(setting.entries)


def _places(board: Board, setting: Setting) -> tuple[object, Callable[[], ComputedPlaces]]:
    labels = tuple(entry.label for entry in setting.entries)
    direction = setting.entries[0].direction.name
    key = (board.revisions[direction], direction, setting.key, labels)
    return key, partial(computed_places, setting.entries)
