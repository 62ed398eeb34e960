"""The trained systems that are published, and their repository names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...metrics.scorers.portable import base_datasets
from ...trainers.system_card import SYSTEM_STORE, SystemCard, repository_name
from .build import may_be_published


def trained_systems() -> dict[str, Path]:
    """The folders of the systems in the store, by the name of their repository.

    ``delete-retrieve-mini-negative-to-positive``... Those trained on data that must not be
    published are left out: see :func:`.build.may_be_published`.

    Raises:
        IntegrityError: a system was changed after it was trained.
    """
    return {
        name: one.folder
        for one in SYSTEM_STORE.models()
        if may_be_published(name := repository_name(one.card), _learned_from(one.card))
    }


def systems_in(folders: Iterable[Path]) -> dict[str, Path]:
    """Folders that ``tstbench train ... --out`` wrote, by the name of their repository.

    Nothing is left out: the guard refuses those that must not be published.

    Raises:
        MissingSystemError, IntegrityError: a folder has no system, or was changed.
    """
    found = (SYSTEM_STORE.open(folder) for folder in folders)
    return {repository_name(one.card): one.folder for one in found}


def _learned_from(card: SystemCard) -> list[str]:
    taught = [direction.split("/")[0] for direction in card.directions]
    return [*taught, *base_datasets(card.settings)]
