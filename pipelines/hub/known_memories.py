"""Models that keep sentences: retrieval and n-gram models quote the data they learned from.

They are published where that data may be. What a network learned is in its weights: it may be
published whatever it learned from, but for the licensed corpora (:mod:`.guard`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from ...errors import InputError
from .known_records import NAME_WORDS, PublishedFile, check_dataset, content_of, longest_text

CURVE_FILE = "curve.jsonl"  # numbers of a training's steps
# Their sentences may be lists of the numbers of words.
_MEMORIES = frozenset(
    {"lexicon.json", "memory.json", "sentences.json", "source.json", "target.json"}
)


def learned_from(files: Mapping[str, Path | bytes]) -> frozenset[str] | None:
    """The datasets that the card of a model of ours names; ``None`` if there is no such card.

    Systems that learned to follow instructions name none.
    """
    for name, field in (("system.json", "directions"), ("scorer.json", "dataset")):
        if name in files:
            try:
                said = json.loads(content_of(files[name]))[field]
            except (ValueError, KeyError, TypeError, RecursionError):
                return None
            names = [said] if isinstance(said, str) else said
            if not isinstance(names, list):
                return None
            return frozenset(str(one).split("/")[0] for one in names)
    return None


def check_memory(file: PublishedFile) -> None:
    """A file of a model: if it keeps sentences, their dataset must be one that is published.

    Raises:
        LicensedTextError: it is licensed.
        InputError: it has no licence, or nobody registered it; or the card names none; or the file
            is not JSON.
    """
    if _keeps_sentences(file):
        names = learned_from(file.files)
        if not names:
            raise InputError(
                f"{file.where} is not published: it may have sentences, and the card of the model "
                "names no dataset that they are of. Leave it out"
            )
        for name in sorted(names):
            check_dataset(name, file.where)


def _keeps_sentences(file: PublishedFile) -> bool:
    path = PurePosixPath(file.path)
    if path.suffix in {".arpa", ".jsonl", ".txt"} or path.name in _MEMORIES:
        return path.name != CURVE_FILE
    return longest_text(file) > NAME_WORDS
