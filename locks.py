"""One process at a time, whoever runs it: locks that end with their holder and leave nothing.

A lock is a file beside what it protects, locked by the operating system. Its holder removes it at
the end; after a kill it is free, and the next one takes and removes it. It is found by everybody
who can write to that folder, so two users of one results folder take turns.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from filelock import BaseFileLock, FileLock, Timeout

from .errors import UnwritableError
from .scratch import give_back, has_name, hidden_name, surely, take
from .talk import say

PATIENCE = 2.0  # seconds of silent waiting
_AT_ONCE = 0.1  # seconds: whoever looks for what dead processes left holds a lock for a moment
_PAUSES = (0.001, 0.1)  # seconds between two attempts: the first, and the longest


class Exclusive:
    """A lock on a path, for a ``with`` block; of threads that share it, each waits for its turn."""

    def __init__(self, path: Path, purpose: str = "change", *, inside: bool = False) -> None:
        """Nothing is locked yet.

        Args:
            path: of what is protected; it need not exist.
            purpose: in lower-case letters; locks for different purposes do not wait for each other.
            inside: the lock is in ``path``, a folder, and not beside it: its users need not be able
                to write beside it.
        """
        self.path = path.resolve()
        if inside:
            self.file = self.path / f".tstbench-lock-{purpose}"
        else:
            self.file = self.path.with_name(f"{hidden_name(self.path.name)}lock-{purpose}")
        self._held = _Held()

    def acquire(self, *, wait: bool = True) -> bool:
        """Lock; its folder is made. After two seconds of waiting the user is told.

        Args:
            wait: until it is free.

        Returns:
            Whether it is locked now.

        Raises:
            UnwritableError: the folder takes no file.
        """
        began, pause, told = time.monotonic(), _PAUSES[0], False
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            while not (locked := self._attempt()):
                waited = time.monotonic() - began
                if not wait and waited > _AT_ONCE:
                    return False
                if not told and waited > PATIENCE:
                    say(
                        f"another tstbench is at work on {self.path}: waiting until it is done. "
                        "Ctrl-C stops waiting"
                    )
                    told = True
                time.sleep(pause)
                pause = min(2 * pause, _PAUSES[1])
        except OSError as error:
            raise UnwritableError(self.file.parent, error) from error
        return locked

    def release(self) -> None:
        """Unlock, and remove the file; nothing happens if it is not locked."""
        if (held := self._held.pop()) is None:
            return
        if not isinstance(held, int):
            held.release()
            return
        try:
            surely(lambda: self._remove(held))
        finally:
            with suppress(OSError):
                give_back(held)
            os.close(held)

    def __enter__(self) -> Exclusive:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _attempt(self) -> bool:
        handle = _open(self.file)
        if handle is None:
            return False
        try:
            with suppress(OSError, AttributeError):
                os.fchmod(handle, 0o666)  # whatever the umask: other users lock it, too
            free = take(handle)
            if free and has_name(handle, self.file):  # its last holder removes it
                self._held.append(handle)
                return True
        except BaseException:  # Ctrl-C
            self._give_up(handle)
            raise
        os.close(handle)
        return self._without_flock() if free is None else False

    def _remove(self, handle: int) -> None:
        with suppress(OSError):  # somebody else's file in a folder like /tmp stays, and is free
            if has_name(handle, self.file):  # by now it may be the file of the next one
                self.file.unlink()

    def _give_up(self, handle: int) -> None:
        """Close what was opened to be locked; the file goes with it unless another one has it."""
        self._held.forget(handle)
        if take(handle):
            self._remove(handle)
        os.close(handle)

    def _without_flock(self) -> bool:
        """On Windows, and where a disk has no such locks, as well as filelock can."""
        with suppress(OSError):
            self.file.unlink()  # it locks nothing here
        # A name of its own: where filelock has no locks either, that the file is there is the lock.
        lock = FileLock(f"{self.file}-file", mode=0o666)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        self._held.append(lock)
        return True


class _Held(threading.local):
    """What this thread has locked: an open file, or a lock of filelock."""

    def __init__(self) -> None:
        self._locks: list[int | BaseFileLock] = []

    def append(self, lock: int | BaseFileLock) -> None:
        self._locks.append(lock)

    def forget(self, lock: int) -> None:
        if lock in self._locks:
            self._locks.remove(lock)

    def pop(self) -> int | BaseFileLock | None:
        return self._locks.pop() if self._locks else None


def _open(file: Path) -> int | None:
    """The lock file, made if there is none; ``None`` if it went away in this moment.

    It is opened before it is made: in a folder like /tmp, Linux lets nobody "make" a file that
    another user has made already. Reading is enough to lock it.
    """
    no_link = getattr(os, "O_NOFOLLOW", 0)
    for access in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(file, access | no_link)
        except FileNotFoundError:
            break
        except OSError as error:
            if access == os.O_RDONLY or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | no_link, 0o666)
    except FileExistsError:
        return None
