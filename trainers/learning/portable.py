"""Settings that name a local file or folder, as a card has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from ...files import folder_digest
from ...metrics.scorers.weights import file_digest


def portable(settings: Mapping[str, JsonValue], names: Sequence[str]) -> dict[str, JsonValue]:
    """The settings with the name and the hash of a local file or folder instead of its path.

    Two folders with the same content are then one recipe, and no card has a path that means nothing
    elsewhere. What is not there is left as it is: a Hub id, or a mistake that is found later.

    Args:
        settings: by name.
        names: those that may be paths.
    """
    return {
        name: _portable(value) if name in names and isinstance(value, str) and value else value
        for name, value in settings.items()
    }


def _portable(value: str) -> str:
    path = Path(value).expanduser()
    if path.is_dir():
        return f"{path.resolve().name}@{folder_digest(path)}"
    if path.is_file():
        return f"{path.name}@{file_digest(path)}"
    return value
