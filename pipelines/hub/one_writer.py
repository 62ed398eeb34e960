"""One writer at a time in a hub folder, and what a killed one left behind.

A writer is several git commands. If it is killed between two of them, the next one finds the mark
that the first left in the ``.git`` folder, takes away what git left (its lock files, half-written
packs), and writes what is missing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import InputError
from ...files import TEMPORARY, lock, write_text
from ...talk import say
from .git import git
from .repositories import Repository

MARK = "tstbench-writing"  # in a .git folder, while it is written to
_COMMIT = re.compile(rb"[0-9a-f]{40}\n?")
_HEAD = "ref: refs/heads/main\n"
_LEFT_BY_GIT = ("*.lock", "tmp_pack_*", "tmp_idx_*", "tmp_obj_*", "fast_import_crash_*")


@contextmanager
def hub_lock(root: Path) -> Iterator[None]:
    """Wait until no other process writes to this hub folder, and say so.

    Raises:
        InputError: the folder cannot be written to.
    """
    with lock(root, "hub", inside=True):
        yield


@contextmanager
def writing_to(repository: Repository) -> Iterator[None]:
    """A repository that git can write to: made if there is none, mended if its writer was killed.

    Raises:
        InputError: another git program is at work in it.
    """
    git_dir = repository.git_dir
    mark = git_dir / MARK
    interrupted = mark.exists()
    if interrupted:
        _sweep(repository)
    elif locks := sorted(git_dir.rglob("*.lock")):
        raise InputError(
            f"another git program is at work in {repository.path}: wait until it is done. If none "
            f"is, delete {locks[0]}"
        )
    is_new = not (git_dir / "HEAD").exists()
    git_dir.mkdir(parents=True, exist_ok=True)
    mark.touch()
    head = git_dir / "HEAD"
    if not head.exists() or head.read_text("utf-8", "replace") != _HEAD:
        write_text(head, _HEAD)  # before "git init", whose own branch may have another name
    if is_new or interrupted:
        git(git_dir, "init", "-q", "--template=")
        git(git_dir, "config", "core.bare", "false")
    _drop_broken_branch(repository)
    yield
    mark.unlink()  # not after an error: then the next writer looks after what is left


def _drop_broken_branch(repository: Repository) -> None:
    """A branch that leads nowhere, as a power cut leaves it, and which git would not write to."""
    branch = repository.git_dir / "refs/heads/main"
    if branch.is_file() and _COMMIT.fullmatch(branch.read_bytes()) is None:
        say(f"{repository.path}: its branch was damaged, so its history begins again")
        branch.unlink()


def _sweep(repository: Repository) -> None:
    left = [p for pattern in _LEFT_BY_GIT for p in repository.git_dir.rglob(pattern)]
    for path in left:
        path.unlink(missing_ok=True)
    for folder in [*repository.path.rglob(f"{TEMPORARY}*")]:  # of atomic_file
        shutil.rmtree(folder, ignore_errors=True)
