"""Errors that a user can mend: each says what was wrong, where, and what to do.

The command line prints the message of a :class:`TSTBenchError` and exits with code 2; anything
else is our bug and keeps its traceback. Every class is also the built-in error a caller would
expect, so ``except ValueError`` works without importing this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType


class TSTBenchError(Exception):
    """Base class: the caller can mend this."""


class InputError(TSTBenchError, ValueError):
    """The data handed in is wrong: misaligned, empty, of the wrong kind."""


class UnknownNameError(TSTBenchError, LookupError):
    """No direction, metric, dataset, profile... of that name."""


class MissingFileError(TSTBenchError, FileNotFoundError):
    """A file that is needed is not there and cannot be fetched."""


class IntegrityError(TSTBenchError, ValueError):
    """A file is there, but its content is not what its checksum promises."""


class MissingScorerError(TSTBenchError, LookupError):
    """A scorer that a metric needs has not been trained or fetched yet."""


class MissingExtraError(TSTBenchError, ImportError):
    """An optional dependency is not installed."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that is not there, with near misses.

    >>> print(unknown_name("metric", "selfbleu", ["acc", "s_bleu"]))
    unknown metric 'selfbleu'. Did you mean 's_bleu'? Known: acc, s_bleu.
    """
    names = list(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownNameError(f"unknown {kind} {name!r}.{hint} Known: {', '.join(names)}.")


def require(module: str, extra: str) -> ModuleType:
    """Import an optional dependency, or say which extra brings it.

    >>> require("no_such_module", "llm")
    Traceback (most recent call last):
        ...
    tstbench.errors.MissingExtraError: no_such_module is not installed: pip install 'tstbench[llm]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise  # the package is there, something it needs is not: that is another story
        message = f"{module} is not installed: pip install 'tstbench[{extra}]'"
        raise MissingExtraError(message) from error
