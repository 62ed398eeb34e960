"""The hub folder: one git repository per artefact, as the Hub would hold it.

::

    <root>/datasets/tstbench/yelp/       a work tree and its .git
    <root>/spaces/tstbench/joint/
    <root>/models/tstbench/...
    <root>/local/tstbench/yelp           links to the above: from <root>/local the same names
                                         load as folders, with no server at all

Commits depend on the content and its history alone (author, dates and messages are fixed), so two
machines that publish the same artefacts get the same commit ids, and ``revision=<sha>`` means the
same thing in both labs.
"""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ...errors import InputError, MissingFileError
from ...files import git_blob_id
from . import lfs
from .git import GitError, git
from .guard import check_publishable

Kind = Literal["dataset", "model", "space"]
KINDS: tuple[Kind, ...] = ("dataset", "model", "space")
ATTRIBUTES = ".gitattributes"
EMPTY = "0" * 40  # the commit id of a repository that holds nothing yet

# One minute per commit from a fixed day on: a date must not make two equal histories differ.
FIRST_COMMIT = 1735689600  # 2025-01-01T00:00:00Z, in seconds
AUTHOR = "TSTBench <tstbench@users.noreply.huggingface.co>"

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
_SEGMENT = re.compile(r"[A-Za-z0-9_.+=@()-]+")
_REVISION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Entry:
    """One file of a commit."""

    path: str
    blob: str  # id of what git holds: the content, or the pointer to it
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
        """The commit id of a branch, tag or (abbreviated) commit id; None where there is none."""
        if not _REVISION.fullmatch(revision) or ".." in revision:
            return None
        try:
            found = git(self.git_dir, "rev-parse", "--verify", "-q", revision + "^{commit}")
        except GitError:
            return None
        return found.decode().strip()

    def files(self, commit: str) -> dict[str, Entry]:
        """The files of a commit, by path."""
        return _entries(self.git_dir, commit)

    def read(self, entry: Entry) -> bytes:
        """The content of a file that is not large."""
        return git(self.git_dir, "cat-file", "blob", entry.blob)

    def large_file(self, entry: Entry) -> Path | None:
        """Where the content of a large file lies; None where git itself holds the content."""
        return lfs.object_path(self.git_dir, entry.pointer.sha256) if entry.pointer else None

    def source(self, entry: Entry) -> Path | bytes:
        """The content of any file, by reference where it is large."""
        return self.large_file(entry) or self.read(entry)

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
        """Every path that some commit of ``main`` has held."""
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
        entry = Entry(path, blob, int(size))
        if entry.size <= lfs.POINTER_LIMIT:
            pointer = lfs.parse_pointer(git(git_dir, "cat-file", "blob", blob))
            if pointer:
                entry = Entry(path, blob, pointer.size, pointer, entry.size)
        entries[path] = entry
    return entries


def find_repository(root: Path, kind: str, repo_id: str) -> Repository | None:
    """The repository of that kind and id; None where there is none (whatever the id holds)."""
    parts = repo_id.split("/")
    if kind not in KINDS or len(parts) != 2 or not all(_NAME.fullmatch(part) for part in parts):
        return None
    repository = Repository(root, kind, repo_id)
    return repository if repository.git_dir.is_dir() else None


def list_repositories(root: Path) -> list[Repository]:
    """Every repository of a hub folder, by kind and id.

    Raises:
        MissingFileError: there is no such folder.
    """
    if not root.is_dir():
        raise MissingFileError(f"no hub folder at {root}: make one with `tstbench hub build`")
    found = []
    for kind in KINDS:
        for path in sorted((root / f"{kind}s").glob("*/*")):
            repository = find_repository(root, kind, f"{path.parent.name}/{path.name}")
            if repository:
                found.append(repository)
    return found


def write_repository(
    root: Path | str,
    kind: Kind,
    repo_id: str,
    source: Path | Mapping[str, Path | bytes],
    *,
    tags: Iterable[str] = (),
) -> str:
    """Make a repository hold exactly these files: one commit if anything changed, else none.

    Args:
        root: the hub folder; made where it is missing.
        kind: dataset, model or space.
        repo_id: ``namespace/name``.
        source: a folder (hidden files, caches and ``__init__.py`` files of no content are left
            out), or contents and files by path.
        tags: names that shall point at the resulting commit; moved where they exist.

    Returns:
        The commit id, 40 hex digits.

    Raises:
        LicensedTextError: a file holds, or may hold, text that must not be published.
        InputError: no files, no card, a name the Hub does not take, a link, or a dataset script
            (with ``<name>.py`` in it a dataset does not load at all).
        MissingExtraError: git is not installed.
    """
    root = Path(root).expanduser().resolve()
    files = _collect(source) if isinstance(source, Path) else dict(source)
    repository = Repository(root, kind, repo_id)
    _check_names(repository, files, tags)
    check_publishable(kind, repo_id, files)

    git_dir = repository.git_dir
    if not (git_dir / "HEAD").exists():
        git_dir.mkdir(parents=True, exist_ok=True)
        git(git_dir, "init", "-q", "--template=")
        git(git_dir, "symbolic-ref", "HEAD", "refs/heads/main")
        git(git_dir, "config", "core.bare", "false")

    held = _hold(git_dir, files)
    before = repository.resolve("main")
    old = {p: e.blob for p, e in repository.files(before).items()} if before else {}
    new = {path: git_blob_id(content) for path, content in held.items()}
    if old != new:
        _commit(repository, held, old, new, before)
    _update_work_tree(repository, {**files, ATTRIBUTES: held[ATTRIBUTES]}, old)
    commit = repository.resolve("main") or EMPTY
    for tag in tags:
        git(git_dir, "update-ref", f"refs/tags/{tag}", commit)
    return commit


def _collect(folder: Path) -> dict[str, Path | bytes]:
    if not folder.is_dir():
        raise MissingFileError(f"no such folder: {folder}")
    files: dict[str, Path | bytes] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        if hidden or path.suffix == ".pyc":
            continue
        if path.is_symlink():
            raise InputError(f"{path} is a link: copy the file itself, links are not published")
        empty_package = path.name == "__init__.py" and not path.stat().st_size
        if path.is_file() and not empty_package:
            files[relative.as_posix()] = path
    return files


def _check_names(
    repository: Repository, files: Mapping[str, Path | bytes], tags: Iterable[str]
) -> None:
    kind, repo_id = repository.kind, repository.repo_id
    parts = repo_id.split("/")
    if kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of repository; one of: {', '.join(KINDS)}")
    if len(parts) != 2 or not all(_NAME.fullmatch(part) for part in parts):
        raise InputError(
            f"{repo_id!r} is no repository id: namespace/name, of letters, digits, '.', '_', '-'"
        )
    if not files:
        raise InputError(f"{repo_id}: there are no files to publish")
    if "README.md" not in files:
        raise InputError(
            f"{repo_id}: README.md is missing, and a {kind} without a card says nothing"
        )
    if kind == "dataset" and f"{parts[1]}.py" in files:
        raise InputError(
            f"{repo_id}: {parts[1]}.py must not be in the dataset repository, the `datasets` "
            "library refuses to load a repository that holds a script of its own name"
        )
    for path in files:
        segments = path.split("/")
        if not all(_SEGMENT.fullmatch(s) and not s.startswith((".", "-")) for s in segments):
            raise InputError(f"{repo_id}: {path!r} is no file name for the Hub, rename it")
    for tag in tags:
        if not _NAME.fullmatch(tag) or ".." in tag:
            raise InputError(f"{repo_id}: {tag!r} is no tag name")


def _hold(git_dir: Path, files: Mapping[str, Path | bytes]) -> dict[str, bytes]:
    """What git shall hold for each path: small contents and pointers; large files are stored."""
    held, large = {}, []
    for path, content in files.items():
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        if lfs.is_large(path, size):
            held[path] = lfs.store(git_dir, content).encode()
            large.append(path)
        else:
            held[path] = content if isinstance(content, bytes) else content.read_bytes()
    held[ATTRIBUTES] = lfs.attributes(large)
    return held


def _commit(
    repository: Repository,
    held: Mapping[str, bytes],
    old: Mapping[str, str],
    new: Mapping[str, str],
    before: str | None,
) -> None:
    """One commit through ``git fast-import``: it appears whole or not at all."""
    earlier = int(git(repository.git_dir, "rev-list", "--count", before)) if before else 0
    when = f"{AUTHOR} {FIRST_COMMIT + 60 * earlier} +0000"
    message = _message(old, new).encode()
    stream = [f"commit refs/heads/main\ncommitter {when}\ndata {len(message)}\n".encode(), message]
    stream.append(f"\nfrom {before}\ndeleteall\n".encode() if before else b"\ndeleteall\n")
    for path, content in sorted(held.items()):
        stream += [f"M 100644 inline {path}\ndata {len(content)}\n".encode(), content, b"\n"]
    stream.append(b"done\n")
    git(repository.git_dir, "fast-import", "--quiet", "--done", feed=b"".join(stream))


def _message(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """One line that says what changed.

    >>> _message({"a": "1", "b": "2"}, {"a": "3", "c": "4"})
    'Add c; change a; delete b'
    """
    groups = {
        "add": sorted(new.keys() - old.keys()),
        "change": sorted(path for path in new.keys() & old.keys() if new[path] != old[path]),
        "delete": sorted(old.keys() - new.keys()),
    }
    parts = []
    for verb, paths in groups.items():
        if paths:
            names = ", ".join(paths[:3])
            parts.append(f"{verb} {names}" + (f" and {len(paths) - 3} more" if paths[3:] else ""))
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def _update_work_tree(
    repository: Repository, files: Mapping[str, Path | bytes], old: Mapping[str, str]
) -> None:
    for path in old.keys() - files.keys():
        (repository.path / path).unlink(missing_ok=True)
        for folder in list((repository.path / path).parents):
            if folder == repository.path or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()
    for path, content in files.items():
        target = repository.path / path
        if not _same(content, target):
            lfs.copy_atomically(content, target)
    git(repository.git_dir, "read-tree", "main")


def _same(content: Path | bytes, target: Path) -> bool:
    if not target.is_file():
        return False
    if isinstance(content, bytes):
        return target.read_bytes() == content
    return filecmp.cmp(content, target, shallow=False)


def link_local_names(root: Path | str) -> Path:
    """Renew ``<root>/local``: from there, ``load_dataset("tstbench/yelp")`` reads the folders.

    Raises:
        InputError: two repositories of different kinds share a name.
    """
    root = Path(root).expanduser().resolve()
    wanted: dict[str, Repository] = {}
    for repository in list_repositories(root):
        other = wanted.setdefault(repository.repo_id, repository)
        if other is not repository:
            raise InputError(
                f"{repository.repo_id} is a {other.kind} and a {repository.kind}: "
                "one of them needs another name to be loadable from a folder"
            )
    view = root / "local"
    for link in view.glob("*/*"):
        if link.is_symlink() and f"{link.parent.name}/{link.name}" not in wanted:
            link.unlink()
    for repo_id, repository in wanted.items():
        link = view / repo_id
        target = Path(os.path.relpath(repository.path, link.parent))
        if link.is_symlink() and link.readlink() == target:
            continue
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target, target_is_directory=True)
    return view
