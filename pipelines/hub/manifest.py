"""The hub folder: a plain folder for each repository, with a manifest of what we built in it.

::

    <root>/datasets/tstbench/yelp/   the files, and .tstbench.json: who built them, and their hashes
    <root>/spaces/tstbench/joint/
    <root>/models/tstbench/...
    <root>/local/tstbench/yelp       links to the above: from <root>/local the same names load
                                     as folders, without a server

A folder without a manifest is none of ours: it is neither served nor pushed, nor written over.
Equal content has an equal manifest on every machine, and its hash stands for a commit id.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationError

from ...errors import InputError, IntegrityError, MissingFileError
from ...files import atomic_folder, file_state, in_names, lock, restore, write_bytes
from ...records import Strict
from ..report import Sha256
from .eval_results import FOLDER
from .licensed import check_publishable

Kind = Literal["dataset", "model", "space"]
KINDS: tuple[Kind, ...] = ("dataset", "model", "space")
MANIFEST = ".tstbench.json"

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
# Hidden files are left out of a folder and refused by name, but for a model's results.
_HIDDEN = re.compile(rf"{re.escape(FOLDER)}/[A-Za-z0-9_][A-Za-z0-9_.-]*\.yaml")
_SIGNS = "_=@()"  # besides those of a file name


def _checked_path(path: str) -> str:
    """A path that leads to no other folder, and that the Hub takes."""
    segments = path.split("/")
    if _HIDDEN.fullmatch(path) or all(_is_segment(s) and s[0] not in ".-" for s in segments):
        return path
    raise ValueError(f"{path!r} is not a valid file name on the Hub: rename it")


def _is_segment(name: str) -> bool:
    """Whether a name has letters and digits, of any script, and harmless signs only."""
    return bool(name) and all(in_names(sign) or sign in _SIGNS for sign in name)


class File(Strict):
    """One file: its hash, and its size in bytes."""

    sha256: Sha256
    size: int


class Manifest(Strict):
    """What was built: by what, the names that lead to it besides ``main``, and its files by path.

    The manifest itself is none of the files.
    """

    builder: str
    tags: tuple[str, ...] = ()
    files: dict[Annotated[str, AfterValidator(_checked_path)], File]

    def content(self) -> bytes:
        """The bytes of the file :data:`MANIFEST`."""
        return json.dumps(self.model_dump(), indent=1, sort_keys=True).encode() + b"\n"


@dataclass(frozen=True)
class Repository:
    """One repository of a hub folder."""

    root: Path
    kind: Kind
    repo_id: str  # namespace/name

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.root / f"{self.kind}s" / self.repo_id

    @property
    def name(self) -> str:
        """The id without its namespace."""
        return self.repo_id.split("/")[1]

    @property
    def commit(self) -> str:
        """40 hex digits of the manifest's hash, which stand for a commit id."""
        return hashlib.sha256((self.path / MANIFEST).read_bytes()).hexdigest()[:40]

    def manifest(self) -> Manifest:
        """What was built.

        Raises:
            IntegrityError: the manifest is damaged.
        """
        return _read(self.path / MANIFEST, file_state(self.path / MANIFEST))

    def source(self, path: str) -> Path:
        """A file that the manifest names, or the manifest itself.

        Raises:
            IntegrityError: it is missing, or not what was built.
        """
        place = self.path / path
        file = self.manifest().files.get(path)
        if path != MANIFEST and not (file and _is_whole(place, file)):
            state = "damaged: its SHA-256 is another one" if place.exists() else "missing"
            raise IntegrityError(
                f"{self.path}: {path} is {state}. Write it again with `tstbench hub build`"
            )
        return place

    def _holds(self, manifest: Manifest) -> bool:
        """Whether the folder is what this manifest says, file by file."""
        try:
            whole = all(_is_whole(self.path / path, file) for path, file in manifest.files.items())
            return whole and self.manifest() == manifest
        except (IntegrityError, OSError):
            return False


@lru_cache(maxsize=512)  # by its state; a hub folder has some dozens
def _read(place: Path, _state: str) -> Manifest:
    try:
        return Manifest.model_validate_json(place.read_bytes())
    except (OSError, ValidationError) as error:
        raise IntegrityError(
            f"{place} is damaged. Move the folder away and write it again with `tstbench hub build`"
        ) from error


def _is_whole(place: Path, file: File) -> bool:
    return place.is_file() and _file_at(place, file_state(place)) == file


@lru_cache(maxsize=4096)
def _file_at(place: Path, _state: str) -> File:
    with place.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return File(sha256=digest, size=place.stat().st_size)


def _described(content: Path | bytes) -> File:
    if isinstance(content, Path):
        return _file_at(content, file_state(content))
    return File(sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def write_repository(
    root: Path | str,
    kind: Kind,
    repo_id: str,
    source: Path | Mapping[str, Path | bytes],
    *,
    builder: str = "tstbench",
    tags: Iterable[str] = (),
) -> str:
    """Give a repository exactly these files; one that has them already is left as it is.

    Its folder is replaced whole: a killed writer leaves the old one or the new one.

    Args:
        root: the hub folder; created if it does not exist.
        kind: dataset, model or space.
        repo_id: ``namespace/name``.
        source: a folder (hidden files, caches and empty ``__init__.py`` files are left out), or
            contents and files by path.
        builder: what made the files, for the manifest.
        tags: names that lead to this content besides ``main``.

    Returns:
        What stands for its commit id, 40 hex digits.

    Raises:
        LicensedTextError: a file quotes a licensed corpus.
        InputError: no files, no card, a name the Hub does not accept, a link, a dataset script
            (a dataset with ``<name>.py`` in it does not load), or a folder that is none of ours.
    """
    root = Path(root).expanduser().resolve()
    files = folder_files(source) if isinstance(source, Path) else dict(source)
    repository, tags = Repository(root, kind, repo_id), tuple(sorted(tags))
    _check_names(repository, files, tags)
    check_publishable(repo_id, files)
    wanted = {path: _described(content) for path, content in files.items()}
    manifest = Manifest(builder=builder, tags=tags, files=wanted)
    with lock(root, "hub", inside=True):
        if not repository._holds(manifest):
            with atomic_folder(repository.path, ours=_is_ours) as new:
                for path, content in files.items():
                    _copy(content, new / path)
                kept = {path: _described(new / path) for path in files}  # of what it is by now
                manifest = manifest.model_copy(update={"files": kept})
                write_bytes(new / MANIFEST, manifest.content())
    return repository.commit


def _is_built(folder: Path) -> bool:
    return (folder / MANIFEST).is_file()


def _is_ours(folder: Path) -> bool:
    """Whether a folder has nothing but what its manifest names: a clone of it has more."""
    try:
        named = {MANIFEST, *_read(folder / MANIFEST, file_state(folder / MANIFEST)).files}
    except (IntegrityError, OSError):
        return False
    files = (path for path in folder.rglob("*") if not path.is_dir())
    return all(path.relative_to(folder).as_posix() in named for path in files)


def _copy(content: Path | bytes, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        target.write_bytes(content)
    else:
        shutil.copyfile(content, target)


def folder_files(folder: Path) -> dict[str, Path | bytes]:
    """What is published of a folder, by path: no hidden files, caches or empty ``__init__.py``.

    Raises:
        MissingFileError: there is no such folder.
        InputError: a link, which would be published as something else.
    """
    if not folder.is_dir():
        raise MissingFileError(f"no such folder: {folder}")
    files: dict[str, Path | bytes] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in relative.parts)
        if hidden or path.suffix == ".pyc":
            continue
        if path.is_symlink():
            raise InputError(f"{path} is a link, and links are not published: copy the file itself")
        empty_package = path.name == "__init__.py" and not path.stat().st_size
        if path.is_file() and not empty_package:
            files[relative.as_posix()] = path
    return files


def _check_names(
    repository: Repository, files: Mapping[str, Path | bytes], tags: Iterable[str]
) -> None:
    kind, repo_id = repository.kind, repository.repo_id
    parts = repo_id.split("/")
    if len(parts) != 2 or not all(_NAME.fullmatch(part) for part in parts):
        raise InputError(
            f"{repo_id!r} is not a repository id: use namespace/name, with letters, digits, "
            "'.', '_' and '-' only"
        )
    if not files:
        raise InputError(f"{repo_id}: there are no files to publish")
    if "README.md" not in files:
        raise InputError(f"{repo_id}: README.md is missing: every {kind} needs a card")
    if kind == "dataset" and f"{parts[1]}.py" in files:
        raise InputError(
            f"{repo_id}: {parts[1]}.py must not be in the dataset repository, the `datasets` "
            "library refuses to load a repository with a script of its own name"
        )
    for path in files:
        try:
            _checked_path(path)
        except ValueError as error:
            raise InputError(f"{repo_id}: {error}") from None
    for tag in tags:
        if not _NAME.fullmatch(tag) or ".." in tag:
            raise InputError(f"{repo_id}: {tag!r} is not a valid tag name")


def find_repository(root: Path, kind: str, repo_id: str) -> Repository | None:
    """The repository of that kind and id; None if there is none (whatever the id contains)."""
    parts = repo_id.split("/")
    if kind not in KINDS or len(parts) != 2 or not all(_NAME.fullmatch(part) for part in parts):
        return None
    repository = Repository(root, kind, repo_id)
    restore(repository.path)
    return repository if _is_built(repository.path) else None


def list_repositories(root: Path) -> list[Repository]:
    """Every repository of a hub folder, by kind and id.

    Raises:
        MissingFileError: there is no such folder.
    """
    if not root.is_dir():
        raise MissingFileError(f"no hub folder at {root}: create one with `tstbench hub build`")
    found = []
    for kind in KINDS:
        for old in (root / f"{kind}s").glob("*/.*.tstbench-old"):  # its writer was killed
            restore(old.with_name(old.name[1:].removesuffix(".tstbench-old")))
        for path in sorted((root / f"{kind}s").glob("*/*")):
            repository = find_repository(root, kind, f"{path.parent.name}/{path.name}")
            if repository:
                found.append(repository)
    return found


def link_local_names(root: Path | str) -> Path:
    """Update ``<root>/local``; run there, ``load_dataset("tstbench/yelp")`` reads the folders.

    Raises:
        InputError: two repositories of different kinds share a name.
    """
    root = Path(root).expanduser().resolve()
    view = root / "local"
    with lock(root, "hub", inside=True):
        wanted: dict[str, Repository] = {}
        for repository in list_repositories(root):
            other = wanted.setdefault(repository.repo_id, repository)
            if other is not repository:
                raise InputError(
                    f"{repository.repo_id} is both a {other.kind} and a {repository.kind}: "
                    "one of them needs another name to be loadable from a folder"
                )
        for link in view.glob("*/*"):
            if link.is_symlink():
                link.unlink()
        for repo_id, repository in wanted.items():
            link = view / repo_id
            if link.exists():
                raise InputError(f"{link} is no link: delete {view}, and it is made again")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(repository.path, link.parent))
    return view
