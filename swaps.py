"""A folder takes the place of another with no moment in between, and is on the disk before.

Linux and macOS can exchange two names at once. Elsewhere the old folder moves away and the new one
moves in: a process killed between the two leaves the old one as ``.<name>.tstbench-old``, and the
next writer puts it back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .scratch import hidden_name, remove_tree

_AT_FDCWD = -100  # both names are paths, Linux
_RENAME_EXCHANGE = 2  # <linux/fs.h>, renameat2(2)
_RENAME_SWAP = 2  # <sys/stdio.h> of macOS, renamex_np(2)
_CANNOT_SYNC = {errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.ENOSYS, errno.EACCES, errno.EISDIR}
_CANNOT_SWAP = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EXDEV, errno.EPERM}


def put_in_place(scratch: Path, path: Path) -> None:
    """Give a folder the name ``path``; what had that name has ``scratch`` now, or is gone.

    Args:
        scratch: a complete folder, in the same folder as ``path``.
        path: a folder, or nothing. Nobody else may swap it at the same time.
    """
    sync_tree(scratch)
    if not path.exists():
        scratch.replace(path)
    elif not _exchanged(scratch, path):
        old = _old(path)
        path.replace(old)
        try:
            scratch.replace(path)
        except BaseException:  # Ctrl-C between the two moves
            restore(path)
            raise
        restore(path)
    sync(path.parent)


def restore(path: Path) -> None:
    """Put back the folder of a writer that was killed between two moves, or remove what is left.

    Nobody else may swap the folder at the same time.
    """
    old = _old(path)
    if not os.path.lexists(old):
        return
    if os.path.lexists(path):
        remove_tree(old)
    else:
        old.replace(path)


def sync_tree(folder: Path) -> None:
    """Wait until all files and folders below a folder are on the disk."""
    for place, _, names in os.walk(folder):
        for name in names:
            sync(Path(place, name))
        sync(Path(place))


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk, where the system can tell."""
    if sys.platform == "win32" or path.is_symlink():
        return
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        if error.errno in _CANNOT_SYNC:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(handle)


def _old(path: Path) -> Path:
    return path.with_name(f"{hidden_name(path.name)}old")


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names; whether the system and the disk can."""
    exchange = _exchange()
    if exchange is None:
        return False
    if exchange(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_SWAP:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    """The system's call, which gives 0 if it succeeds; ``None`` if there is none."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            swap = library.renamex_np
            swap.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
            return lambda one, other: int(swap(one, other, _RENAME_SWAP))
        rename = library.renameat2
    except (OSError, AttributeError, TypeError):  # another system, or an old C library
        return None
    rename.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    return lambda one, other: int(rename(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE))
