"""The results: a folder of reports, of which only changed files are read again.

Layout: as :mod:`tstbench.pipelines.results` writes it, and an optional ``<root>/human.jsonl``.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from threading import Condition, Lock, Thread
from types import MappingProxyType

from ...datasets_scripts.catalog import DATASETS, DIRECTIONS
from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingFileError, TSTBenchError
from ...files import check_inside
from ...hub import misunderstood, why_not_downloaded
from ...pipelines.report import Report, read_report
from ...pipelines.results import REPLICATES_FILE, SAMPLES_FILE, Stored
from . import index
from .facts import Facts, Layout, only
from .human import HumanScore, read_human
from .index import Read, Stamp, Stamps
from .reported import FromHub

_FILES = ("report.json", SAMPLES_FILE, REPLICATES_FILE)
_QUICK = 0.1  # seconds: who opens a view waits no longer to see whether files changed
_REST = 20  # times as long as that took: so much later, at the earliest, it is seen again
_PATIENCE = 1.0  # seconds that a reader waits for views, so that many visitors do not stop it
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class ChangedError(InputError):
    """A report is not any more what the board says: the board has to be made again."""


@dataclass(frozen=True)
class Entry:
    """One system on one direction.

    Attributes:
        label: the name shown on the page: the system's name; see :func:`distinct`.
        folder: has ``report.json`` and perhaps ``samples.jsonl``.
        facts: what is in the report.
        stamps: of its files, when the facts were read.
        has_samples: whether the texts are present, and may be shown.
        columns: those whose scores are meant; all without any.
        runs: the entries whose mean it is, where a system was trained with several seeds; see
            :mod:`.runs`.
        held: the report itself, where it is in no file, as that of a mean.
    """

    label: str
    direction: Direction
    folder: Path
    facts: Facts
    stamps: Stamps = ()
    has_samples: bool = False
    columns: frozenset[str] | None = None
    runs: tuple[Entry, ...] = ()
    held: Report | None = None

    @property
    def layout(self) -> Layout:
        """What the scores are that are meant."""
        return only(self.facts.layout, self.columns)

    @property
    def report(self) -> Report:
        """The whole report with the scores that are meant, read where it was not kept.

        Raises:
            ChangedError: it was removed or damaged since its facts were read.
        """
        try:
            report = self.held or _kept(self.folder, self.stamps)
        except (TSTBenchError, OSError) as error:
            raise ChangedError(f"a report of {self.label} was changed meanwhile: reload") from error
        if self.columns is None or len(self.layout) == len(report.scores):
            return report
        return report.only(self.columns)


@dataclass(frozen=True)
class Board:
    """Everything the page shows, at one point in time.

    Attributes:
        entries: in the order of the folder tree.
        human: human scores by direction name.
        problems: one sentence for each file that could not be read, to be shown to the reader.
        revision: changes whenever a file changes.
        revisions: of each direction: what is computed for it holds while others are read.
        unread: how many reports are still being read; nothing of their directions is here yet.
        reported: what others report on the Hub; never part of a ranking.
    """

    root: Path
    entries: tuple[Entry, ...]
    human: Mapping[str, tuple[HumanScore, ...]]
    problems: tuple[str, ...]
    revision: str
    _by_direction: Mapping[str, tuple[Entry, ...]] = field(repr=False)
    revisions: Mapping[str, str]
    reported: FromHub = field(default_factory=FromHub)
    unread: int = 0

    def of(self, direction: str) -> tuple[Entry, ...]:
        """The entries of one direction; empty for an unknown one."""
        return self._by_direction.get(direction, ())

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have an entry, the benchmark's first and in its order."""
        known = list(DIRECTIONS)
        found = {entries[0].direction for entries in self._by_direction.values()}
        order = {name: place for place, name in enumerate(known)}
        return tuple(sorted(found, key=lambda d: (order.get(d.name, len(known)), d.name)))


def distinct(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries, with a short hash in the labels of those that have the same name.

    The folder is part of the hash: the same outputs under the same name are still two reports.
    """
    entries = tuple(entries)
    count = Counter(entry.label for entry in entries)
    found = []
    for entry in entries:
        if count[entry.label] > 1:
            identity = f"{entry.facts.outputs_sha256}{entry.folder.name}"
            mark = hashlib.sha256(identity.encode()).hexdigest()[:6]
            entry = replace(entry, label=f"{entry.label} #{mark}")
        found.append(entry)
    return tuple(found)


def dataset_title(name: str) -> str:
    """A dataset's title; its name if it is not built in."""
    return DATASETS[name].title if name in DATASETS else name


def direction_title(direction: Direction) -> str:
    """``Yelp: negative to positive``, with an arrow."""
    styles = f"{direction.source_style} \N{RIGHTWARDS ARROW} {direction.target_style}"
    return f"{dataset_title(direction.dataset)}: {styles}"


@dataclass(frozen=True)
class _Direction:
    """What was read of a direction: by the path of the report, and as entries."""

    digest: str = ""
    reports: Mapping[str, Read] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()


class Results:
    """A results folder, checked for changes on each request.

    Args:
        root: the folder; it may be empty.
        reported: what others report on the Hub.
        public: whether other machines can reach the page: it has no texts of licensed corpora then.
    """

    def __init__(
        self, root: Path | str, reported: FromHub | None = None, *, public: bool = False
    ) -> None:
        self.root = Path(root)
        self._public = public
        self._reported = reported or FromHub()
        self._found: dict[str, _Direction] = {}  # by its folder
        self._board: Board | None = None
        self._slow, self._again = False, 0.0  # to look at every file; when it is done again
        self._lock = Lock()
        self._views, self._served, self._rush = 0, Condition(), 0.0

    @contextmanager
    def serving(self) -> Iterator[None]:
        """While a view is made, nothing is read behind: threads share one processor."""
        with self._served:
            self._views += 1
        try:
            yield
        finally:
            with self._served:
                self._views -= 1
                self._served.notify_all()

    def board(self, *, behind: bool = False) -> Board:
        """The current results; unchanged files are not read again.

        Args:
            behind: nobody waits for it, so that views come first.
        """
        with self._lock:
            if behind:
                self._give_way()
            places, looking = _in_order(self.root), 0.0
            unread = sum(len(systems) for _, systems in places)
            there = {place for place, _ in places}
            self._found = {place: one for place, one in self._found.items() if place in there}
            for place, systems in places:
                if self._board is None or self._board.unread:
                    # The first time, what is complete is shown; later, when all of it is.
                    self._board = self._made(unread)
                started = time.monotonic()
                stamps = _stamps(systems)
                looking += time.monotonic() - started
                self._read(place, stamps)
                unread -= len(systems)
            self._slow, self._again = looking > _QUICK, time.monotonic() + _REST * looking
            if self._board is None or self._board.revision != self._revision(0):
                self._board = self._made(0)
            return self._board

    def so_far(self) -> Board:
        """The results as they were read last, if it takes long to see whether they changed.

        That is seen behind then, for the next who asks. While they are read for the first time,
        they are the directions that are complete.
        """
        board = self._board
        if board is None or not (board.unread or self._slow):
            return self.board()
        if not self._lock.locked() and time.monotonic() > self._again:
            Thread(target=self.board, kwargs={"behind": True}, daemon=True).start()
        return board

    def directions(self) -> list[str]:
        """The names of the directions that have reports, read or not, the ranking's first."""
        return [_direction_name(place) for place, systems in _in_order(self.root) if systems]

    def read_behind(self, patience: float = 0.25) -> None:
        """Read in another thread, and wait a moment: a small folder has been read then."""
        self._board = self._made(unread=1)  # nobody knows yet how many
        reader = Thread(target=self.board, daemon=True)
        reader.start()
        reader.join(patience)

    def _read(self, place: str, stamps: Mapping[str, Stamps]) -> None:
        """Read what changed in the folder of a direction."""
        before = self._found.get(place, _Direction())
        digest = _digest(*stamps.items())
        if before.digest == digest:
            return
        known = before.reports or (index.load(place) if len(stamps) > index.MANY else {})
        reports, fresh = {}, 0
        for path, own in stamps.items():
            one = known.get(path)
            if one is None or one[0] != own:
                self._give_way()
                one, fresh = (own, _read_one(path, own)), fresh + 1
            reports[path] = one
        if fresh > index.MANY:
            index.save(place, reports)
        found = (self._entry(path, *one) for path, one in reports.items())
        entries = tuple(entry for entry in found if entry is not None)
        self._found[place] = _Direction(digest, reports, entries)

    def _give_way(self) -> None:
        """Wait for views; among so many that none is the last, read half of the time."""
        with self._served:
            if time.monotonic() > self._rush and not self._served.wait_for(
                lambda: not self._views, _PATIENCE
            ):
                self._rush = time.monotonic() + _PATIENCE

    def _revision(self, unread: int) -> str:
        people = _stamp(f"{self.root}/human.jsonl")
        return _digest(people, unread, *((p, one.digest) for p, one in sorted(self._found.items())))

    def _made(self, unread: int) -> Board:
        found = {_direction_name(place): one for place, one in sorted(self._found.items())}
        by_direction = {name: one.entries for name, one in found.items() if one.entries}
        human, problems = _human(self.root)
        read = (facts for one in found.values() for _, facts in one.reports.values())
        people = _stamp(f"{self.root}/human.jsonl")
        return Board(
            root=self.root,
            entries=tuple(entry for entries in by_direction.values() for entry in entries),
            human=human,
            problems=(*(one for one in read if isinstance(one, str)), *problems),
            revision=self._revision(unread),
            _by_direction=MappingProxyType(by_direction),
            revisions={name: _digest(people, found[name].digest) for name in by_direction},
            reported=self._reported,
            unread=unread,
        )

    def _entry(self, path: str, stamps: Stamps, facts: Facts | str) -> Entry | None:
        if isinstance(facts, str):
            return None
        direction = _direction(_direction_name(path.rpartition("/")[0].rpartition("/")[0]))
        known = DATASETS.get(direction.dataset)
        hidden = self._public and known is not None and known.licensed
        has_samples = stamps[_FILES.index(SAMPLES_FILE)] is not None and not hidden
        return Entry(facts.name, direction, Path(path).parent, facts, stamps, has_samples)


def fetch_results(results: Path | str) -> Path:
    """The results folder: the given one, or the dataset of that Hub name, downloaded.

    Raises:
        MissingFileError: there is neither a folder nor a reachable dataset of that name.
    """
    path = Path(results).expanduser()
    if path.is_dir():
        return path.resolve()
    name = str(results)
    if not _HUB_NAME.fullmatch(name):
        raise MissingFileError(
            f"{name} is not a folder. Give a results folder, such as `tstbench evaluate --out` "
            "writes, or the Hub name of a results dataset, such as tstbench/results."
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, repo_type="dataset"))
    except Exception as error:
        told = (HfHubHTTPError, LocalEntryNotFoundError, OSError)
        if not (isinstance(error, told) or misunderstood(error)):
            raise
        raise MissingFileError(
            f"{name} is not a local folder, and no such dataset could be downloaded from the Hub "
            f"({why_not_downloaded(error)}). Check the name, the network and HF_ENDPOINT, or give "
            "a folder."
        ) from error


def _digest(*state: object) -> str:
    """Of files and their stamps; another process has another."""
    return f"{hash(state) & (1 << 64) - 1:016x}"


def _stamp(path: str) -> Stamp | None:
    """What reveals that a file was changed; ``None`` if there is none.

    Of a plain string, not a path: this runs for every view, over thousands of files.
    """
    try:
        facts = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    except OSError:  # a link in a circle: who reads it says so
        return ()
    return (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)


def _stamps(systems: Iterable[str]) -> dict[str, Stamps]:
    """The reports in these folders, with the stamps of their files."""
    found: dict[str, Stamps] = {}
    for system in systems:
        stamps = tuple(_stamp(f"{system}/{name}") for name in _FILES)
        if stamps[0] is not None:
            found[f"{system}/{_FILES[0]}"] = stamps
    return found


def _folders(parent: str) -> list[str]:
    """The folders in a folder; hidden ones are incomplete or unrelated."""
    try:
        with os.scandir(parent) as found:
            return sorted(item.path for item in found if item.name[0] != "." and _is_folder(item))
    except OSError:  # moved away, or not to be read
        return []


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:  # a link in a circle
        return False


def _in_order(root: Path) -> list[tuple[str, list[str]]]:
    """The folder of each direction, and its systems': first the one shown without a choice."""
    known = {name: place for place, name in enumerate(DIRECTIONS)}
    found = [
        (direction, _folders(direction))
        for dataset in _folders(str(root))
        for direction in _folders(dataset)
    ]
    found.sort(key=lambda one: (-len(one[1]), known.get(_direction_name(one[0]), len(known))))
    return found


def _direction_name(place: str) -> str:
    return "/".join(place.split("/")[-2:])


def _read_one(path: str, stamps: Stamps) -> Facts | str:
    """The facts of a report that matches the files beside it, or what is wrong with it."""
    folder = Path(path).parent
    try:
        report = _kept(folder, stamps)
        Stored(folder, report).check_whole(complete=False)
    except (TSTBenchError, OSError) as error:
        return str(error)
    if report.direction.count("-to-") != 1:
        return f"{path}: {report.direction!r} is not a direction: <source>-to-<target>"
    if not report.scores:
        return f"{path} has no scores: there is nothing to show"
    return Facts.of(report)


@lru_cache(maxsize=2048)  # 50 MB: the reports of a small board, of a large one those that are shown
def _kept(folder: Path, stamps: Stamps) -> Report:  # noqa: ARG001 (of what was read)
    return read_report(folder)


def _direction(name: str) -> Direction:
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    dataset, config = name.split("/")
    source, target = config.split("-to-")
    return Direction(dataset, source, target)


def _human(root: Path) -> tuple[Mapping[str, tuple[HumanScore, ...]], list[str]]:
    """Human scores by direction name, and what is wrong with their file."""
    path = root / "human.jsonl"
    try:
        check_inside(path, root)
    except InputError as error:
        return {}, [str(error)]
    return read_human(path)
