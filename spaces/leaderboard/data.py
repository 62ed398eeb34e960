"""The results: a folder of reports, read once and read again only where it changed.

Layout: ``<root>/<dataset>/<source>-to-<target>/<system>/{report.json,samples.jsonl}``, per
direction an optional ``significance.json``, and an optional ``<root>/human.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from ...datasets_scripts.directions import DATASETS, DIRECTIONS, Direction
from ...errors import InputError, MissingFileError, TSTBenchError
from ...files import read_text
from ...pipelines.report import Report, read_report
from .human import HumanScore, read_human

_READERS = 8  # threads: on a network file system the waiting overlaps
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

Stamp = tuple[int, int]  # modification time in ns, size
RankFile = Mapping[str, Mapping[str, tuple[int, int]]]  # metric -> system -> first and last rank


@dataclass(frozen=True)
class Entry:
    """One system on one direction.

    Attributes:
        label: what the page calls it: the system's name; see :func:`distinct`.
        folder: holds ``report.json`` and perhaps ``samples.jsonl``.
        has_samples: whether the texts are there; those of licensed corpora never are.
    """

    label: str
    direction: Direction
    folder: Path
    report: Report
    has_samples: bool


@dataclass(frozen=True)
class Board:
    """Everything the page shows, at one moment.

    Attributes:
        entries: in the order of the folder tree.
        human: human scores by direction name.
        ranks: by direction name, what its ``significance.json`` says.
        problems: one sentence for each file that could not be read, for a person.
        revision: changes when any file does.
    """

    root: Path
    entries: tuple[Entry, ...]
    human: Mapping[str, tuple[HumanScore, ...]]
    ranks: Mapping[str, RankFile]
    problems: tuple[str, ...]
    revision: str
    _by_direction: Mapping[str, tuple[Entry, ...]] = field(repr=False)

    def of(self, direction: str) -> tuple[Entry, ...]:
        """The entries of one direction; none of an unknown one."""
        return self._by_direction.get(direction, ())

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that have an entry, in the benchmark's order, others after."""
        known = list(DIRECTIONS)
        found = {entries[0].direction for entries in self._by_direction.values()}
        order = {name: place for place, name in enumerate(known)}
        return tuple(sorted(found, key=lambda d: (order.get(d.name, len(known)), d.name)))


def distinct(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries, those that carry the same name labelled apart by a short hash.

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
    """What people call a dataset; its name where it is not one of ours."""
    return DATASETS[name].title if name in DATASETS else name


def direction_title(direction: Direction) -> str:
    """``Yelp: negative to positive``, with an arrow."""
    styles = f"{direction.source_style} \N{RIGHTWARDS ARROW} {direction.target_style}"
    return f"{dataset_title(direction.dataset)}: {styles}"


class Results:
    """A results folder that is looked at again each time the page asks.

    Args:
        root: the folder; it need not hold anything yet.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._reports: dict[str, tuple[Stamp, Report | str]] = {}
        self._board: Board | None = None
        self._lock = Lock()

    def board(self) -> Board:
        """The results as they are now; what did not change is not read again."""
        with self._lock:
            files = _stamps(self.root)
            revision = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
            if self._board is None or self._board.revision != revision:
                self._board = self._read(files, revision)
            return self._board

    def _read(self, files: Mapping[str, Stamp], revision: str) -> Board:
        reports = [path for path in files if path.endswith("/report.json")]
        stale = [p for p in reports if self._reports.get(p, (None,))[0] != files[p]]
        with ThreadPoolExecutor(_READERS) as pool:
            for path, result in zip(stale, pool.map(_read_one, stale), strict=True):
                self._reports[path] = (files[path], result)
        self._reports = {path: self._reports[path] for path in reports}
        problems, found = [], []
        for path, (_, result) in self._reports.items():
            try:
                found.append((Path(path), _checked(Path(path), self.root, result)))
            except TSTBenchError as error:
                problems.append(str(error))
        by_direction = _by_direction(found, files)
        ranks = {}
        for file in (Path(name) for name in files if name.endswith("/significance.json")):
            try:
                ranks["/".join(file.relative_to(self.root).parts[:2])] = _read_ranks(file)
            except TSTBenchError as error:
                problems.append(str(error))
        human, human_problems = read_human(self.root / "human.jsonl")
        entries = tuple(entry for group in by_direction.values() for entry in group)
        return Board(
            root=self.root,
            entries=entries,
            human=human,
            ranks=ranks,
            problems=(*problems, *human_problems),
            revision=revision,
            _by_direction=MappingProxyType(by_direction),
        )


def fetch_results(results: Path | str) -> Path:
    """The results folder: the given one, or the dataset of that Hub name, downloaded.

    Raises:
        MissingFileError: neither a folder nor a dataset that can be reached; the message says
            what to do.
    """
    path = Path(results).expanduser()
    if path.is_dir():
        return path.resolve()
    name = str(results)
    if not _HUB_NAME.fullmatch(name):
        raise MissingFileError(
            f"{name} is no folder. Give a results folder, such as `tstbench evaluate --out` "
            "writes, or the Hub name of a results dataset, such as tstbench/results."
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, repo_type="dataset"))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise MissingFileError(
            f"{name} is neither a folder here nor a dataset that could be fetched from the Hub "
            f"({type(error).__name__}). Check the name, the network, HF_ENDPOINT, or give a folder."
        ) from error


def _stamps(root: Path) -> dict[str, Stamp]:
    """The files that the page shows something of, in a fixed order, with what tells a change.

    Plain strings, not paths: this runs for every view, over thousands of files.
    """
    stamps: dict[str, Stamp] = {}

    def note(path: str) -> None:
        try:
            facts = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            return
        if stat.S_ISREG(facts.st_mode):
            stamps[path] = (facts.st_mtime_ns, facts.st_size)

    note(f"{root}/human.jsonl")
    for dataset in _folders(str(root)):
        for direction in _folders(dataset):
            note(f"{direction}/significance.json")
            for system in _folders(direction):
                note(f"{system}/report.json")
                note(f"{system}/samples.jsonl")
    return stamps


def _folders(parent: str) -> list[str]:
    """The folders in a folder; hidden ones are half-written or none of ours."""
    try:
        with os.scandir(parent) as found:
            return sorted(item.path for item in found if item.is_dir() and item.name[0] != ".")
    except FileNotFoundError:
        return []


def _read_one(path: str) -> Report | str:
    try:
        return read_report(Path(path))
    except (TSTBenchError, OSError) as error:
        return str(error)


def _checked(path: Path, root: Path, result: Report | str) -> Report:
    """The report, if it was read and lies where it says it belongs."""
    if isinstance(result, str):
        raise InputError(result)
    place = "/".join(path.relative_to(root).parts[:2])
    if result.direction != place:
        raise InputError(f"{path} is a report of {result.direction}, but lies under {place}")
    if result.direction.count("-to-") != 1:
        raise InputError(f"{path}: {result.direction!r} is no direction: <source>-to-<target>")
    return result


def _by_direction(
    found: Iterable[tuple[Path, Report]], files: Mapping[str, object]
) -> dict[str, tuple[Entry, ...]]:
    """Entries by direction, in the order found."""
    grouped: dict[str, list[Entry]] = {}
    for path, report in found:
        has_samples = f"{path.parent}/samples.jsonl" in files
        direction = _direction(report.direction)
        entry = Entry(report.system.name, direction, path.parent, report, has_samples)
        grouped.setdefault(report.direction, []).append(entry)
    return {name: tuple(entries) for name, entries in grouped.items()}


def _direction(name: str) -> Direction:
    if name in DIRECTIONS:
        return DIRECTIONS[name]
    dataset, config = name.split("/")
    source, target = config.split("-to-")
    return Direction(dataset, source, target)


def _read_ranks(path: Path) -> RankFile:
    """Read ``{metric: {"ranks": {system: [first, last]}}}``."""
    try:
        content = json.loads(read_text(path))
        return {
            str(metric): {str(s): _range(pair) for s, pair in facts["ranks"].items()}
            for metric, facts in content.items()
            if isinstance(facts, dict) and "ranks" in facts
        }
    except (ValueError, TypeError, AttributeError) as error:
        shape = '{"<metric>": {"ranks": {"<system>": [first, last]}}}'
        raise InputError(f"{path} is not of the form {shape}: {error}") from error


def _range(pair: list[int]) -> tuple[int, int]:
    first, last = pair
    if not (isinstance(first, int) and isinstance(last, int) and 1 <= first <= last):
        raise ValueError(f"{pair!r} is no range of ranks")
    return first, last
