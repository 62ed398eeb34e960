"""TOML files of a fixed format: errors in keys and types are reported with their line.

pydantic does the checks; lines are found by searching for the key in the text, because
``tomllib`` does not keep positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import InputError
from ..files import parse_toml, read_text


class StrictTable(BaseModel):
    """A table of the file: frozen, with no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


Model = TypeVar("Model", bound=BaseModel)


def read_toml(path: Path, model: type[Model]) -> Model:
    """Read a file as ``model``; types are strict, but arrays may become tuples.

    Raises:
        MissingFileError: no such file.
        InputError: not TOML, or not in this format; names the file, line, key and what to do.
    """
    text = read_text(path)
    raw = parse_toml(text, path)
    try:
        return model.model_validate(_tuples(raw))
    except ValidationError as error:
        found = error.errors(include_url=False)
        # A misspelt key is two errors, one unknown and one missing; the first says more.
        first = min(found, key=lambda one: one["type"] != "extra_forbidden")
        keys = [key for key in first["loc"] if isinstance(key, int) or not _is_tag(key)]
        raise InputError(f"{place(path, text, keys)}: {_message(first, keys, model)}") from error


def place(path: Path, text: str, keys: Sequence[str | int]) -> str:
    r"""``my.toml, line 7``: where the value of these keys is, or the table that lacks it.

    >>> place(Path("my.toml"), 'a = 1\n[[b]]\nc = 1\n[[b]]\nc = 2', ["b", 1, "c"])
    'my.toml, line 5'
    """
    lines = text.split("\n")
    found, start = None, 0
    for depth, key in enumerate(keys):
        if isinstance(key, int):
            headers = [i for i in range(start, len(lines)) if re.match(r"\s*\[\[", lines[i])]
            name = str(keys[depth - 1]) if depth else ""
            headers = [i for i in headers if _names(lines[i], name)]
            if key < len(headers):
                found = start = headers[key]
            continue
        after = (i for i in range(start, len(lines)) if _names(lines[i], key))
        there = next(after, None)
        if there is None:
            break
        found = start = there
    return str(path) if found is None else f"{path}, line {found + 1}"


def _names(line: str, key: str) -> bool:
    """Whether a line gives a key a value or opens its table."""
    code = line.split("#")[0]
    quoted = rf"[\"']?{re.escape(key)}[\"']?"
    assigned = rf"(?:^\s*|[{{,]\s*|\.){quoted}\s*[.=]"
    opened = rf"^\s*\[+\s*(?:[\w-]+\.)*{quoted}\s*[.\]]"
    return re.search(f"{assigned}|{opened}", code) is not None


def _is_tag(key: str) -> bool:
    """Whether pydantic added this to say which of several types it chose."""
    return key.startswith("as ")


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _message(error: Any, keys: Sequence[str | int], model: type[BaseModel]) -> str:
    """What is wrong, in words."""
    key = ".".join(part for part in keys if isinstance(part, str))
    kind = error["type"]
    if kind == "extra_forbidden":
        known = sorted({name for table in _tables(model) for name in _keys(table)} - {keys[-1]})
        near = get_close_matches(str(keys[-1]), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"unknown key {key!r}.{hint}"
    if kind == "missing":
        return f"{key!r} is missing"
    if kind == "union_tag_invalid":
        return f"{key}: a list is not allowed here: give a file, or a table of named values"
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message


def _keys(table: type[BaseModel]) -> Iterator[str]:
    for name, info in table.model_fields.items():
        yield info.alias or name


def _tables(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A model and every model that its fields may contain."""
    found: set[type[BaseModel]] = set()
    waiting: list[Any] = [model]
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one not in found:
                found.add(one)
                waiting += [info.annotation for info in one.model_fields.values()]
        else:
            waiting += getattr(one, "__args__", ())
    return found
