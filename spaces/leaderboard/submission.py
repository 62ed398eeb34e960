"""Submissions: an upload is data, checked before anything else happens to it.

The interface between the page and the pipeline is :class:`ScoreSubmission`: a function that
validates and scores one file exactly as the command line does. This module does not score.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from pydantic import ValidationError

from ...console import printable, say
from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.load import load_test_set
from ...errors import InputError, TSTBenchError
from ...files import atomic_folder, in_names, lock, read_text
from ...hub import misunderstood
from ...pipelines.analysis.data import fold
from ...pipelines.hub.licensed import check_publishable
from ...pipelines.output_checks import Suspicion, find_suspicions, same_outputs
from ...pipelines.outputs import read_outputs
from ...pipelines.report import MAX_NAME, Report, SystemInfo, read_report
from ...pipelines.results import (
    REPLICATES_FILE,
    SAMPLES_FILE,
    is_result,
    submission_folder,
    system_folders,
)
from ...pipelines.standings import write_significance
from .data import Board

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MAX_BYTES = 1 << 20
_FILES = (SAMPLES_FILE, REPLICATES_FILE, "report.json")  # the report last: it marks completion

Progress = Callable[[float, str], None]  # share done, 0 to 1, and what is being done


class ScoreSubmission(Protocol):
    """Validates and scores one file of rewrites; implemented in pipelines/submission.py."""

    def __call__(
        self, path: Path, direction: str, system: SystemInfo, out: Path, progress: Progress
    ) -> Path:
        """Score a file.

        Args:
            path: the rewrites, text, JSONL or CSV, already known to be small.
            direction: such as ``yelp/negative-to-positive``.
            system: written to the report unchanged.
            out: an empty folder to write to.
            progress: called now and then.

        Returns:
            The report folder: ``report.json`` and ``samples.jsonl``.

        Raises:
            TSTBenchError: the file cannot be scored; the message is shown to the submitter.
        """


@dataclass(frozen=True)
class Receipt:
    """The result of a submission: a sentence, and where to look."""

    message: str
    url: str | None = None


class Publish(Protocol):
    """Puts a scored submission where it belongs."""

    @property
    def action(self) -> str:
        """The text of the button."""

    def __call__(self, folder: Path) -> Receipt:
        """Publish a report folder; a :class:`TSTBenchError` says what went wrong."""


@dataclass(frozen=True)
class ToFolder:
    """Writes atomically into the local results folder."""

    root: Path
    action: str = "Add to the leaderboard"

    def __call__(self, folder: Path) -> Receipt:
        """Copy the report under a generated folder name, and compare all systems again.

        Raises:
            InputError: it is there already, its name is taken, or nothing can be written.
        """
        report = read_report(folder)
        target = self.root / place(report)
        direction = target.parent
        try:
            # Two sessions may have checked one name before either of them published it.
            with lock(direction, "submission"):
                _check_new(target, report)
                with atomic_folder(target, ours=is_result) as scratch:
                    for name in _FILES:
                        if (folder / name).is_file():
                            shutil.copyfile(folder / name, scratch / name)
                compared = _compared_again(direction)
        except OSError as error:
            say(f"a submission could not be written to {direction}: {error}")
            why = error.strerror or type(error).__name__
            raise InputError(
                f"the folder of results cannot be written ({why}). Tell who runs this "
                "leaderboard; the scores are not lost: try again"
            ) from error
        there = f"{report.system.name} is on the leaderboard of {report.direction}"
        return Receipt(f"{there}." if compared else f"{there}; its rank follows later.")


def _check_new(target: Path, report: Report) -> None:
    """Check that nobody published this file, or another one under this name, in the meantime."""
    if target.exists():
        raise InputError("this file was already submitted under this name")
    for folder in system_folders(target.parent):
        try:
            name = read_report(folder / "report.json").system.name
        except TSTBenchError:  # damaged: the page names it
            continue
        if fold(name) == fold(report.system.name):
            raise _taken(name, report.direction, report.system.name)


def _taken(name: str, direction: str, wanted: str) -> InputError:
    return InputError(
        f"{name} is already on the leaderboard of {direction}; choose another name, such as "
        f"{wanted} v2"
    )


def _compared_again(direction: Path) -> bool:
    """Whether the systems of a direction could be compared: what was published stays so."""
    try:
        write_significance(direction)
    except (TSTBenchError, OSError) as error:  # the page compares the replicates itself
        say(f"{direction}: the systems could not be compared: {error}")
        return False
    return True


@dataclass(frozen=True)
class ToPullRequest:
    """Opens a pull request on a results dataset; a person merges it.

    Attributes:
        repository: such as ``tstbench/results``.
        endpoint: of the Hub; ``None`` for ``HF_ENDPOINT``.

    The token is that of ``HF_TOKEN`` or the hub login; it is never read here.
    """

    repository: str
    endpoint: str | None = None
    action: str = "Open a pull request"

    def __call__(self, folder: Path) -> Receipt:
        """Send report and samples, without sentences that must not be published."""
        from huggingface_hub import CommitOperationAdd, HfApi
        from huggingface_hub.errors import HfHubHTTPError

        report, api = read_report(folder), HfApi(endpoint=self.endpoint)
        dataset = report.direction.split("/")[0]
        private = dataset not in DATASETS or not DATASETS[dataset].publishable
        files: dict[str, Path | bytes] = {
            f"{place(report)}/{name}": (folder / name).read_bytes()
            for name in _FILES
            if (folder / name).is_file() and not (private and name == SAMPLES_FILE)
        }
        check_publishable(self.repository, files)
        operations = [CommitOperationAdd(path, content) for path, content in files.items()]
        try:
            with _SENDING:  # two sessions may have checked one name before either was sent
                self._check_new(api, report)
                info = api.create_commit(
                    self.repository,
                    operations,
                    commit_message=_title(report.system.name, report.direction),
                    repo_type="dataset",
                    create_pr=True,
                )
        except Exception as error:
            if not (isinstance(error, HfHubHTTPError | OSError) or misunderstood(error)):
                raise
            status = getattr(getattr(error, "response", None), "status_code", None)
            why = f"HTTP {status}" if status else type(error).__name__
            raise TSTBenchError(
                f"no pull request could be opened on {self.repository} ({why}). The Space needs a "
                "token with write access as its secret HF_TOKEN. The scores are not lost: try "
                "again."
            ) from error
        return Receipt(f"A pull request is open on {self.repository}.", info.pr_url)

    def _check_new(self, api: HfApi, report: Report) -> None:
        """Check that no pull request, open or merged since, proposes a system of this name."""
        proposed = api.get_repo_discussions(
            self.repository, repo_type="dataset", discussion_type="pull_request"
        )
        for one in islice(proposed, _MOST_PROPOSED):
            name = _named_in(one.title, report.direction)
            if one.status != "closed" and name and fold(name) == fold(report.system.name):
                raise InputError(
                    f"{printable(name)} was already submitted for {report.direction} "
                    f"(pull request {one.num}); choose another name"
                )


_SENDING = Lock()
_MOST_PROPOSED = 2000  # pull requests: a Hub that always has another page is not followed


def _title(name: str, direction: str) -> str:
    return f"Add {name} on {direction}"


def _named_in(title: str, direction: str) -> str:
    """The system that a pull request's title names, if it is of this direction."""
    before, after = _title("\0", direction).split("\0")
    ours = title.startswith(before) and title.endswith(after)
    return title[len(before) : len(title) - len(after)] if ours else ""


def place(report: Report) -> str:
    """A submission's path: ``<dataset>/<direction>/submission-<hash>``, never from its name."""
    return f"{report.direction}/{submission_folder(report)}"


def check_system(
    board: Board,
    direction: str,
    name: str,
    *,
    family: str = "unknown",
    needs_parallel: bool | None = None,
    date: str = "",
    outputs_url: str = "",
) -> SystemInfo:
    """The checked form data of a system.

    Raises:
        InputError: a field is wrong, or the name is already used on this direction.
    """
    name = " ".join(name.split())
    plain = all(in_names(sign) or sign in " _" for sign in name)
    if not plain or len(name) > MAX_NAME or not any(map(str.isalnum, name)):
        raise InputError(
            "the name needs 1 to 100 letters, digits, spaces or . _ + -, and at least one letter "
            "or digit"
        )
    taken = {fold(e.facts.name): e.facts.name for e in board.of(direction)}
    if fold(name) in taken:
        raise _taken(taken[fold(name)], direction, name)
    try:
        return SystemInfo(
            name=name,
            family=family,  # type: ignore[arg-type]  # checked by pydantic
            needs_parallel=needs_parallel,
            date=date.strip() or None,
            outputs_url=outputs_url.strip() or None,
        )
    except ValidationError as error:
        field = str(error.errors()[0]["loc"][0])
        hints = {
            "date": "write the date as 2026, 2026-05 or 2026-05-17",
            "outputs_url": "the link to the outputs must start with https://",
        }
        raise InputError(hints.get(field, f"{field} is not valid")) from error


def check_upload(path: Path | str | None) -> Path:
    """Check that a file is a small, non-empty UTF-8 text file, whatever its name.

    Raises:
        InputError: no file, or it is too large, binary, not UTF-8 or empty.
    """
    if path is None:
        raise InputError("choose a file first: one rewrite per line, in the order of the test set")
    path = Path(path)
    size = os.path.getsize(path)  # noqa: PTH202 (a missing file is an OSError either way)
    if size > MAX_BYTES:
        raise InputError(f"the file has {size / MAX_BYTES:.1f} MiB; the limit is 1 MiB")
    try:
        text = read_text(path)
    except InputError as error:  # do not show the temporary folder
        raise InputError(str(error).replace(str(path), "the file")) from error
    if not text.strip():
        raise InputError("the file is empty")
    return path


def check_outputs(board: Board, path: Path, direction: str, system: SystemInfo) -> list[Suspicion]:
    """What looks wrong with a file that can be scored; the submitter must confirm it.

    Raises:
        TSTBenchError: the file cannot be scored.
    """
    test_set = load_test_set(direction)
    outputs = read_outputs(path, test_set, system.name)
    others = {entry.label: entry.facts.outputs_sha256 for entry in board.of(direction)}
    return [
        *find_suspicions(outputs.predictions, test_set, bound=system.is_bound),
        *same_outputs(outputs.sha256, others),
    ]
