"""Submissions: what somebody uploads is data, checked before anything else happens to it.

The seam between the page and the pipeline is :class:`ScoreSubmission`: a function that validates
and scores one file exactly as the command line does. Nothing here scores.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from ...datasets_scripts.directions import DATASETS
from ...errors import InputError, TSTBenchError
from ...files import atomic_folder, read_text
from ...pipelines.report import Report, SystemInfo, read_report
from ...pipelines.results import REPLICATES_FILE, is_result, write_significance
from .data import Board
from .human import fold

MAX_BYTES = 1 << 20
FILE_TYPES = (".txt", ".jsonl", ".csv", ".tsv")
_TEXTS = "samples.jsonl"
_FILES = (_TEXTS, REPLICATES_FILE, "report.json")  # the report last: it marks completion
_NAME = re.compile(r"[A-Za-z0-9 ._+-]{1,100}")

Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


class ScoreSubmission(Protocol):
    """Validates and scores one file of rewrites; pipelines/submission.py has the one."""

    def __call__(
        self, path: Path, direction: str, system: SystemInfo, out: Path, progress: Progress
    ) -> Path:
        """Score a file.

        Args:
            path: the rewrites, text, JSONL or CSV, already known to be small.
            direction: such as ``yelp/negative-to-positive``.
            system: goes into the report as it is.
            out: an empty folder to write below.
            progress: to be called now and then.

        Returns:
            The report folder: ``report.json`` and ``samples.jsonl``.

        Raises:
            TSTBenchError: the file cannot be scored; the message is shown to the submitter.
        """


@dataclass(frozen=True)
class Receipt:
    """What became of a submission: a sentence, and where to look."""

    message: str
    url: str | None = None


class Publish(Protocol):
    """Puts a scored submission where it belongs."""

    @property
    def action(self) -> str:
        """What the button says."""

    def __call__(self, folder: Path) -> Receipt:
        """Publish a report folder; a :class:`TSTBenchError` says what went wrong."""


@dataclass(frozen=True)
class ToFolder:
    """Writes into the local results folder, whole or not at all."""

    root: Path
    action: str = "Add to the leaderboard"

    def __call__(self, folder: Path) -> Receipt:
        """Copy it under a name of our own making, and compare it with who is there."""
        report = read_report(folder)
        target = self.root / place(report)
        if target.exists():
            raise InputError("this file was already submitted under this name")
        with atomic_folder(target, ours=is_result) as scratch:
            for name in _FILES:
                if (folder / name).is_file():
                    shutil.copyfile(folder / name, scratch / name)
        write_significance(target.parent)
        return Receipt(f"{report.system.name} is on the leaderboard of {report.direction}.")


@dataclass(frozen=True)
class ToPullRequest:
    """Opens a pull request on a results dataset; a person merges it.

    Attributes:
        repository: such as ``tstbench/results``.
        endpoint: of the Hub; ``None`` for ``HF_ENDPOINT``.

    The token is ``HF_TOKEN``'s or the hub login's; it is never read here.
    """

    repository: str
    endpoint: str | None = None
    action: str = "Open a pull request"

    def __call__(self, folder: Path) -> Receipt:
        """Send report and samples; no sentence of a licensed corpus leaves the machine."""
        from huggingface_hub import CommitOperationAdd, HfApi
        from huggingface_hub.errors import HfHubHTTPError

        report = read_report(folder)
        dataset = report.direction.split("/")[0]
        licensed = dataset not in DATASETS or DATASETS[dataset].licensed
        operations = [
            CommitOperationAdd(f"{place(report)}/{name}", (folder / name).read_bytes())
            for name in _FILES
            if (folder / name).is_file() and not (licensed and name == _TEXTS)
        ]
        try:
            info = HfApi(endpoint=self.endpoint).create_commit(
                self.repository,
                operations,
                commit_message=f"Add {report.system.name} on {report.direction}",
                repo_type="dataset",
                create_pr=True,
            )
        except (HfHubHTTPError, OSError) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            why = f"HTTP {status}" if status else type(error).__name__
            raise TSTBenchError(
                f"no pull request could be opened on {self.repository} ({why}). The Space needs a "
                "token with write access, as its secret HF_TOKEN; the scores are not lost, try "
                "again."
            ) from error
        return Receipt(f"A pull request is open on {self.repository}.", info.pr_url)


def place(report: Report) -> str:
    """Where a submission lies: ``<dataset>/<direction>/submission-<hash>``, never a name's path."""
    identity = f"{report.system.name}\0{report.outputs_sha256}\0{report.profile}"
    return f"{report.direction}/submission-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def check_system(
    board: Board,
    direction: str,
    name: str,
    *,
    family: str = "unknown",
    needs_parallel: bool | None = None,
    date: str = "",
    origin: str = "",
    outputs_url: str = "",
) -> SystemInfo:
    """What the form says of a system, checked.

    Raises:
        InputError: a field is wrong, or the name is taken on this direction.
    """
    name = " ".join(name.split())
    if not _NAME.fullmatch(name) or not fold(name):
        raise InputError(
            "the name needs 1 to 100 letters, digits, blanks or . _ + -, and at least one letter "
            "or digit"
        )
    taken = {fold(e.report.system.name): e.report.system.name for e in board.of(direction)}
    if fold(name) in taken:
        raise InputError(
            f"{taken[fold(name)]} is on the leaderboard of {direction} already; choose another "
            f"name, such as {name} v2"
        )
    try:
        return SystemInfo(
            name=name,
            family=family,  # type: ignore[arg-type]  # checked by pydantic
            needs_parallel=needs_parallel,
            date=date.strip() or None,
            origin=origin.strip()[:300] or None,
            outputs_url=outputs_url.strip() or None,
        )
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        hints = {
            "date": "the date is written 2026, 2026-05 or 2026-05-17",
            "outputs_url": "the link to the outputs starts with https://",
        }
        raise InputError(hints.get(field, f"{field} is not as expected")) from error


def check_upload(path: Path | str | None) -> Path:
    """A small UTF-8 text file with something in it.

    Raises:
        InputError: no file, too large, of another kind, binary, not UTF-8, or empty.
    """
    if path is None:
        raise InputError("choose a file first: one rewrite a line, in the order of the test set")
    path = Path(path)
    if path.suffix.lower() not in FILE_TYPES:
        raise InputError(f"the file's name should end in {', '.join(FILE_TYPES)}")
    size = os.path.getsize(path)  # noqa: PTH202 (a missing file is an OSError either way)
    if size > MAX_BYTES:
        raise InputError(f"the file has {size / MAX_BYTES:.1f} MiB, at most 1 MiB is taken")
    try:
        text = read_text(path)
    except InputError as error:  # the temporary folder is nobody's business
        raise InputError(str(error).replace(str(path), "the file")) from error
    if not text.strip():
        raise InputError("the file is empty")
    return path
