"""Large files as the Hub stores them: a small pointer in git, the content beside it.

Format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. The git-lfs program is not
needed; if it is installed, it finds the content in ``.git/lfs/objects`` as usual.
"""

from __future__ import annotations

import hashlib
import io
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from ...errors import InputError
from ...files import atomic_file, file_state

SUFFIXES = (".arpa", ".arrow", ".bin", ".npy", ".npz", ".onnx", ".parquet", ".safetensors")
REGULAR_LIMIT = 10 * 2**20  # bytes; the Hub refuses larger files outside LFS
POINTER_LIMIT = 200  # bytes; a pointer is about 130

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)


@dataclass(frozen=True)
class Pointer:
    """What git stores in place of a large file."""

    sha256: str
    size: int  # bytes of the content

    def encode(self) -> bytes:
        """The pointer file.

        >>> Pointer("0" * 64, 12).encode().decode().splitlines()[2]
        'size 12'
        """
        return (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{self.sha256}\nsize {self.size}\n"
        ).encode()


def parse_pointer(content: bytes) -> Pointer | None:
    """The pointer in these bytes, or ``None`` if they are not one.

    >>> parse_pointer(Pointer("a" * 64, 5).encode()).size
    5
    >>> parse_pointer(b"some other file") is None
    True
    """
    match = _POINTER.fullmatch(content)
    return Pointer(match[1].decode(), int(match[2])) if match else None


def is_large(path: str, size: int) -> bool:
    """Whether a file with that name and size is stored in LFS."""
    return path.endswith(SUFFIXES) or size > REGULAR_LIMIT


def attributes(large: list[str]) -> bytes:
    """The ``.gitattributes`` that lists the files of git-lfs.

    >>> print(attributes(["model.safetensors", "vocabulary.txt"]).decode().splitlines()[-1])
    /vocabulary.txt filter=lfs diff=lfs merge=lfs -text
    """
    patterns = [f"*{suffix}" for suffix in SUFFIXES]
    patterns += [f"/{path}" for path in sorted(large) if not path.endswith(SUFFIXES)]
    return "".join(
        f"{pattern} filter=lfs diff=lfs merge=lfs -text\n" for pattern in patterns
    ).encode()


def object_path(git_dir: Path, sha256: str) -> Path:
    """The path of the content: ``.git/lfs/objects/ab/cd/abcd...``."""
    return git_dir / "lfs" / "objects" / sha256[:2] / sha256[2:4] / sha256


def store(git_dir: Path, source: Path | bytes) -> Pointer:
    """Store a file as an object, under its checksum, and return its pointer.

    An object that is there already is read again: its name alone says nothing about its content.

    Raises:
        InputError: the file changed while it was stored.
    """
    pointer = _pointer_to(source)
    target = object_path(git_dir, pointer.sha256)
    if target.is_file() and _pointer_to(target) == pointer:
        return pointer
    copy_atomically(source, target)
    if _pointer_to(target) != pointer:
        target.unlink()
        raise InputError(f"{source!s:.200} changed while it was stored: run the command again")
    return pointer


def is_whole(path: Path, pointer: Pointer) -> bool:
    """Whether a file has the content that a pointer names; read once for each of its states."""
    return path.is_file() and _known_pointer(path, file_state(path)) == pointer


@lru_cache(maxsize=4096)
def _known_pointer(path: Path, _state: str) -> Pointer:
    return _pointer_to(path)


def _pointer_to(source: Path | bytes) -> Pointer:
    digest, size = hashlib.sha256(), 0
    with open_source(source) as reader:
        while block := reader.read(2**20):
            digest.update(block)
            size += len(block)
    return Pointer(digest.hexdigest(), size)


def open_source(source: Path | bytes) -> BinaryIO:
    """A reader of a file's content, wherever it is."""
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def copy_atomically(source: Path | bytes, target: Path) -> None:
    """Copy content of any size to ``target``, atomically."""
    with open_source(source) as reader, atomic_file(target) as writer:
        shutil.copyfileobj(reader, writer, 2**20)
