"""JSON that others wrote: read with limits, so that one bad file is an error with a name.

Results, predictions and judgments are exchanged between people. Their files are data: a file that
is no file, too large, nested without end, or ambiguous is refused before anything is made of it.
Each refusal is an :class:`~.errors.InputError` that names the file, and for JSON Lines the line.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from .errors import InputError, MissingFileError
from .files import decoded, split_lines

MAX_BYTES = 1 << 26  # of one JSON document: 64 MiB
MAX_LINES_BYTES = 1 << 31  # of one file of JSON Lines: 2 GiB, a million sentences with references
MAX_LINE = 1 << 24  # characters of one line
MAX_DEPTH = 32  # ours need 5
# Not waiting for a pipe that nobody writes to; on Windows, without changing line ends.
_HOW = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def parse_json(text: str, where: str, *, max_depth: int = MAX_DEPTH) -> Any:
    """Parse one JSON value, as strictly as the standard (RFC 8259) allows.

    Args:
        text: the JSON.
        where: the file, or the file and the line, as an error names it.
        max_depth: of lists and objects in one another.

    Raises:
        InputError: it is not JSON, has ``NaN`` or an infinite number, a key twice in one object,
            half of a surrogate pair, or is nested more deeply.

    >>> parse_json('{"a": [1, 2.5, null]}', "a.json")
    {'a': [1, 2.5, None]}
    >>> parse_json('{"a": 1, "a": 2}', "a.json")
    Traceback (most recent call last):
        ...
    tstbench.errors.InputError: a.json: not JSON that can be used: the key 'a' is there twice
    """
    try:
        # Counted before it is parsed: how deep the parser itself can go depends on the thread.
        if text.count("[") + text.count("{") > max_depth and _is_deeper(text, max_depth):
            raise ValueError(f"it is nested more than {max_depth} levels deep")
        value = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: half of a surrogate pair is not valid Unicode") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON that can be used: {error}") from error
    return value


def read_json(path: Path | str, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a file with one JSON value; see :func:`parse_json`.

    Raises:
        MissingFileError: there is no such file.
        InputError: it cannot be read, is too large, or is not such JSON.
    """
    return parse_json(read_small_text(path, max_bytes=max_bytes), str(path))


def read_json_lines(
    path: Path | str, *, max_bytes: int = MAX_LINES_BYTES
) -> Iterator[tuple[str, Any]]:
    """The values of a JSON Lines file, each with ``<file>, line <n>`` for an error about it.

    Raises:
        MissingFileError: there is no such file.
        InputError: it cannot be read or is too large, or a line is not such JSON.
    """
    for number, line in enumerate(split_lines(read_small_text(path, max_bytes=max_bytes)), 1):
        where = f"{path}, line {number}"
        if len(line) > MAX_LINE:
            raise InputError(f"{where}: {len(line)} characters; the limit is {MAX_LINE}")
        yield where, parse_json(line, where)


def read_small_text(path: Path | str, *, max_bytes: int = MAX_BYTES) -> str:
    """Read a UTF-8 text file that others wrote.

    Raises:
        MissingFileError: there is no such file.
        InputError: see :func:`read_small`, or it is not UTF-8.
    """
    return decoded(read_small(path, max_bytes=max_bytes), Path(path))


def read_small(path: Path | str, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a file that others wrote, if it is a file and not too large.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is a folder, a device or a pipe (which might never end), a link in a circle,
            too large, or may not be read.
    """
    path = Path(path)
    try:
        handle = os.open(path, _HOW)
        with os.fdopen(handle, "rb") as stream:
            facts = os.fstat(stream.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InputError(f"{path} is not a file, but a folder, a device or a pipe")
            content = stream.read(max_bytes + 1) if facts.st_size <= max_bytes else b""
            size = max(facts.st_size, len(content))
    except FileNotFoundError as error:
        raise MissingFileError(f"no such file: {path}") from error
    except OSError as error:
        why = "its links lead in a circle" if error.errno == errno.ELOOP else error.strerror
        raise InputError(f"{path} cannot be read: {why}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r} is not the name of a file: {error}") from error
    if size > max_bytes:
        raise InputError(
            f"{path} is too large: {size / 2**20:.0f} MiB, the limit is {max_bytes / 2**20:.0f} MiB"
        )
    return content


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{\]}]', re.DOTALL)


def _is_deeper(text: str, most: int) -> bool:
    """Whether brackets are nested more deeply; those in strings do not count."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        bracket = found.group()
        if bracket in "[{":
            depth += 1
            if depth > most:
                return True
        elif bracket in "]}":
            depth -= 1
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are distinct: readers disagree which of two values counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:60]!r} is there twice")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"the number {digits[:20]} is too large")
    return value


def _no_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is not a number in JSON")


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_object
)
