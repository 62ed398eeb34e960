"""The results: a folder of reports, of which only changed files are read again.

Layout: as :mod:`tstbench.pipelines.results` writes it, and an optional ``<root>/human.jsonl``.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from threading import Condition, Lock, Thread
from types import MappingProxyType

from ...datasets_scripts.catalog import DATASETS, DIRECTIONS
from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingFileError, TSTBenchError
from ...files import check_inside
from ...hub import misunderstood, why_not_downloaded
from ...pipelines.report import Report
from ...pipelines.results import REPLICATES_FILE, SAMPLES_FILE, read_whole
from .human import HumanScore, read_human
from .reported import FromHub

_FILES = ("report.json", SAMPLES_FILE, REPLICATES_FILE)
_QUICK = 0.1  # seconds: who opens a view waits no longer to see whether files changed
_PATIENCE = 1.0  # seconds that a reader waits for views, so that many visitors do not stop it
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

Stamp = tuple[int, ...]  # times of writing and of the last change in ns, size, inode
Stamps = tuple[Stamp | None, ...]  # of a report and the files beside it


@dataclass(frozen=True)
class Entry:
    """One system on one direction.

    Attributes:
        label: the name shown on the page: the system's name; see :func:`distinct`.
        folder: has ``report.json`` and perhaps ``samples.jsonl``.
        has_samples: whether the texts are present, and may be shown.
        runs: the entries whose mean it is, where a system was trained with several seeds; see
            :mod:`.runs`.
    """

    label: str
    direction: Direction
    folder: Path
    report: Report
    has_samples: bool
    runs: tuple[Entry, ...] = ()


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
            identity = f"{entry.report.outputs_sha256}{entry.folder.name}"
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
        self._reports: dict[str, tuple[Stamps, Report | str]] = {}
        self._board: Board | None = None
        self._slow = False  # to look at every file
        self._lock = Lock()
        self._views, self._served = 0, Condition()

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
            started = time.monotonic()
            files = _stamps(self.root)
            self._slow = time.monotonic() - started > _QUICK
            revision = _digest(files)
            if self._board is None or self._board.revision != revision:
                self._board = self._read(files, revision)
            return self._board

    def so_far(self) -> Board:
        """The results as they were read last, if it takes long to see whether they changed.

        That is seen behind then, for the next who asks. While they are read for the first time,
        they are the directions that are complete.
        """
        board = self._board
        if board is None or not (board.unread or self._slow):
            return self.board()
        if not self._lock.locked():
            Thread(target=self.board, kwargs={"behind": True}, daemon=True).start()
        return board

    def directions(self) -> list[str]:
        """The names of the directions that have reports, read or not, the ranking's first."""
        reports = (path for path in _stamps(self.root) if path.endswith("/report.json"))
        return [_direction_name(paths[0]) for paths in _in_order(reports)]

    def read_behind(self, patience: float = 0.25) -> None:
        """Read in another thread, and wait a moment: a small folder has been read then."""
        self._board = self._made({}, "none", unread=1)  # nobody knows yet how many
        reader = Thread(target=self.board, daemon=True)
        reader.start()
        reader.join(patience)

    def _read(self, files: Mapping[str, Stamp], revision: str) -> Board:
        stamps = {p: _stamps_beside(p, files) for p in files if p.endswith("/report.json")}
        self._reports = {p: one for p, one in self._reports.items() if stamps.get(p) == one[0]}
        stale = [path for path in stamps if path not in self._reports]
        unread, first = len(stale), self._board is None or self._board.unread > 0
        for paths in _in_order(stale):
            if first:  # what changes later is shown when all of it has been read
                self._board = self._made(files, f"{revision}+{unread}", unread)
            for path in paths:
                self._give_way()
                self._reports[path] = (stamps[path], _read_one(path))
            unread -= len(paths)
        return self._made(files, revision)

    def _give_way(self) -> None:
        with self._served:
            self._served.wait_for(lambda: not self._views, _PATIENCE)

    def _made(self, files: Mapping[str, Stamp], revision: str, unread: int = 0) -> Board:
        problems, found = [], []
        read: dict[str, list[object]] = {}
        for path in (path for path in files if path in self._reports):
            stamps, result = self._reports[path]
            try:
                report = _checked(Path(path), result)
            except TSTBenchError as error:
                problems.append(str(error))
                continue
            found.append((Path(path), report))
            read.setdefault(report.direction, []).append((path, stamps))
        by_direction = _by_direction(found, files, public=self._public)
        human, human_problems = _human(self.root)
        rated = files.get(f"{self.root}/human.jsonl")
        entries = tuple(entry for group in by_direction.values() for entry in group)
        return Board(
            root=self.root,
            entries=entries,
            human=human,
            problems=(*problems, *human_problems),
            revision=revision,
            _by_direction=MappingProxyType(by_direction),
            revisions={name: _digest((rated, some)) for name, some in read.items()},
            reported=self._reported,
            unread=unread,
        )


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


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def _stamps(root: Path) -> dict[str, Stamp]:
    """The files that the page uses, in a fixed order, with the stamps that reveal a change.

    Plain strings, not paths: this runs for every view, over thousands of files.
    """
    stamps: dict[str, Stamp] = {}

    def note(path: str) -> None:
        try:
            facts = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            return
        except OSError:  # a link in a circle: who reads it says so
            stamps[path] = ()
            return
        stamps[path] = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)

    note(f"{root}/human.jsonl")
    for dataset in _folders(str(root)):
        for direction in _folders(dataset):
            for system in _folders(direction):
                for name in _FILES:
                    note(f"{system}/{name}")
    return stamps


def _stamps_beside(path: str, files: Mapping[str, Stamp]) -> Stamps:
    folder = path.rpartition("/")[0]
    return tuple(files.get(f"{folder}/{name}") for name in _FILES)


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


def _in_order(reports: Iterable[str]) -> list[Sequence[str]]:
    """The reports of each direction, in the order in which a page without a choice shows them."""
    known = {name: place for place, name in enumerate(DIRECTIONS)}
    found = groupby(reports, key=_direction_name)
    groups = [(name, tuple(paths)) for name, paths in found]
    groups.sort(key=lambda group: (-len(group[1]), known.get(group[0], len(known))))
    return [paths for _, paths in groups]


def _direction_name(report: str) -> str:
    return "/".join(report.split("/")[-4:-2])


def _read_one(path: str) -> Report | str:
    """A report that matches the files beside it, or what is wrong with it."""
    try:
        return read_whole(Path(path).parent, complete=False).report
    except (TSTBenchError, OSError) as error:
        return str(error)


def _checked(path: Path, result: Report | str) -> Report:
    """The report, if it was read and its direction is valid."""
    if isinstance(result, str):
        raise InputError(result)
    if result.direction.count("-to-") != 1:
        raise InputError(f"{path}: {result.direction!r} is not a direction: <source>-to-<target>")
    if not result.scores:
        raise InputError(f"{path} has no scores: there is nothing to show")
    return result


def _by_direction(
    found: Iterable[tuple[Path, Report]], files: Mapping[str, object], *, public: bool
) -> dict[str, tuple[Entry, ...]]:
    """Entries by direction, in the order found."""
    grouped: dict[str, list[Entry]] = {}
    for path, report in found:
        direction = _direction(report.direction)
        facts = DATASETS.get(direction.dataset)
        licensed = facts is not None and facts.licensed
        has_samples = f"{path.parent}/samples.jsonl" in files and not (public and licensed)
        entry = Entry(report.system.name, direction, path.parent, report, has_samples)
        grouped.setdefault(report.direction, []).append(entry)
    return {name: tuple(entries) for name, entries in grouped.items()}


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
