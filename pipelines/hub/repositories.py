"""The hub folder: one git repository per artefact, as on the Hub.

::

    <root>/datasets/tstbench/yelp/       a work tree and its .git
    <root>/spaces/tstbench/joint/
    <root>/models/tstbench/...
    <root>/local/tstbench/yelp           links to the above: from <root>/local the same names
                                         load as folders, without a server

This module reads; :mod:`.writing` writes, and :mod:`.build` updates the links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ...errors import IntegrityError, MissingFileError
from ...files import git_blob_id
from . import lfs
from .git import GitError, git

Kind = Literal["dataset", "model", "space"]
KINDS: tuple[Kind, ...] = ("dataset", "model", "space")
ATTRIBUTES = ".gitattributes"
EMPTY = "0" * 40  # the commit id of an empty repository

NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_AGAIN = "Move the folder away and write it again with `tstbench hub build`"


@dataclass(frozen=True)
class Entry:
    """One file of a commit."""

    path: str
    blob: str  # id of what git stores: the content or a pointer to it
    size: int  # bytes of the content
    pointer: lfs.Pointer | None = None
    pointer_size: int = 0  # bytes


@dataclass(frozen=True)
class Repository:
    """One repository of a hub folder."""

    root: Path
    kind: Kind
    repo_id: str  # namespace/name

    @property
    def path(self) -> Path:
        """The work tree."""
        return self.root / f"{self.kind}s" / self.repo_id

    @property
    def git_dir(self) -> Path:
        """The ``.git`` folder."""
        return self.path / ".git"

    @property
    def name(self) -> str:
        """The id without its namespace."""
        return self.repo_id.split("/")[1]

    def resolve(self, revision: str = "main") -> str | None:
        """The commit id of a branch, tag or (abbreviated) commit id; None if there is none."""
        if not _REVISION.fullmatch(revision) or ".." in revision:
            return None
        try:
            found = git(self.git_dir, "rev-parse", "--verify", "-q", revision + "^{commit}")
        except GitError:
            return None
        return found.decode().strip()

    def files(self, commit: str) -> dict[str, Entry]:
        """The files of a commit, by path.

        Raises:
            IntegrityError: git does not have one of them any more.
        """
        return _entries(self.git_dir, commit)

    def read(self, entry: Entry) -> bytes:
        """The content of a file that is not in LFS.

        Raises:
            IntegrityError: it is not what was committed.
        """
        content = git(self.git_dir, "cat-file", "blob", entry.blob)
        if git_blob_id(content) != entry.blob:
            raise IntegrityError(
                f"{self.path}: {entry.path} is damaged: its content has another git id. {_AGAIN}"
            )
        return content

    def large_file(self, entry: Entry) -> Path | None:
        """The path of a large file's content; None if git itself stores the content."""
        return lfs.object_path(self.git_dir, entry.pointer.sha256) if entry.pointer else None

    def source(self, entry: Entry) -> Path | bytes:
        """The content of any file, by reference if it is large.

        Raises:
            IntegrityError: it is missing, or not what was committed.
        """
        large = self.large_file(entry)
        if large is None or entry.pointer is None:
            return self.read(entry)
        if not lfs.is_whole(large, entry.pointer):
            state = "damaged: its SHA-256 is another one" if large.exists() else "missing"
            raise IntegrityError(
                f"{self.path}: the content of {entry.path} is {state}. Write it again with "
                "`tstbench hub build`"
            )
        return large

    def tags(self) -> dict[str, str]:
        """Commit ids by tag."""
        return self._refs("refs/tags/")

    def branches(self) -> dict[str, str]:
        """Commit ids by branch."""
        return self._refs("refs/heads/")

    def history(self, revision: str = "main") -> list[tuple[str, int, str]]:
        """``(commit id, date in seconds since 1970, message)``, newest first."""
        lines = git(self.git_dir, "log", "--format=%H %ct %s", revision, "--").decode().splitlines()
        fields = (line.split(" ", 2) for line in lines)
        return [(commit, int(date), message) for commit, date, message in fields]

    def paths_ever(self) -> set[str]:
        """Every path in any commit of ``main``."""
        names = git(self.git_dir, "log", "--format=", "--name-only", "-z", "main", "--")
        return {name for name in names.decode().split("\0") if name}

    def _refs(self, prefix: str) -> dict[str, str]:
        lines = git(self.git_dir, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.split(" ", 1) for line in lines.decode().splitlines())
        return {name.removeprefix(prefix): commit for commit, name in pairs}


@lru_cache(maxsize=512)  # a commit never changes; a hub folder has some dozens
def _entries(git_dir: Path, commit: str) -> dict[str, Entry]:
    listing = git(git_dir, "ls-tree", "-r", "-z", "--long", "--full-tree", commit).decode()
    entries = {}
    for line in filter(None, listing.split("\0")):
        facts, path = line.split("\t", 1)
        _, _, blob, size = facts.split()
        if not size.isdecimal():  # "BAD": git lists what it does not have; "-": a submodule
            raise IntegrityError(f"{git_dir.parent}: the content of {path} is missing. {_AGAIN}")
        entry = Entry(path, blob, int(size))
        if entry.size <= lfs.POINTER_LIMIT:
            pointer = lfs.parse_pointer(git(git_dir, "cat-file", "blob", blob))
            if pointer:
                entry = Entry(path, blob, pointer.size, pointer, entry.size)
        entries[path] = entry
    return entries


def find_repository(root: Path, kind: str, repo_id: str) -> Repository | None:
    """The repository of that kind and id; None if there is none (whatever the id contains)."""
    parts = repo_id.split("/")
    if kind not in KINDS or len(parts) != 2 or not all(NAME.fullmatch(part) for part in parts):
        return None
    repository = Repository(root, kind, repo_id)
    return repository if repository.git_dir.is_dir() else None


def list_repositories(root: Path) -> list[Repository]:
    """Every repository of a hub folder, by kind and id.

    Raises:
        MissingFileError: there is no such folder.
    """
    if not root.is_dir():
        raise MissingFileError(f"no hub folder at {root}: create one with `tstbench hub build`")
    found = []
    for kind in KINDS:
        for path in sorted((root / f"{kind}s").glob("*/*")):
            repository = find_repository(root, kind, f"{path.parent.name}/{path.name}")
            if repository:
                found.append(repository)
    return found
