"""What a worker of a Ray cluster does: jobs of a suite that was started on another machine."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import socket
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
    """What a worker is sent once."""

    work: Work
    corpora: tuple[Corpus, ...]  # datasets of the user's own
    versions: Mapping[str, str]
    mark: Path  # a file in the results folder, as long as the suite is running
    folder: Path
    storage: str
    files: Files  # of these datasets, if there is a storage


# Of the suite that a worker works for.
_workplace: tuple[object, Workplace, Storage | None] | None = None


def do(shared: list[Any], job: Job, files: Files) -> Outcome:
    """A job, in a worker."""
    global _workplace
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), agreed(yes=True):
        try:
            if _workplace is None or _workplace[0] != shared[0]:
                _workplace = shared[0], *_opened(require("ray", "ray").get(shared[0]))
            _, workplace, storage = _workplace
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
    return replace(outcome, where=socket.gethostname(), log=said.getvalue()[-_LOG:])


def _opened(shared: Shared) -> tuple[Workplace, Storage | None]:
    """A workplace on this node, if it can give the numbers that the suite's own machine gives."""
    host = socket.gethostname()
    theirs = {name: _version(name) for name in shared.versions}
    other = [f"{k} {theirs[k]} (not {v})" for k, v in shared.versions.items() if theirs[k] != v]
    if other:
        raise InputError(
            f"{host} has {', '.join(other)}: scores would not be comparable. Install there what is "
            "installed where the suite was started"
        )
    work, corpora, storage = shared.work, shared.corpora, None
    if shared.storage:
        name = hashlib.sha256(shared.storage.encode()).hexdigest()[:16]
        work = replace(work, root=home() / "suites" / name)
        storage = Storage(shared.storage, work.root)
        corpora = storage.get_paths(corpora, shared.files)
    elif not shared.mark.is_file():
        raise InputError(
            f"{host} does not see {work.root}: every node needs the results folder at the "
            "same path; if no disk is shared, give --storage"
        )
    elif shared.folder.is_dir():
        os.chdir(shared.folder)
    for corpus in corpora:
        catalog.register(corpus)
    return Workplace(work), storage


def versions() -> dict[str, str]:
    """What is installed here of TSTBench and the libraries that it asks for."""
    asked = (re.split(r"[^\w.-]", text)[0] for text in requires("tstbench") or ())
    found = {name: _version(name) for name in ("tstbench", *asked)}
    return {name: number for name, number in found.items() if number}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
