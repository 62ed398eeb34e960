"""The trained systems that are published, and their repository names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...trainers.system_card import SYSTEM_STORE, SystemCard, repository_name
from .known_records import LICENSED


def trained_systems() -> dict[str, Path]:
    """The folders of the systems in the store, by the name of their repository.

    ``delete-retrieve-mini-negative-to-positive``... Those trained on licensed datasets are left
    out.

    Raises:
        IntegrityError: a system was changed after it was trained.
    """
    found = (one for one in SYSTEM_STORE.models() if not _is_licensed(one.card))
    return {repository_name(one.card): one.folder for one in found}


def systems_in(folders: Iterable[Path]) -> dict[str, Path]:
    """Folders that ``tstbench train ... --out`` wrote, by the name of their repository.

    Nothing is left out: the guard refuses those that must not be published.

    Raises:
        MissingSystemError, IntegrityError: a folder has no system, or was changed.
    """
    found = (SYSTEM_STORE.open(folder) for folder in folders)
    return {repository_name(one.card): one.folder for one in found}


def _is_licensed(card: SystemCard) -> bool:
    return any(direction.split("/")[0] in LICENSED for direction in card.directions)
