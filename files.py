"""Reading and writing files so that nothing is ever half-written, by one process at a time.

A file or folder appears under its final name only when it is complete: a crash, a full disk or a
Ctrl-C leaves either the old content or the new, never a mixture. A killed process may leave a
hidden temporary folder or lock beside it, which ``tstbench cache prune`` removes from
``$TSTBENCH_HOME`` after a day.
"""

from __future__ import annotations

import atexit
import codecs
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from .console import say
from .errors import ELSEWHERE, InputError, MissingFileError, UnwritableError, naming

if os.path.expanduser("~") == "~":  # noqa: PTH111 - no HOME, no such user: nltk fails when imported
    os.environ["HOME"] = os.environ.get("TSTBENCH_HOME") or os.environ.get("XDG_CACHE_HOME") or "/"

TEMPORARY = ".tstbench-tmp-"  # how the names begin that a killed process may leave
_PATIENCE = 2.0  # seconds of silent waiting
_DEEPEST = 50  # levels of tables and lists in a TOML file; ours have five


def home() -> Path:
    """Where trained scorers, built datasets and downloads are kept: ``$TSTBENCH_HOME``."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tstbench"
    return Path(os.environ.get("TSTBENCH_HOME") or default).expanduser().resolve()


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write a whole file atomically, creating its folder; it is on the disk afterwards."""
    with atomic_file(path) as stream:
        stream.write(content)


@contextmanager
def atomic_file(path: Path | str) -> Iterator[BinaryIO]:
    """A file, open to be written, that takes the name ``path`` when the block succeeds.

    Its folder is created. Afterwards the file is on the disk, under its name.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), temporary_folder(path) as folder:
        new = folder / "new"
        with new.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        new.chmod(0o644 | _shared_by(path.parent))  # results are for sharing
        new.replace(path)
    sync(path.parent)


@contextmanager
def temporary_folder(beside: Path | None = None) -> Iterator[Path]:
    """An empty folder that only this user can read, and that is gone after the block.

    Args:
        beside: it is made next to this path, on the same disk, and may be given its name; by
            default, it is in the folder for temporary files.
    """
    beginning, parent = ("tstbench-", None) if beside is None else (TEMPORARY, beside.parent)
    try:
        held = TemporaryDirectory(prefix=beginning, dir=parent, ignore_cleanup_errors=True)
    except PermissionError as error:  # its own name would say nothing to a user
        raise UnwritableError(parent, error) from error
    try:
        yield Path(held.name)
    finally:
        try:
            held.cleanup()
        except KeyboardInterrupt:
            held.cleanup()
            raise


@cache
def process_folder() -> Path:
    """A temporary folder that lasts as long as this process."""
    folder, process = Path(mkdtemp(prefix="tstbench-")), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # and not when a fork of it ends
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if sys.platform == "win32" or path.is_symlink():
        return
    with suppress(OSError) if path.is_dir() else nullcontext():  # not every disk syncs a folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sync_tree(folder: Path) -> None:
    """Wait until all files and folders below a folder are on the disk."""
    for place, _, names in os.walk(folder):
        for name in (*names, ""):
            sync(Path(place, name))


def _shared_by(parent: Path) -> int:
    """The right to write that a folder gives to other users, for what is made in it.

    Colleagues who share a folder of results replace and remove what another one made.
    """
    mode = parent.stat().st_mode
    return 0 if mode & stat.S_ISVTX else mode & (stat.S_IWGRP | stat.S_IWOTH)


def write_text(path: Path | str, content: str) -> None:
    """Write a whole UTF-8 file atomically."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path | str, value: Any) -> None:
    """Write JSON atomically: keys in the given order, indented; NaN is refused (``ValueError``)."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def keep_json(path: Path, value: Any) -> None:
    """:func:`write_json` for what can be made again: a folder that takes nothing is no error."""
    with suppress(OSError):
        write_json(path, value)


def write_jsonl(path: Path | str, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON Lines atomically, one object per line; NaN is refused (``ValueError``)."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    write_text(path, "".join(lines))


@contextmanager
def atomic_folder(
    path: Path | str, *, ours: Callable[[Path], bool] | None = None
) -> Iterator[Path]:
    """A scratch folder that takes the name ``path`` when the block succeeds.

    Args:
        path: the final folder. One that we wrote is replaced whole; if the block raises, or the
            process is interrupted, it stays as it was.
        ours: whether a folder is one that we wrote and may replace; a user's folder is
            never touched. Without it, only an empty folder is replaced.

    Raises:
        InputError: ``path`` is a file, or a folder that we did not write.
    """
    path = Path(path)
    if path.is_symlink():
        path = path.resolve()  # to another disk, say: the folder is written, the link stays
    path.parent.mkdir(parents=True, exist_ok=True)
    with _moving(path):  # another writer's folder may be away for a moment
        check_replaceable(path, ours)
    with temporary_folder(path) as new:
        yield new
        own = stat.S_IMODE(new.stat().st_mode) & stat.S_ISGID
        new.chmod(0o755 | own | _shared_by(path.parent))
        sync_tree(new)
        with _moving(path) as old:
            check_replaceable(path, ours)
            if path.exists():
                path.replace(old)
            new.replace(path)
            sync(path.parent)


@contextmanager
def _moving(path: Path) -> Iterator[Path]:
    """Alone, move a folder to the name that this yields, and another one to its place.

    Before and after the block the folder is put back if nothing took its place: this writer, or
    one before, ended between its two moves.
    """
    old = _old(path)
    with lock(path.parent, "swap", inside=True):
        _put_back(old, path)
        try:
            yield old
        finally:
            _put_back(old, path)


def _put_back(old: Path, path: Path) -> None:
    if not os.path.lexists(path):
        if old.exists():
            old.replace(path)
        return
    shutil.rmtree(old, ignore_errors=True)
    if old.exists():  # folders in it are another user's: the next writer needs the name
        old.replace(path.with_name(f"{TEMPORARY}{secrets.token_hex(4)}"))


def restore(path: Path) -> None:
    """Put back a folder whose writer was killed between two moves, before it is read.

    Where nothing has to be put back nothing is written: readers may have no right to.
    """
    path = path.resolve()  # as when it was written
    if os.path.lexists(_old(path)) and not os.path.lexists(path):
        with _moving(path):
            pass


def _old(path: Path) -> Path:
    return path.with_name(f".{path.name}.tstbench-old")


def check_free(path: Path, ours: Callable[[Path], bool] | None) -> None:
    """:func:`check_replaceable` before anything is computed, while nobody else moves the folder.

    Raises:
        InputError: as there; or the folder around it takes no file.
    """
    with _moving(path):
        check_replaceable(path, ours)


def check_replaceable(path: Path, ours: Callable[[Path], bool] | None) -> None:
    """Check that a folder may be written as a whole; see :func:`atomic_folder`.

    Raises:
        InputError: ``path`` is a file, or a folder that we did not write.
    """
    if path.is_file():
        raise InputError(f"{path} is a file, but a folder must be written there")
    if not path.is_dir() or all(_stays(one.name) for one in path.iterdir()):
        return
    if ours is None or not ours(path):
        raise InputError(
            f"{path} contains files that TSTBench did not write: it is left unchanged. Write "
            "to another folder, or move this one away"
        )


def _stays(name: str) -> bool:
    """Whether a file is of a lock, or was left by a killed process."""
    return name.startswith(TEMPORARY) or (name.startswith(".") and name.endswith(".lock"))


def make_folder(path: Path) -> None:
    """Make a folder that is to be written to, if there is none.

    Raises:
        InputError: it cannot be made, or not be written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder {path} cannot be made: {error.strerror}. Choose one that you may write "
            f"to. {ELSEWHERE}"
        ) from error
    if not os.access(path, os.W_OK):
        raise InputError(f"you may not write to the folder {path}: choose another one. {ELSEWHERE}")


@contextmanager
def lock(
    path: Path, purpose: str = "change", *, inside: bool = False, wait: bool = True
) -> Iterator[bool]:
    """One process at a time, whoever its user is; who waits for two seconds is told.

    The system frees it when its holder ends, however that ends; its hidden file is left only where
    the holder was killed.

    Args:
        path: of what is protected; it need not exist.
        purpose: locks for different purposes do not wait for each other.
        inside: the file is in ``path``, a folder, and not beside it.
        wait: until it is free.

    Yields:
        Whether it is locked now.

    Raises:
        UnwritableError: the folder takes no file, when the block is entered.
    """
    path = path.resolve()
    folder, name = (path, "tstbench") if inside else (path.parent, path.name)
    # Other users lock it too, and the thread that ends a block need not be the one that began it.
    held = FileLock(folder / f".{name}.{purpose}.lock", mode=0o666, thread_local=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held.acquire(timeout=_PATIENCE if wait else 0)
    except Timeout:
        if wait:
            say(f"another tstbench is at work on {path}: waiting for it. Ctrl-C stops waiting")
            held.acquire()
    except OSError as error:
        raise UnwritableError(folder, error) from error
    try:
        yield held.is_locked
    finally:
        if held.is_locked:
            with suppress(OSError):  # Windows; a folder of somebody else
                Path(held.lock_file).unlink()  # who opened it to wait sees that, and opens anew
        held.release()


def lock_if_writable(path: Path) -> AbstractContextManager[object]:
    """:func:`lock`, or no lock where this user can write nothing and so undo nothing."""
    there = path.parent.is_dir() and not os.access(path.parent, os.W_OK)
    return nullcontext() if there else lock(path)


def read_text(path: Path | str) -> str:
    """Read a UTF-8 text file, refusing anything else.

    Raises:
        MissingFileError: the file does not exist.
        InputError: it is a folder or a device, binary, or not UTF-8 (the message names the line).
    """
    path = Path(path)
    check_file(path)
    # Nothing is read of a size of 0: /proc/kmsg says that it is a file, and waits for ever.
    return decoded(path.read_bytes() if path.stat().st_size else b"", path)


def decoded(content: bytes, path: Path) -> str:
    """The text of a UTF-8 file's content.

    Raises:
        InputError: it is binary, or not UTF-8 (the message names the line).
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(
            f"{path} is UTF-16, not UTF-8: save it as UTF-8, or convert it with "
            f"iconv -f UTF-16 -t UTF-8 {path} > NEW"
        )
    if b"\0" in content:
        raise InputError(f"{path} is a binary file (it contains NUL bytes), not UTF-8 text")
    try:
        text = content.decode("utf-8-sig")  # Windows editors put a byte-order mark in front
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8. Convert the "
            f"file first, for instance: iconv -f WINDOWS-1252 -t UTF-8 {path.name} > fixed.txt"
        ) from error
    return text


def check_inside(path: Path, root: Path) -> None:
    """Check that a path below a folder does not lead out of it by a link.

    What the Hub's client downloads are links to its ``blobs``, beside the ``snapshots``: those are
    no way out.

    Args:
        path: of a file or folder, whether it exists or not.
        root: a folder that is above it by name, and may be a link itself.

    Raises:
        InputError: the path, or a folder on the way to it, is a link to somewhere else.
    """
    way = [path, *path.parents]
    if not any(step.is_symlink() for step in way[: len(path.relative_to(root).parts)]):
        return
    target, top = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    inside = [top]
    if top.parent.name == "snapshots":
        inside.append(top.parent.parent / "blobs")
    if not any(target.is_relative_to(one) for one in inside):
        raise InputError(
            f"{path} is a link that leads out of {root}, which is neither shown nor published: "
            "put a copy in its place"
        )


def check_file(path: Path) -> None:
    """Check that a path is a file that ends: a pipe or ``/dev/zero`` can be read for ever.

    Raises:
        MissingFileError: there is nothing.
        InputError: it is a folder, a device, a pipe or a socket, or no path at all.
    """
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} has a NUL character, which no file name may: remove it")
    if path.is_dir():
        raise InputError(f"{path} is a folder, but a file is needed")
    if not path.exists():
        raise MissingFileError(f"no such file: {path}")
    if not path.is_file():
        raise InputError(
            f"{path} is a pipe or a device, not a file: write what it gives into a file first"
        )


def parse_toml(content: str, path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Args:
        content: what is in it.
        path: where it is, for the messages.

    Raises:
        InputError: it is not TOML, or nested deeper than any file of ours.
    """
    try:
        found = tomllib.loads(content)
        deep = is_deeper(found, _DEEPEST)
    except ValueError as error:  # also an integer of more digits than Python reads
        raise InputError(f"{path}: not TOML: {error}") from error
    except RecursionError:
        deep = True
    if deep:
        raise InputError(f"{path}: tables or lists are more than {_DEEPEST} levels deep")
    return found


def is_deeper(value: Any, most: int) -> bool:
    """Whether dictionaries and lists are nested in more levels than these."""
    level = [value]
    for _ in range(most + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
    return True


def read_lines(path: Path | str) -> list[str]:
    r"""The lines of a text file, with or without a final newline, ``\r\n`` or ``\n``.

    Only ``\n`` ends a line; other Unicode line separators stay inside a sentence, as every
    line-aligned corpus expects.

    Raises:
        MissingFileError, InputError: see :func:`read_text`; also if lines end in ``\r`` alone.
    """
    text = read_text(path)
    if "\r" in text.rstrip("\r") and "\n" not in text:
        raise InputError(
            f"{path}: its lines end in \\r alone, as on old Macs, so that all of it is one line. "
            f"Convert it first, for instance: tr '\\r' '\\n' < {Path(path).name} > fixed.txt"
        )
    return split_lines(text)


def split_lines(text: str) -> list[str]:
    """The lines of a text; see :func:`read_lines`."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


_LONGEST = 200  # bytes of a file name: most file systems take 255, and we add endings


def file_name(text: str) -> str:
    """A name as that of a file or folder: it never leaves its parent.

    Letters, their marks and digits of any script are kept, and ``.+-``; the rest is ``_``. Names in
    the two forms of Unicode are one name, as some file systems have it.

    >>> file_name("GPT-4 (few shot)"), file_name("../../etc"), file_name("日本語"), file_name("!?")
    ('GPT-4_few_shot', 'etc', '日本語', '')
    """
    text = unicodedata.normalize("NFC", text)
    kept = "".join(sign if in_names(sign) else "_" for sign in text)
    name = re.sub("_+", "_", kept).strip("._")
    if len(name.encode()) <= _LONGEST:
        return name
    short = name.encode()[: _LONGEST - 9].decode(errors="ignore")  # no half of a letter
    return f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def in_names(sign: str) -> bool:
    """Whether a character stays in :func:`file_name`."""
    if sign.isascii():
        return sign.isalnum() or sign in ".+-"
    # Marks are vowels in Hindi and Thai; selectors of a variant are marks that nobody sees.
    seen = not ("\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef")
    return unicodedata.category(sign)[0] in "LMN" and seen


def file_state(path: Path) -> str:
    """What changes whenever a file does, told without reading it; ``absent`` if there is none.

    Besides size and time of writing it has the inode and the time of its last change, which a copy
    that keeps the first two does not share.
    """
    try:
        facts = path.stat()
    except OSError:
        return f"{path} absent"
    numbers = (facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
    return " ".join(map(str, (path, *numbers)))


def git_blob_id(content: bytes) -> str:
    r"""The id that git gives this content: SHA-1 of ``blob <size>\0`` and the bytes.

    >>> git_blob_id(b"hello\n")  # as `git hash-object` prints
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def folder_digest(folder: Path, *, skip: Iterable[str] = ()) -> str:
    """SHA-256 of the names and contents of all files below a folder, as 64 hex digits."""
    digest = hashlib.sha256()
    left_out = set(skip)
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = file.relative_to(folder).as_posix()
        if name in left_out:
            continue
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
