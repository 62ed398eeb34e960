"""Find the meaning scorer: the one that comes with the package, or a folder. Nothing is loaded."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ...datasets_scripts.directions import Direction
from ...errors import InputError, MissingScorerError, require_installed
from .artefacts import CARD_FILE, open_artefact
from .device import Placement
from .roles import Found

SHIPPED = "v1"
_SHIPPED_FOLDER = Path(__file__).parent / "meaning_v1"


def meaning(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """The scorer with that name or in that folder.

    Raises:
        MissingScorerError: neither a name we know nor a scorer's folder.
        InputError: the folder is of a scorer for another role.
        IntegrityError: its files do not match its card.
    """
    folder = _SHIPPED_FOLDER if spec == SHIPPED else Path(spec).expanduser()
    if not (folder / CARD_FILE).is_file():
        raise MissingScorerError(
            f"the meaning scorer {spec!r} is neither {SHIPPED} nor the folder of one"
        )
    artefact = open_artefact(folder)
    if artefact.card.role != "meaning":
        raise InputError(f"{folder} holds a scorer for {artefact.card.role}, not for meaning")
    for module in ("torch", "transformers"):
        require_installed(module, "embedded")
    name = f"{artefact.card.kind}:{artefact.card.name}"
    load = partial(_opened, artefact.folder, placement, artefact.hash)
    return Found(name, artefact.hash, load, on_device=True)


@lru_cache(maxsize=4)
def _opened(folder: Path, placement: Placement, _digest: str) -> Any:
    from .meaning import MeaningModel

    return MeaningModel.load(folder, placement)
