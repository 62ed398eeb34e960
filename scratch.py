"""Scratch files and folders that a killed process cannot leave for ever.

Who makes one holds a lock of the operating system on it (``flock``) for as long as it lives; the
kernel frees the lock when the process dies, however it dies. Whoever next writes into the same
folder takes away every scratch whose lock is free: nobody is at work on it.

The names are unmistakably ours: ``.<final name>.tstbench-<12 hex digits>`` beside what is written,
``tstbench-<12 hex digits>`` in the temporary folder. The first four digits stand for the machine:
a shared disk need not tell one machine of the other's locks, so what another one made is taken
away only after a day. On Windows, and on disks without such locks, nothing is taken away.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

_OURS = re.compile(r"(?:\..+\.)?tstbench-(?P<machine>[0-9a-f]{4})[0-9a-f]{8}", re.DOTALL)
# One that waits for it looks whether it still has its name, so a lock is taken away like a scratch.
_LOCK = re.compile(r"(?:\..+)?\.tstbench-lock-[a-z]+", re.DOTALL)
_LONGEST = 200  # bytes of a file's name that are repeated in that of its scratch
_DAY = 86_400  # seconds
_SHARE = 0.01  # of a writer's time is spent on looking for what others left

if sys.platform == "win32":

    def take(_handle: int) -> bool | None:
        """Locks of this kind do not exist."""
        return None

    def give_back(_handle: int) -> None:
        """Nothing was locked."""

else:
    import fcntl

    def take(handle: int) -> bool | None:
        """Lock an open file or folder without waiting; the lock ends when it is closed.

        Returns:
            Whether it was free; ``None`` if nothing can be locked on this disk.
        """
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return None
        return True

    def give_back(handle: int) -> None:
        """Unlock at once: a forked process that still has it open does not keep it locked."""
        fcntl.flock(handle, fcntl.LOCK_UN)


def has_name(handle: int, path: Path) -> bool:
    """Whether an open file or folder is still the one with this name."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def surely(clean: Callable[[], object]) -> None:
    """Clean up, and once more if Ctrl-C comes before it is done."""
    try:
        clean()
    except KeyboardInterrupt:
        clean()
        raise


def is_scratch(path: Path) -> bool:
    """Whether a file or folder has a name that only scratch and locks of ours have."""
    return bool(_OURS.fullmatch(path.name) or _LOCK.fullmatch(path.name))


def hidden_name(name: str) -> str:
    """The beginning of the names that we make beside a file: ``.<name>.tstbench-``."""
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}.tstbench-"


@contextmanager
def scratch_file(path: Path) -> Iterator[BinaryIO]:
    """An empty file beside ``path``, to be given its name; else it is gone after the block.

    Yields:
        The open file; its ``name`` is a path. Only this user can read it yet.
    """
    sweep(path.parent)
    stream = _new_file(path)
    try:
        yield stream
    finally:
        surely(lambda: Path(stream.name).unlink(missing_ok=True))
        with suppress(OSError):  # a full disk, which the writer has been told of
            stream.close()


def _new_file(path: Path) -> BinaryIO:
    while True:
        name = path.with_name(hidden_name(path.name) + _label())
        try:
            stream = cast("BinaryIO", open(name, "xb", opener=_private))  # noqa: SIM115
            if _kept(stream.fileno(), name):
                return stream
            stream.close()
        except FileExistsError:
            continue
        except BaseException:  # Ctrl-C
            with suppress(OSError):
                name.unlink()
            raise


def _kept(handle: int, path: Path) -> bool:
    """Lock what was just made; false if somebody swept, or is sweeping, it away before."""
    free = take(handle)
    return free is None or (free and has_name(handle, path))


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


class ScratchFolder:
    """An empty folder that only this user can read; see :func:`scratch_folder`.

    Attributes:
        path: where it is.
    """

    def __init__(self, parent: Path, beginning: str) -> None:
        sweep(parent)
        self._process = os.getpid()
        self._handle: int | None = None
        while not self._made(parent / f"{beginning}{_label()}"):
            pass

    def _made(self, path: Path) -> bool:
        self.path = path
        try:
            path.mkdir(mode=0o700)
            self._handle = _opened(path)
            if self._handle is None:
                return path.is_dir()  # it cannot be locked here, so nobody takes it away
            if _kept(self._handle, path):
                return True
        except FileExistsError:
            return False
        except BaseException:  # Ctrl-C
            with suppress(OSError):
                path.rmdir()
            self._close()
            raise
        self._close()
        return False

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def remove(self) -> None:
        """Remove it with all that is in it, unless it has another name by now."""
        if self._process != os.getpid():  # a fork's copy: it is still its maker's
            return
        try:
            surely(lambda: remove_tree(self.path))
        finally:
            self._close()


@contextmanager
def scratch_folder(beside: Path | None = None) -> Iterator[Path]:
    """An empty folder that is gone after the block, with all that is in it.

    Args:
        beside: it is made next to this path, on the same disk, and may be given its name; by
            default, it is in the folder for temporary files.
    """
    folder = _temporary() if beside is None else _beside(beside)
    try:
        yield folder.path
    finally:
        folder.remove()


def _temporary() -> ScratchFolder:
    return ScratchFolder(Path(tempfile.gettempdir()), "tstbench-")


def _beside(path: Path) -> ScratchFolder:
    return ScratchFolder(path.parent, hidden_name(path.name))


def process_folder() -> Path:
    """A temporary folder that lasts as long as this process."""
    return _of_process(os.getpid())


@cache
def _of_process(_number: int) -> Path:
    folder = _temporary()
    atexit.register(folder.remove)
    return folder.path


_swept: dict[Path, float] = {}  # folder: when it pays to look again, on the monotonic clock


def sweep(folder: Path) -> None:
    """Take away the scratch of dead processes in a folder, and locks that nobody holds.

    A folder of many files is not searched at every write: looking takes a hundredth of the time.
    """
    if sys.platform == "win32":
        return
    began = time.perf_counter()
    if began < _swept.get(folder, 0):
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if "tstbench-" in entry.name]:
            _take_away(folder / name)
    ended = time.perf_counter()
    if len(_swept) > 10_000:
        _swept.clear()
    _swept[folder] = ended + (ended - began) / _SHARE


def _take_away(path: Path) -> None:
    scratch = _OURS.fullmatch(path.name)
    if scratch is None and _LOCK.fullmatch(path.name) is None:
        return
    with suppress(OSError):
        facts = path.lstat()
        if not path.name.startswith(".") and facts.st_uid != os.getuid():
            return  # the temporary folder is everybody's
        elsewhere = scratch is not None and scratch["machine"] != _machine()
        if elsewhere and time.time() - facts.st_mtime < _DAY:
            return
        handle = _opened(path)
        if handle is None:
            return
        try:
            if take(handle) and has_name(handle, path):
                remove_tree(path)
        finally:
            os.close(handle)


def remove_tree(path: Path) -> None:
    """Remove a file or folder as far as it can be removed; a link, but not what it leads to."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _opened(path: Path) -> int | None:
    """A file or folder, open to be locked; ``None`` where that cannot be."""
    if sys.platform == "win32":
        return None
    for access in (os.O_RDWR, os.O_RDONLY):  # network disks lock only what may be written
        with suppress(OSError):
            return os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK)
    return None


def _label() -> str:
    return _machine() + secrets.token_hex(4)


@cache
def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:4]
