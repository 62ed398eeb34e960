"""Files that travel between machines that share no disk: each an object, named by its content.

A storage is any folder that fsspec opens: ``s3://bucket/folder``, ``hf://buckets/...``,
``file:///mnt/...``. Objects are never changed, so nothing is locked: who writes the same content
writes the same object. A file is named by its place, ``home/...`` below ``$TSTBENCH_HOME`` or
``out/...`` below the results folder, wherever these are on a machine.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import InputError, IntegrityError
from ..files import home, temporary_folder, write_bytes

Files = Mapping[str, str]  # place -> SHA-256


class Storage:
    """Objects in a folder of an fsspec file system.

    Args:
        url: of the folder.
        out: the results folder on this machine.

    Raises:
        InputError: no such kind of storage, its library is missing, or a password is in the URL.
    """

    def __init__(self, url: str, out: Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        if re.search("://[^@]*:[^@]*@", url):
            raise InputError(
                "--storage: the URL has a password, which every machine and its logs would see. "
                "Leave it out, and give it as the storage's library reads it, from a file or the "
                "environment of each machine"
            )
        self.url = url
        roots = {"home": home().absolute(), "out": out.absolute()}
        # A worker's results folder is in its home: of two that hold a file, the inner one counts.
        self._roots = dict(sorted(roots.items(), key=lambda one: -len(one[1].parts)))
        with self._told("cannot be opened"):
            self._system, root = url_to_fs(url)
        self._is_local = isinstance(self._system, LocalFileSystem)
        if self._is_local:  # of the folder where the suite was started, on every machine
            self.url = f"file://{root}"
        self._objects = f"{root}/objects"

    def check(self) -> None:
        """Write one object.

        Raises:
            InputError: the storage does not take it.
        """
        with self._told("does not take a file"):
            self._system.makedirs(self._objects, exist_ok=True)
        self._write(b"TSTBench keeps the files of a suite here.\n")

    def put(self, files: Iterable[Path]) -> dict[str, str]:
        """Store files of this machine; what is there already is not sent again."""
        return {self._place(file): self._write(file.read_bytes()) for file in files}

    def get(self, files: Files) -> None:
        """Write stored files to their places on this machine; a folder of a model at once.

        Raises:
            IntegrityError: an object's content is not what its name says.
            InputError: an object cannot be read, or a place is outside ``$TSTBENCH_HOME`` and the
                results folder.
        """
        models: dict[Path, dict[str, str]] = {}
        last = {}
        for place, digest in files.items():
            path = self.path(place)
            if "objects" in path.parts and place.startswith("home/"):
                model = Path(*path.parts[: path.parts.index("objects") + 2])
                models.setdefault(model, {})[path.relative_to(model).as_posix()] = digest
            elif not path.is_file() or digest_of(path.read_bytes()) != digest:
                last[path] = digest
        for folder, content in models.items():
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                with temporary_folder(folder) as scratch:
                    for name, digest in content.items():
                        (scratch / "model" / name).parent.mkdir(parents=True, exist_ok=True)
                        (scratch / "model" / name).write_bytes(self._read(digest))
                    if not folder.exists():
                        shutil.move(scratch / "model", folder)
        # What names other files comes after them: a card, a report, an index.
        for path in sorted(last, key=lambda one: (one.suffix == ".json", one)):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, self._read(last[path]))

    def put_paths(self, value: Any) -> tuple[Any, dict[str, str]]:
        """A value whose paths are places, and their files, from wherever on this machine."""
        files: dict[str, str] = {}

        def put(path: Path) -> Path:
            digest = self._write(path.read_bytes())
            place = f"out/.data/{digest}/{path.name}"
            files[place] = digest
            return Path(place)

        return _moved(value, put), files

    def get_paths(self, value: Any, files: Files) -> Any:
        """What :meth:`put_paths` was given, with the paths that its files have on this machine."""
        self.get(files)
        return _moved(value, lambda place: self.path(place.as_posix()))

    def _place(self, file: Path) -> str:
        file = file.absolute()
        for name, root in self._roots.items():
            if file.is_relative_to(root):
                return f"{name}/{file.relative_to(root).as_posix()}"
        raise InputError(f"{file} is neither in TSTBENCH_HOME nor in the results folder")

    def path(self, place: str) -> Path:
        """Where a place is on this machine.

        Raises:
            InputError: it is outside ``$TSTBENCH_HOME`` and the results folder.
        """
        root, *parts = PurePosixPath(place).parts
        if root not in self._roots or ".." in parts:
            raise InputError(f"{place!r} is no place of a suite's file")
        return self._roots[root].joinpath(*parts)

    def _write(self, content: bytes) -> str:
        digest = digest_of(content)
        name = f"{self._objects}/{digest}"
        with self._told("does not take a file"):
            # Not every kind of storage writes a file whole or not at all.
            if self._size(name) == len(content):
                return digest
            if self._is_local:
                write_bytes(name, content)
            else:
                self._system.pipe_file(name, content)
        return digest

    def _size(self, name: str) -> int | None:
        try:
            return int(self._system.info(name)["size"])
        except FileNotFoundError:
            return None

    def _read(self, digest: str) -> bytes:
        with self._told("cannot be read"):
            content: Any = self._system.cat_file(f"{self._objects}/{digest}")
        if digest_of(content) != digest:
            raise IntegrityError(
                f"{self.url} has another content under {digest[:16]}...: delete that object"
            )
        return bytes(content)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Tell any error inside as one of the storage: each kind has errors of its own."""
        try:
            yield
        except Exception as error:
            raise InputError(f"--storage {self.url} {what}: {error}") from error


def paths_in(value: Any) -> list[Path]:
    """The paths in a value, however deep."""
    found = list[Path]()

    def note(path: Path) -> Path:
        found.append(path)
        return path

    _moved(value, note)
    return found


def _moved(value: Any, move: Callable[[Path], Path]) -> Any:
    """A value with other paths, however deep in dataclasses, mappings and tuples."""
    if isinstance(value, Path):
        return move(value)
    if isinstance(value, tuple):
        return tuple(_moved(one, move) for one in value)
    if isinstance(value, Mapping):
        return {key: _moved(one, move) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {one.name: _moved(getattr(value, one.name), move) for one in fields(value)}
        return replace(value, **changed)
    return value


def digest_of(content: bytes) -> str:
    """The SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()
