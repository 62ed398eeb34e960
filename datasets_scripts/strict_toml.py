"""TOML files of a fixed format: pydantic checks keys and types, and an error names the key."""

from __future__ import annotations

from collections.abc import Sequence
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
        InputError: not TOML, or not in this format; names the file, the key and what to do.
    """
    raw = parse_toml(read_text(path), path)
    try:
        return model.model_validate(_tuples(raw))
    except ValidationError as error:
        found = error.errors(include_url=False)
        # A misspelt key is two errors, one unknown and one missing; the first says more.
        first = min(found, key=lambda one: one["type"] != "extra_forbidden")
        keys = [key for key in first["loc"] if isinstance(key, int) or not _is_tag(key)]
        raise InputError(f"{path}: {_message(first, keys, model)}") from error


def key_of(keys: Sequence[str | int]) -> str:
    """What a message calls a value, by its keys: tables of one name are counted from 1.

    >>> key_of(["direction", 1, "from"])
    'direction 2.from'
    """
    named = (f" {key + 1}" if isinstance(key, int) else f".{key}" for key in keys)
    return "".join(named).removeprefix(".")


def _is_tag(key: str) -> bool:
    """Whether pydantic added this to say which of several types it chose."""
    return key.startswith("as ")


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _message(error: Any, keys: Sequence[str | int], model: type[BaseModel]) -> str:
    """What is wrong, in words."""
    key = key_of(keys)
    kind = error["type"]
    if kind == "extra_forbidden":
        schema = model.model_json_schema()
        tables = (schema, *schema.get("$defs", {}).values())
        known = sorted({name for one in tables for name in one.get("properties", ())} - {keys[-1]})
        near = get_close_matches(str(keys[-1]), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"unknown key {key!r}.{hint}"
    if kind == "missing":
        return f"{key!r} is missing"
    if kind == "union_tag_invalid":
        return f"{key}: a list is not allowed here: give a file, or a table of named values"
    message = error["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else message
