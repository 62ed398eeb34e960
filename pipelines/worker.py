"""What a worker on another machine does: jobs of a suite that was started elsewhere."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import socket
import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ..datasets_scripts import catalog
from ..datasets_scripts.corpus import Corpus
from ..errors import InputError, TSTBenchError, require
from ..files import home
from ..pace import agreed
from .jobs import Job, Outcome, Work, Workplace
from .storage import Files, Storage

_LOG = 50_000  # characters of a log that travel


@dataclass(frozen=True)
class Shared:
    """What a worker is sent once.

    Attributes:
        corpora: datasets of the user's own.
        files: of these, if there is a storage.
        versions: of the packages that decide about numbers.
        mark: without a storage, a file in the results folder, as long as the suite is running.
        folder: the current one, where machines share a disk.
    """

    work: Work
    corpora: tuple[Corpus, ...]
    versions: Mapping[str, str]
    mark: Path = Path()
    folder: Path = Path()
    storage: str = ""
    files: Files = field(default_factory=dict)


# Of the suite that a worker works for.
_workplace: tuple[object, Workplace, Storage | None] | None = None


def do(shared: list[Any], job: Job, files: Files) -> Outcome:
    """A job, in a worker of a Ray cluster."""
    global _workplace
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            if _workplace is None or _workplace[0] != shared[0]:
                sent: Shared = require("ray", "ray").get(shared[0])
                storage = None
                if sent.storage:
                    storage = Storage(sent.storage, suite_folder(sent.storage))
                _workplace = shared[0], opened(sent, storage), storage
            outcome = done(*_workplace[1:], job, files)
        except TSTBenchError as error:
            outcome = Outcome(job.id, "left out", str(error))
    return replace(outcome, log=said.getvalue()[-_LOG:])


def suite_folder(storage: str) -> Path:
    """Where a worker keeps the results of the suite whose files travel through a storage."""
    return home() / "suites" / hashlib.sha256(storage.encode()).hexdigest()[:16]


def done(workplace: Workplace, storage: Storage | None, job: Job, files: Files) -> Outcome:
    """A job, done; its files are in the storage then."""
    with agreed(yes=True):
        try:
            if storage:
                storage.get(files)
            outcome = workplace.do(job)
            if storage and outcome.state != "left out":
                outcome = replace(outcome, files=storage.put(workplace.files(job)))
        except TSTBenchError as error:
            outcome = Outcome(job.id, "left out", str(error))
        except Exception as error:  # a defect: the others go on, and the log has it
            traceback.print_exc()
            outcome = Outcome(job.id, "left out", f"{type(error).__name__}: {error}")
    return replace(outcome, where=socket.gethostname())


def opened(shared: Shared, storage: Storage | None) -> Workplace:
    """A workplace on this machine.

    Raises:
        InputError: it would not give the numbers that the suite's own machine gives.
    """
    check_versions(shared.versions)
    work, corpora = shared.work, shared.corpora
    if storage:
        work = replace(work, root=suite_folder(storage.url))
        corpora = storage.get_paths(corpora, shared.files)
    elif not shared.mark.is_file():
        raise InputError(
            f"{socket.gethostname()} does not see {work.root}: every node needs the results folder "
            "at the same path; if no disk is shared, give --storage"
        )
    elif shared.folder.is_dir():
        os.chdir(shared.folder)
    for corpus in corpora:
        catalog.register(corpus)
    return Workplace(work)


def check_versions(wanted: Mapping[str, str]) -> None:
    """Check that this machine has these versions.

    Raises:
        InputError: it has others, and scores would not be comparable.
    """
    theirs = {name: _version(name) for name in wanted}
    other = [f"{k} {theirs[k]} (not {v})" for k, v in wanted.items() if theirs[k] != v]
    if other:
        raise InputError(
            f"{socket.gethostname()} has {', '.join(other)}: scores would not be comparable. "
            "Install there what is installed where the suite was started"
        )


def versions(extras: Collection[str] | None = None) -> dict[str, str]:
    """What is installed here of TSTBench and the libraries that it asks for.

    Args:
        extras: only what the core and these extras ask for.
    """
    found = {"tstbench": _version("tstbench")}
    for text in requires("tstbench") or ():
        of = re.findall(r"extra == ['\"](\w+)", text)
        if extras is None or not of or {*of} & {*extras}:
            name = re.split(r"[^\w.-]", text)[0]
            found[name] = _version(name)
    return {name: number for name, number in found.items() if number}


def _version(name: str) -> str:
    try:
        return version(name).partition("+")[0]  # not whether torch is built for a CPU or a GPU
    except PackageNotFoundError:
        return ""
