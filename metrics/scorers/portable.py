"""Settings that name a local file or folder, as a card has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from ...datasets_scripts.catalog import DATASETS
from ...files import folder_digest
from ...untrusted import read_json
from .weights import file_digest

# The cards of what can be a base: a backbone, a merged adapter, a system, a scorer.
_CARDS = ("backbone.json", "merged.json", "system.json", "scorer.json")


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


def portable_folder(folder: Path, name: str) -> str:
    """``name@hash``, and after a bar the datasets that a model in this folder learned from."""
    learned = ",".join(_datasets_of(folder))
    return f"{name}@{folder_digest(folder)}{'|' * bool(learned)}{learned}"


def base_datasets(settings: Mapping[str, Any]) -> list[str]:
    """The datasets behind the local models that a card's settings name: their terms go with it.

    >>> base_datasets({"base": f"bart@{'0' * 64}|mini,yelp", "epochs": 2})
    ['mini', 'yelp']
    """
    texts = (value for value in settings.values() if isinstance(value, str) and "|" in value)
    parts = (part for text in texts for part in text.rpartition("|")[2].split(","))
    return sorted({part for part in parts if part in DATASETS})


def _portable(value: str) -> str:
    path = Path(value).expanduser()
    if path.is_dir():
        return portable_folder(path, path.resolve().name)
    if path.is_file():
        learned = ",".join(_datasets_of(path.parent) if path.suffix == ".gguf" else ())
        return f"{path.name}@{file_digest(path)}{'|' * bool(learned)}{learned}"
    return value


def _datasets_of(folder: Path) -> list[str]:
    """What a model learned from, and what its own base did, as the cards beside it say."""
    found: set[str] = set()
    for file in (place / name for place in (folder, folder.resolve().parent) for name in _CARDS):
        card = read_json(file) if file.is_file() else None
        if not isinstance(card, dict):
            continue
        for field in ("datasets", "directions", "dataset"):
            named = card.get(field)
            named = named if isinstance(named, list) else [named]
            found |= {str(one).split("/")[0] for one in named} & DATASETS.keys()
        settings = card.get("settings")
        found.update(base_datasets(settings if isinstance(settings, dict) else {}))
    return sorted(found)
