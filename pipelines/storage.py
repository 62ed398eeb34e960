"""Files that travel between machines that share no disk: each an object, named by its content.

A storage is any folder that fsspec opens: ``s3://bucket/folder``, ``hf://buckets/...``,
``file:///mnt/...``. Objects are never changed, so nothing is locked: who writes the same content
writes the same object. A file is named by its place, ``home/...`` below ``$TSTBENCH_HOME`` or
``out/...`` below the results folder, wherever these are on a machine.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import InputError, IntegrityError
from ..files import home, write_bytes
from ..scratch import scratch_folder

Files = Mapping[str, str]  # place -> SHA-256


class Storage:
    """Objects in a folder of an fsspec file system.

    Args:
        url: of the folder.
        out: the results folder on this machine.

    Raises:
        InputError: no such kind of storage, its library is missing, or it refuses to write.
    """

    def __init__(self, url: str, out: Path) -> None:
        from fsspec.core import url_to_fs

        self.url = url
        self._roots = {"home": home().absolute(), "out": out.absolute()}
        try:
            self._system, root = url_to_fs(url)
            self._objects = f"{root}/objects"
            self._write(b"TSTBench keeps the files of a suite here.\n")
        except Exception as error:  # each kind of storage has errors of its own
            raise InputError(f"--storage {url} does not take a file: {error}") from error

    def put(self, files: Iterable[Path]) -> dict[str, str]:
        """Store files of this machine; what is there already is not sent again."""
        return {self._place(file): self._write(file.read_bytes()) for file in files}

    def get(self, files: Files) -> None:
        """Write stored files to their places on this machine; a folder of a model at once.

        Raises:
            IntegrityError: an object's content is not what its name says.
            InputError: a place outside ``$TSTBENCH_HOME`` and the results folder.
        """
        models: dict[Path, dict[str, str]] = {}
        last = {}
        for place, digest in files.items():
            path = self._path(place)
            if "objects" in path.parts and place.startswith("home/"):
                model = Path(*path.parts[: path.parts.index("objects") + 2])
                models.setdefault(model, {})[path.relative_to(model).as_posix()] = digest
            elif not path.is_file() or _digest(path.read_bytes()) != digest:
                last[path] = digest
        for folder, content in models.items():
            if not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                with scratch_folder(folder) as scratch:
                    for name, digest in content.items():
                        (scratch / "model" / name).parent.mkdir(parents=True, exist_ok=True)
                        (scratch / "model" / name).write_bytes(self._read(digest))
                    if not folder.exists():
                        shutil.move(scratch / "model", folder)
        # What names other files comes after them: a card, a report, an index.
        for path in sorted(last, key=lambda one: (one.suffix == ".json", one)):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, self._read(last[path]))

    def _place(self, file: Path) -> str:
        file = file.absolute()
        for name, root in self._roots.items():
            if file.is_relative_to(root):
                return f"{name}/{file.relative_to(root).as_posix()}"
        raise InputError(f"{file} is neither in TSTBENCH_HOME nor in the results folder")

    def _path(self, place: str) -> Path:
        root, *parts = PurePosixPath(place).parts
        if root not in self._roots or ".." in parts:
            raise InputError(f"{place!r} is no place of a suite's file")
        return self._roots[root].joinpath(*parts)

    def _write(self, content: bytes) -> str:
        digest = _digest(content)
        name = f"{self._objects}/{digest}"
        if not self._system.exists(name):
            self._system.makedirs(self._objects, exist_ok=True)
            with self._system.transaction, self._system.open(name, "wb") as stream:
                stream.write(content)
        return digest

    def _read(self, digest: str) -> bytes:
        content: Any = self._system.cat_file(f"{self._objects}/{digest}")
        if _digest(content) != digest:
            raise IntegrityError(
                f"{self.url} has another content under {digest[:16]}...: delete that object"
            )
        return bytes(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
