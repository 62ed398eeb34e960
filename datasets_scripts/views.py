"""The published views of a dataset: which splits each has, their rows and their files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import MissingFileError
from .corpus import Corpus, Part, Place, Side
from .directions import DatasetFacts, Direction

DEFAULT_VIEW = "default"
STYLES_VIEW = "styles"

_ROWS_VERSION = 1  # raised when the same files and cleaning give different rows


@dataclass(frozen=True)
class Split:
    """One split of one view."""

    name: str  # ``test``, or in the default view ``test_negative_to_positive``
    part: str
    direction: Direction | None  # None: labelled sentences of every style

    @property
    def file(self) -> str:
        """Its path in a built folder; the default view uses the directions' files."""
        return f"{self.direction.config if self.direction else STYLES_VIEW}/{self.part}.parquet"


def row_ids(side: Side, direction: Direction, part: str) -> tuple[str, ...]:
    """The owner's ids, or dataset, split, place and upstream line: ``yelp-test-0-00017``."""
    prefix = f"{direction.dataset}-{part}-{side.place}"
    return side.names or tuple(f"{prefix}-{line:05d}" for line in side.lines)


def split_rows(
    corpus: Corpus, split: Split, read: Callable[[Place], Side]
) -> Iterator[dict[str, Any]]:
    """The rows of a split of a view: what is built, and what a builder gives ``datasets``."""
    if direction := split.direction:
        side = read(corpus.place(direction, split.part))
        ids = row_ids(side, direction, split.part)
        for name, source, references in zip(ids, side.texts, side.references, strict=True):
            yield {
                "id": name,
                "source": source,
                "references": list(references),
                "source_style": direction.source_style,
                "target_style": direction.target_style,
            }
        return
    for style in range(len(corpus.facts.styles)):
        for text in read(Place(split.part, style)).texts:
            yield {"text": text, "style": style}


def views(corpus: Corpus, parts: Iterable[Part]) -> dict[str, tuple[Split, ...]]:
    """View name -> its splits, for the given raw splits.

    >>> from .catalog import CORPORA
    >>> mini = CORPORA["mini"]
    >>> list(views(mini, mini.parts))
    ['default', 'negative-to-positive', 'positive-to-negative', 'styles']
    """
    parts = list(parts)
    served = {
        d: [p.name for p in parts if p.serves(way)]
        for d, way in zip(corpus.facts.directions, corpus.ways(), strict=True)
    }
    labelled = tuple(Split(p.name, p.name, None) for p in parts if any(p.sentences))
    directions = tuple(
        Split(d.split(part), part, d) for d, names in served.items() for part in names
    )
    found = {DEFAULT_VIEW: directions if served else labelled}
    for d, names in served.items():
        found[d.config] = tuple(Split(part, part, d) for part in names)
    found[STYLES_VIEW] = labelled
    return found


def is_labelled(view: str, facts: DatasetFacts) -> bool:
    """Whether a view shows labelled sentences, not rows of a direction."""
    return view == STYLES_VIEW or (view == DEFAULT_VIEW and not facts.directions)


def available_parts(
    corpus: Corpus, data_dir: Path | str | None = None, *, allow_missing: bool = False
) -> tuple[tuple[Part, ...], dict[str, str]]:
    """The splits whose files all exist, and for each other split why it is missing.

    Raises:
        MissingFileError: a file of a split cannot be found, and ``allow_missing`` is false or it
            is the test split: without it, leaks could not be found.
    """
    found, missing = [], {}
    for part in corpus.parts:
        try:
            for file in part.files:
                file.require(data_dir)
        except MissingFileError:
            if not allow_missing or part.name == "test":
                raise
            # Not the error's message: it names folders of this machine, and cards are public.
            missing[part.name] = f"{file.name} was missing on the machine that built this"
        else:
            found.append(part)
    return tuple(found), missing


def rows_digest(
    corpus: Corpus, parts: Iterable[Part], cleaning: str, data_dir: Path | str | None = None
) -> str:
    """SHA-256 of everything that rows depend on: raw files, cleaning, decontamination, versions.

    A cache keyed by it never returns stale rows (``datasets`` itself does not look at raw files).
    """
    facts = {
        "dataset": corpus.name,
        "version": corpus.version,
        "rows": _ROWS_VERSION,
        "cleaning": cleaning,
        "parts": [
            [p.name, p.decontamination, [[f.name, f.digest(data_dir)] for f in p.files]]
            for p in parts
        ],
    }
    if corpus.origin:  # its data file may use the same files in another layout
        facts["layout"] = corpus.layout
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
