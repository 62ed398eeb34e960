"""Which built folders may leave the machine."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import InputError, MissingFileError
from ..files import read_text

MARKER = "NOT_FOR_PUBLICATION.txt"
MARKER_TEXT = (
    "These sentences are licensed to one user ({licence}). They must not be published or passed\n"
    "on. TSTBench refuses to upload a folder that holds this file.\n"
)


def require_publishable(folder: Path | str) -> None:
    """Refuse a built folder that holds a licensed corpus.

    Raises:
        MissingFileError: this is no built dataset: it has no ``fingerprint.json``.
        InputError: the folder is marked as not for publication, by file or by fingerprint.
    """
    folder = Path(folder)
    path = folder / "fingerprint.json"
    if not path.exists():
        raise MissingFileError(f"{folder} is no built dataset: it has no fingerprint.json")
    if (folder / MARKER).exists() or json.loads(read_text(path)).get("publishable") is not True:
        raise InputError(f"{folder} holds a licensed corpus and must not be published")
