"""JSON and YAML that others wrote: read with limits, so that one bad file is an error with a name.

Results, predictions and judgments are exchanged between people. Their files are data: a file that
is no file, too large, nested without end, or ambiguous is refused before anything is made of it.
Each refusal is an :class:`~.errors.InputError` that names the file, and for JSON Lines the line.
YAML is what the Hub's cards and results are written in: of it only what JSON could say is read.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from .errors import InputError, TSTBenchError
from .files import check_file, decoded, is_deeper, split_lines

MAX_BYTES = 1 << 26  # of one JSON document: 64 MiB
MAX_LINES_BYTES = 1 << 31  # of one file of JSON Lines: 2 GiB, a million sentences with references
MAX_LINE = 1 << 24  # characters of one line
MAX_DEPTH = 32  # ours need 5
MAX_YAML_BYTES = 1 << 18  # of one YAML document: 256 KiB; without libyaml that takes two seconds
_MAX_DIGITS = 400  # of a YAML number: parts to base 60 take a time that grows with their square


def parse_json(text: str, where: str) -> Any:
    """Parse one JSON value, as strictly as the standard (RFC 8259) allows.

    Args:
        text: the JSON.
        where: the file, or the file and the line, as an error names it.

    Raises:
        InputError: it is not JSON, has ``NaN`` or an infinite number, a key twice in one object,
            half of a surrogate pair, or is nested more deeply than :data:`MAX_DEPTH`.

    >>> parse_json('{"a": [1, 2.5, null]}', "a.json")
    {'a': [1, 2.5, None]}
    >>> parse_json('{"a": 1, "a": 2}', "a.json")
    Traceback (most recent call last):
        ...
    tstbench.errors.InputError: a.json: not JSON that can be used: the key 'a' is there twice
    """
    try:
        value = _DECODER.decode(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        deep = text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH)
    except UnicodeEncodeError as error:
        raise InputError(f"{where}: half of a surrogate pair is not valid Unicode") from error
    except ValueError as error:
        raise InputError(f"{where}: not JSON that can be used: {error}") from error
    except RecursionError:
        deep = True
    if deep:
        raise InputError(f"{where}: not JSON that can be used: nested more than {MAX_DEPTH} levels")
    return value


def read_json(path: Path | str, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a file with one JSON value; see :func:`parse_json`.

    Raises:
        MissingFileError: there is no such file.
        InputError: it cannot be read, is too large, or is not such JSON.
    """
    return parse_json(read_small_text(path, max_bytes=max_bytes), str(path))


def parse_yaml(content: bytes, where: str) -> Any:
    r"""Parse one YAML document of plain values: what JSON could say, and dates.

    Args:
        content: the YAML, as UTF-8 or with a byte-order mark.
        where: the file, as an error names it.

    Raises:
        InputError: it is not YAML, larger than :data:`MAX_YAML_BYTES`, nested too deeply, has a key
            twice in one mapping, half of a surrogate pair, or an alias: a few lines of aliases can
            stand for billions of values.

    >>> parse_yaml(b"a: [1, 2.5, null]", "a.yaml")
    {'a': [1, 2.5, None]}
    >>> parse_yaml(b"a: &x [1]\nb: *x", "a.yaml")
    Traceback (most recent call last):
        ...
    tstbench.errors.InputError: a.yaml, line 2: has an alias (*x): write its value out
    """
    import yaml

    if len(content) > MAX_YAML_BYTES:
        size = f"{len(content) / 2**10:.0f} KiB, the limit is {MAX_YAML_BYTES / 2**10:.0f} KiB"
        raise InputError(f"{where} is too large: {size}")
    loader = _yaml_loader()
    try:
        _check_events(yaml.parse(content, Loader=loader), where)
        return yaml.load(content, Loader=loader)  # noqa: S506 (a safe loader, made stricter)
    except InputError:
        raise
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        why = str(getattr(error, "problem", None) or error).split("\n")[0]
        raise InputError(f"{where} is not YAML{place}: {why}") from error
    except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
        # PyYAML's own errors for a value that is not what its tag says, such as !!timestamp x
        why = str(error).split("\n")[0]
        raise InputError(f"{where} is not YAML that can be used: {why}") from error


def read_json_lines(
    path: Path | str, name: str = "", *, hint: str = ""
) -> Iterator[tuple[int, Any]]:
    """The values of a JSON Lines file, each with its line; blank lines do not count.

    Args:
        path: of the file.
        name: what errors call it; by default its path.
        hint: what a line must be, for errors.

    Raises:
        MissingFileError: there is no such file.
        InputError: it cannot be read or is too large, or a line is not such JSON.
    """
    lines = split_lines(read_small_text(path, max_bytes=MAX_LINES_BYTES))
    for number, line in enumerate(lines, start=1):
        where = f"{name or path}, line {number}"
        if len(line) > MAX_LINE:
            raise InputError(f"{where}: {len(line)} characters; the limit is {MAX_LINE}")
        if line.strip():
            try:
                value = parse_json(line, where)
            except InputError as error:
                raise InputError(f"{error}. {hint}".rstrip(". ")) from error
            yield number, value


def read_small_text(path: Path | str, *, max_bytes: int = MAX_BYTES) -> str:
    """Read a UTF-8 text file that others wrote.

    Raises:
        MissingFileError: there is no such file.
        InputError: see :func:`read_small`, or it is not UTF-8.
    """
    return decoded(read_small(path, max_bytes=max_bytes), Path(path))


def read_small(path: Path | str, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file that others wrote; see :func:`open_small`."""
    with open_small(path, max_bytes=max_bytes) as stream:
        try:
            return stream.read()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error


def open_small(path: Path | str, *, max_bytes: int = MAX_BYTES) -> io.BufferedIOBase:
    """Open a file that others wrote, if it is a file and not too large.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is a folder, a device or a pipe (which might never end), too large, or may
            not be read.
    """
    path = Path(path)
    try:
        check_file(path)
        size = path.stat().st_size
        # Nothing is read of a size of 0: /proc/kmsg says that it is a file, and waits for ever.
        stream: io.BufferedIOBase = path.open("rb") if 0 < size <= max_bytes else io.BytesIO()
    except TSTBenchError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if size > max_bytes:
        raise InputError(
            f"{path} is too large: {size / 2**20:.0f} MiB, the limit is {max_bytes / 2**20:.0f} MiB"
        )
    return stream


def _check_events(events: Any, where: str) -> None:
    """Check what nothing was made of yet: aliases, depth, long numbers, Unicode."""
    import yaml

    depth = 0
    for event in events:
        line = f"{where}, line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"{line}: has an alias (*{event.anchor}): write its value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.ScalarEvent):
            text = event.value
            if len(text) > _MAX_DIGITS and event.style in (None, "") and text[0] in "+-.0123456789":
                raise InputError(f"{line}: a number of {len(text)} characters")
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InputError(f"{line}: half of a surrogate pair is not valid Unicode") from None
        if depth > MAX_DEPTH:
            raise InputError(f"{line}: is nested too deeply: more than {MAX_DEPTH} levels")


@cache
def _yaml_loader() -> Any:
    """PyYAML's safe loader, which takes no key twice; made when needed, since few commands do."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            found = super().construct_mapping(node, deep=deep)
            if len(found) < len(node.value):
                raise ValueError(f"line {node.start_mark.line + 1}: a key is there twice")
            return found

    return Loader


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
