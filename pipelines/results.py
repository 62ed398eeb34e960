"""The results folder: written by evaluations, read by leaderboards.

Layout: ``<root>/<dataset>/<source>-to-<target>/<system>/`` with ``report.json`` (scores,
intervals, signatures), ``samples.jsonl`` (one line per sentence) and ``replicates.parquet`` (every
corpus score and its bootstrap replicates, so that systems scored in different years can still be
compared pairwise); and beside the systems ``significance.json``.

A report has the hashes of the files beside it, which are checked when it is read: they find
damage, not forgery. What is verified was computed here from the predictions.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..console import printable, say
from ..datasets_scripts.catalog import DATASETS
from ..datasets_scripts.directions import Direction
from ..errors import InputError, TSTBenchError
from ..files import check_inside, file_name
from ..metrics.statistics import RESAMPLES
from ..untrusted import MAX_LINES_BYTES, open_small
from .ranking import Bootstrapped
from .report import MAX_NAME, Report, Sample, parse_samples, read_report

SAMPLES_FILE = "samples.jsonl"
REPLICATES_FILE = "replicates.parquet"
HISTORY_FILE = "history.jsonl"
RESULT_FILES = {"report.json", SAMPLES_FILE, REPLICATES_FILE, HISTORY_FILE}


@dataclass(frozen=True)
class Stored:
    """One system's results on disk, or those of the scores in a reduced report.

    Attributes:
        folder: of the report.
        report: what is in it.
    """

    folder: Path
    report: Report

    @property
    def has_samples(self) -> bool:
        """Whether the sentences are present; those of licensed corpora are never published."""
        return os.path.lexists(self.folder / SAMPLES_FILE)  # a broken link is a damaged file

    def samples(self) -> list[Sample]:
        """The sentences, with the report's scores; see :meth:`each_sample`."""
        return [*self.each_sample()]

    def each_sample(self) -> Iterator[Sample]:
        """The sentences one after the other: a list of a million would take gigabytes.

        Raises:
            TSTBenchError: the file is missing or does not match the report.
        """
        with self._opened(SAMPLES_FILE, self.report.samples_sha256) as lines:
            yield from parse_samples(lines, self.folder / SAMPLES_FILE)

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """Value and replicates of each score by key, unrounded; empty if there is no file.

        Raises:
            InputError: the file is damaged or does not match the report.
        """
        path = self.folder / REPLICATES_FILE
        if not os.path.lexists(path):
            return {}
        with self._opened(REPLICATES_FILE, self.report.replicates_sha256) as stream:
            content = stream.read()
        return parse_replicates(content, path, [score.key for score in self.report.scores])

    def check_whole(self, *, complete: bool = True) -> None:
        """Check that report, samples and replicates are undamaged and in the system's folder.

        Args:
            complete: refuse missing files. Without it, the sentences may be missing, and so may the
                replicates of a report without scores. The sentences of a licensed corpus may
                always be missing.

        Raises:
            TSTBenchError: a file is missing or damaged, or is a link that leads out of the results
                folder.
        """
        self.check_direction()
        for name in RESULT_FILES:
            check_inside(self.folder / name, self.folder.parents[2])
        if not os.path.lexists(self.folder / REPLICATES_FILE):
            named = self.report.replicates_sha256 is not None
            if complete or named or self.report.scores:
                raise InputError(
                    f"{self.folder} has no {REPLICATES_FILE}. Evaluate the system again"
                )
            if self.has_samples:
                self._check_hash(SAMPLES_FILE, self.report.samples_sha256)
            return
        self._check_name()
        self._check_hash(REPLICATES_FILE, self.report.replicates_sha256)
        dataset = DATASETS.get(self.report.direction.split("/")[0])
        needed = complete and (dataset is None or not dataset.licensed)
        if self.has_samples or needed:
            self._check_hash(SAMPLES_FILE, self.report.samples_sha256)

    def check_direction(self) -> None:
        """Check that the folder is where the report says it belongs.

        Raises:
            InputError: it is somewhere else.
        """
        place = "/".join(self.folder.parts[-3:-1])
        if self.report.direction != place:
            raise InputError(
                f"{self.folder / 'report.json'} is a report of {self.report.direction}, but is "
                f"under {place}"
            )

    def _check_name(self) -> None:
        """Check that the folder is one of the system that the report names."""
        name = self.report.system.name
        if self.folder.name not in (folder_name(name), submission_folder(self.report)):
            raise InputError(
                f"{self.folder / 'report.json'} names the system {name!r}, whose folder would be "
                f"{folder_name(name)!r}: the report was changed, or the folder renamed. Give it "
                "its name back, or evaluate the system again"
            )

    def _check_hash(self, name: str, expected: str | None) -> None:
        """The hash of a file must be the one in the report."""
        self._opened(name, expected).close()

    def _opened(self, name: str, expected: str | None) -> io.BufferedIOBase:
        """A file at its beginning, after its hash was found to be the one in the report."""
        path = self.folder / name
        stream = open_small(path, max_bytes=MAX_LINES_BYTES)
        try:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
            stream.seek(0)
        except OSError as error:
            stream.close()
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        if found != expected:
            stream.close()
            raise InputError(
                f"{path} is damaged: it does not match the hash in its report. "
                "Evaluate the system again"
            )
        return stream


def parse_replicates(content: bytes, where: object, keys: Sequence[str]) -> dict[str, Bootstrapped]:
    """Value and replicates of each score by key, unrounded.

    Args:
        content: of ``replicates.parquet``.
        where: it is, for the error.
        keys: of the report's scores.

    Raises:
        InputError: the file is damaged, or lacks a score.
    """
    try:
        # Neither pq.read_table nor to_numpy: they import pandas, which takes a second.
        file = pq.ParquetFile(pa.BufferReader(content))
        rows = file.metadata.num_rows  # of a small file there can be billions
        if keys and rows != 1 + RESAMPLES:
            raise ValueError(f"it does not have one value and {RESAMPLES} replicates")
        table = file.read(list(keys), use_threads=False)
        stored = {key: np.from_dlpack(table[key].combine_chunks()) for key in keys}
        for name, array in stored.items():
            if array.shape != (1 + RESAMPLES,) or array.dtype != np.float64:
                raise ValueError(f"{name} does not have one value and {RESAMPLES} replicates")
    except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
        raise InputError(f"{where} is damaged: {error}. Evaluate the system again") from error
    return {name: Bootstrapped(float(a[0]), a[1:]) for name, a in stored.items()}


def is_result(folder: Path) -> bool:
    """Whether a folder contains only what :func:`write_system` writes."""
    return {f.name for f in folder.iterdir() if not f.name.startswith(".")} <= RESULT_FILES


def direction_folder(root: Path, direction: Direction) -> Path:
    """The folder of a direction's systems."""
    return root / direction.dataset / direction.config


def folder_name(system: str) -> str:
    """A system's name as a folder name, see :func:`..files.file_name`.

    Raises:
        InputError: nothing of the name is left.

    >>> folder_name("GPT-4 (few shot)"), folder_name("日本語")
    ('GPT-4_few_shot', '日本語')
    """
    name = file_name(system)
    if not name:
        raise InputError(f"the system name {system!r} needs at least one letter or digit")
    return name


def system_folder(root: Path, direction: Direction, system: str) -> Path:
    """The folder of a system's results, whether it exists or not."""
    return direction_folder(root, direction) / folder_name(system)


def check_names(systems: Sequence[str]) -> None:
    """Check that each system has its own name, and its results their own folder.

    Raises:
        InputError: a name is not valid, is too long, or is used by two systems.
    """
    owners: dict[str, str] = {}
    for name in systems:
        if len(name) > MAX_NAME:
            raise InputError(
                f"{name[:30]!r}... is {len(name)} characters long; the limit is {MAX_NAME}"
            )
        if printable(name) != name:
            raise InputError(
                f"the system's name {name!r} has an invisible character, which may show "
                "it as another name: choose another one, such as NAME=PATH"
            )
        folder = folder_name(name).casefold()  # some file systems ignore case
        if folder in owners:
            both = f"{owners[folder]!r} and {name!r} would share a folder"
            what = f"two systems are named {name!r}" if owners[folder] == name else both
            raise InputError(f"{what}: give each its own name, such as NAME=PATH")
        owners[folder] = name


def submission_folder(report: Report) -> str:
    """The folder of a submission, from all that it is: nobody chooses a path by a name."""
    identity = f"{report.system.name}\0{report.outputs_sha256}\0{report.profile}"
    return f"submission-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def read_stored(folder: Path) -> Stored:
    """The results in a system's folder; the files beside the report are read when needed.

    Raises:
        InputError: there is no readable report.
    """
    return Stored(folder, read_report(folder / "report.json"))


def read_whole(folder: Path, *, complete: bool = True) -> Stored:
    """The results in a system's folder, after :meth:`Stored.check_whole`.

    Raises:
        TSTBenchError: a file is missing, damaged, or was changed after it was written.
    """
    stored = read_stored(folder)
    stored.check_whole(complete=complete)
    return stored


def system_folders(folder: Path) -> list[Path]:
    """The folders in a direction's that have a report, even one that cannot be read."""
    try:
        # A name that begins with a dot is one of something half-written.
        inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [path for path in inside if os.path.lexists(path / "report.json")]


def read_direction(folder: Path, *, complete: bool = True) -> list[Stored]:
    """The whole results of a direction's systems, by folder; others are named and left out.

    Args:
        folder: has a folder for each system.
        complete: see :meth:`Stored.check_whole`.
    """
    found: dict[str, Stored] = {}
    for place in system_folders(folder):
        try:
            stored = read_whole(place, complete=complete)
            name = stored.report.system.name
            if name in found:
                raise InputError(f"{place}: {name!r} is also in {found[name].folder}")
            found[name] = stored
        except TSTBenchError as error:
            say(f"left out: {error}")
    return list(found.values())
