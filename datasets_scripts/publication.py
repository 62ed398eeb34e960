"""Which built folders may be published."""

from __future__ import annotations

import json
from pathlib import Path

from ..errors import InputError, MissingFileError
from ..files import read_text
from .corpus import Corpus

MARKER = "NOT_FOR_PUBLICATION.txt"
_REFUSES = "TSTBench refuses to upload a folder that contains this file.\n"
_LICENSED = (
    "These sentences are licensed to one user ({licence}). They must not be published or passed\n"
    f"on. {_REFUSES}"
)
_NO_LICENCE = (
    "No licence is stated for these sentences, so they may not be shared and are for you\n"
    f"only. {_REFUSES}"
)


def marker_text(corpus: Corpus) -> str | None:
    """The text of the marker file in a folder that must not be published; None if it may be."""
    if corpus.facts.publishable:
        return None
    return _LICENSED.format(licence=corpus.agreement) if corpus.facts.licensed else _NO_LICENCE


def require_publishable(folder: Path | str) -> None:
    """Refuse a built folder that contains a licensed corpus, or one without a stated licence.

    Raises:
        MissingFileError: not a built dataset: ``fingerprint.json`` is missing.
        InputError: the folder is marked as not for publication, by file or by fingerprint.
    """
    folder = Path(folder)
    path = folder / "fingerprint.json"
    if not path.exists():
        raise MissingFileError(f"{folder} is not a built dataset: fingerprint.json is missing")
    if (folder / MARKER).exists() or json.loads(read_text(path)).get("publishable") is not True:
        raise InputError(
            f"{folder} contains a licensed corpus or one with no licence, and must not be published"
        )
