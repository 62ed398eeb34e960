"""Errors that a user can fix: each says what was wrong, where, and what to do.

The command line prints the message of a :class:`TSTBenchError` and exits with code 2; anything
else is our bug and keeps its traceback. Every class is also the built-in error a caller would
expect, so ``except ValueError`` works without importing this module.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a full disk, or a limit of it


class TSTBenchError(Exception):
    """Base class: something the caller can fix."""


class InputError(TSTBenchError, ValueError):
    """The given data is wrong: misaligned, empty, of the wrong kind."""


class TooLittleError(InputError):
    """There is too little to learn from: what needs it is left out, the rest goes on."""


ELSEWHERE = "Scorers and downloads are kept in TSTBENCH_HOME"


class UnwritableError(InputError, PermissionError):
    """A folder takes no file: it is somebody else's, read-only or full."""

    def __init__(self, folder: object, error: OSError) -> None:
        """Keep what the system said as ``strerror``."""
        super().__init__(
            f"{folder} cannot be written to: {error.strerror}. Choose a folder that you may write "
            f"to, or ask its owner. {ELSEWHERE}"
        )
        self.strerror = error.strerror


@contextmanager
def naming(path: object) -> Iterator[None]:
    """Errors of writing to an open file get its name: a full disk does not say what it refused.

    Raises:
        OSError: as the system raised it, with ``filename``.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in (*NO_ROOM, errno.EIO):
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise


class UnknownNameError(TSTBenchError, LookupError):
    """There is no direction, metric, dataset, profile... with that name."""


class MissingFileError(TSTBenchError, FileNotFoundError):
    """A required file does not exist and cannot be downloaded."""


class IntegrityError(TSTBenchError, ValueError):
    """A file exists, but its content does not match its checksum."""


class MissingScorerError(TSTBenchError, LookupError):
    """A scorer that a metric needs has not been trained or downloaded yet."""


class MissingSystemError(TSTBenchError, LookupError):
    """There is no such system, neither in the folder nor on the Hub."""


class ServerError(TSTBenchError, ConnectionError):
    """A server cannot be reached, refuses, or answers what it should not."""


class IncompleteError(TSTBenchError, RuntimeError):
    """A part of a job could not be done; the rest is done and kept."""


class LimitError(TSTBenchError, RuntimeError):
    """A limit that the user set has been reached; what was done until then is kept."""


class MissingExtraError(TSTBenchError, ImportError):
    """An optional dependency is not installed."""


# What a machine lacks, not what a user wrote.
MISSING = (MissingFileError, MissingScorerError, MissingExtraError)

_SHOWN = 40  # names in a message: eleven styles make 110 directions


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for an unknown name, with near misses.

    >>> print(unknown_name("metric", "selfbleu", ["acc", "s_bleu"]))
    unknown metric 'selfbleu'. Did you mean 's_bleu'? Known: acc, s_bleu.
    """
    names = list(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    listed = ", ".join(names[:_SHOWN])
    return UnknownNameError(f"unknown {kind} {name!r}.{hint} Known: {listed}{more}.")


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or say which extra provides it.

    >>> require("no_such_module", "llm")
    Traceback (most recent call last):
        ...
    tstbench.errors.MissingExtraError: no_such_module is not installed: pip install 'tstbench[llm]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # the package is installed, but something it needs is not
        raise _not_installed(module, extra) from error


def require_installed(module: str, extra: str) -> None:
    """Like :func:`require`, without importing it: torch alone takes seconds."""
    if find_spec(module) is None:
        raise _not_installed(module, extra)


def _not_installed(module: str, extra: str) -> MissingExtraError:
    return MissingExtraError(f"{module} is not installed: pip install 'tstbench[{extra}]'")
