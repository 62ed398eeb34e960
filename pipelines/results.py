"""The results folder: written by evaluations, read by leaderboards.

Layout: ``<root>/<dataset>/<source>-to-<target>/<system>/`` with ``report.json`` (scores,
intervals, signatures), ``samples.jsonl`` (one line per sentence) and ``replicates.parquet`` (every
corpus score and its bootstrap replicates, so that systems scored in different years can still be
compared pairwise); and beside the systems ``significance.json``.

Everything is checked when it is read: the report has the hashes of the files beside it.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import DATASETS
from ..errors import InputError, TSTBenchError
from ..files import file_name
from ..metrics.result import finite
from ..metrics.statistics import RESAMPLES
from ..talk import printable, say
from .history import HISTORY_FILE
from .ranking import Bootstrapped
from .report import MAX_NAME, Report, Sample, predictions_sha256, score_recipe
from .report_files import read_report, read_samples

SAMPLES_FILE = "samples.jsonl"
REPLICATES_FILE = "replicates.parquet"
RESULT_FILES = {"report.json", SAMPLES_FILE, REPLICATES_FILE, HISTORY_FILE}


@dataclass(frozen=True)
class Stored:
    """One system's results on disk, or those of the scores in a reduced report."""

    folder: Path
    report: Report

    @property
    def has_samples(self) -> bool:
        """Whether the sentences are present; those of licensed corpora are never published."""
        return (self.folder / SAMPLES_FILE).is_file()

    def samples(self) -> list[Sample]:
        """The sentences, with the report's scores.

        Raises:
            TSTBenchError: the file is missing or does not match the report.
        """
        self._check_hash(SAMPLES_FILE, self.report.samples_sha256)
        return read_samples(self.folder)

    def bootstrapped(self) -> dict[str, Bootstrapped]:
        """Value and replicates of each score by key, unrounded; empty if there is no file.

        Raises:
            InputError: the file is damaged or does not match the report.
        """
        path = self.folder / REPLICATES_FILE
        if not path.is_file():
            return {}
        content = self._check_hash(REPLICATES_FILE, self.report.replicates_sha256)
        try:
            # Neither pq.read_table nor to_numpy: they import pandas, which takes a second.
            table = pq.ParquetFile(io.BytesIO(content)).read()
            stored = {
                s.key: np.from_dlpack(table[s.key].combine_chunks()) for s in self.report.scores
            }
            for name, array in stored.items():
                if array.shape != (1 + RESAMPLES,) or array.dtype != np.float64:
                    raise ValueError(f"{name} does not have one value and {RESAMPLES} replicates")
        except (ValueError, TypeError, KeyError, OSError, pa.ArrowException) as error:
            raise InputError(f"{path} is damaged: {error}. Evaluate the system again") from error
        return {name: Bootstrapped(float(a[0]), a[1:]) for name, a in stored.items()}

    def check_whole(self, *, with_samples: bool = True) -> None:
        """Check that report, samples and replicates are all present and belong together.

        The sentences of a licensed corpus may be missing.

        Args:
            with_samples: check the sentences too, which takes most of the time.

        Raises:
            TSTBenchError: a file is missing, damaged, or was changed after it was written.
        """
        self.check_direction()
        if not (self.folder / REPLICATES_FILE).is_file():
            raise InputError(f"{self.folder} has no {REPLICATES_FILE}. Evaluate the system again")
        self.check_scores()
        if not with_samples:
            return
        dataset = DATASETS.get(self.report.direction.split("/")[0])
        if self.has_samples or dataset is None or not dataset.licensed:
            self._check_samples()

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

    def check_scores(self) -> None:
        """Check the report's scores against the replicates beside it, if there are any.

        Raises:
            InputError: the replicates are damaged, or the report was changed after it was written.
        """
        report, found = self.report, self.bootstrapped()
        for score in report.scores if found else ():
            if finite(found[score.key].value) != score.value:
                raise self._changed(f"the value of {score.key} differs from {REPLICATES_FILE}")
            wanted = score_recipe(report.outputs_sha256, report.data.fingerprint, score.signature)
            if score.recipe != wanted:
                raise self._changed(f"the recipe of {score.key} does not match its signature")

    def _check_samples(self) -> None:
        report, samples = self.report, self.samples()
        if predictions_sha256([sample.prediction for sample in samples]) != report.outputs_sha256:
            raise self._changed("its predictions are not those that the report was computed from")
        keys = {score.key for score in report.scores}
        for sample in samples:
            if not sample.scores.keys() <= keys:
                raise self._changed(f"{SAMPLES_FILE} has scores that are not in the report")

    def _check_hash(self, name: str, expected: str | None) -> bytes:
        """The content of a file, whose hash must be the one in the report."""
        path = self.folder / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        if expected is not None and hashlib.sha256(content).hexdigest() != expected:
            raise InputError(
                f"{path} is damaged: it does not match the hash in its report. "
                "Evaluate the system again"
            )
        return content

    def _changed(self, why: str) -> InputError:
        return InputError(f"{self.folder} was changed after it was written: {why}")


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
    """The folder of a system's results, whether it exists or not.

    Earlier versions named it by the ASCII letters of the system: such a folder is used again.
    """
    parent = direction_folder(root, direction)
    earlier = parent / re.sub(r"[^A-Za-z0-9.+-]+", "_", system).strip("._")
    if earlier != parent and not system.isascii():
        with suppress(TSTBenchError):
            if read_report(earlier / "report.json").system.name == system:
                return earlier
    return parent / folder_name(system)


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


def read_stored(folder: Path) -> Stored:
    """The results in a system's folder; the files beside the report are read when needed.

    Raises:
        InputError: there is no readable report, or it is of another direction.
    """
    stored = Stored(folder, read_report(folder / "report.json"))
    stored.check_direction()
    return stored


def read_direction(folder: Path, *, with_samples: bool = True) -> list[Stored]:
    """The complete results of a direction's systems, by folder; others are named and left out.

    Args:
        folder: has a folder for each system.
        with_samples: check the sentences too; without, only the numbers.
    """
    found: dict[str, Stored] = {}
    for file in sorted(folder.glob("*/report.json")):
        if file.parent.name.startswith("."):  # half-written
            continue
        try:
            stored = read_stored(file.parent)
            stored.check_whole(with_samples=with_samples)
            name = stored.report.system.name
            if name in found:
                raise InputError(f"{file.parent}: {name!r} is also in {found[name].folder}")
            found[name] = stored
        except TSTBenchError as error:
            say(f"left out: {error}")
    return list(found.values())
