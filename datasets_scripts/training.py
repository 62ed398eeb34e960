"""What a system may learn a direction from: no test sentences, and no access to them.

Upstream's training files contain some of their test sentences. Whatever occurs in the test split of
the dataset, in any direction, as a sentence or as a human rewrite, is removed here and
counted: a system is trained on a :class:`TrainingData` and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import UnknownNameError
from .catalog import parse_dataset, parse_direction
from .cleaning import match_key, parse_cleaning
from .corpus import sentence_keys
from .directions import Direction
from .load import StyleData, StyleSplit, load_styles, load_test_set

Pair = tuple[str, str]


@dataclass(frozen=True)
class TrainingPart:
    """Sentences of the two styles, and the pairs in which one rewrites the other.

    Attributes:
        name: the dataset's split that they come from: ``train``, ``mined`` or ``validation``.
        source: sentences of the source style.
        target: sentences of the target style.
        pairs: (source, target), if there are any; a source with n rewrites is in n pairs.
        removed_sentences: sentences removed because the test split has them.
        removed_pairs: pairs removed because the test split has one of their sides.
    """

    name: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    pairs: tuple[Pair, ...] = ()
    removed_sentences: int = 0
    removed_pairs: int = 0


@dataclass(frozen=True)
class TrainingData:
    """The data to learn one direction from.

    Attributes:
        direction: the direction to learn.
        cleaning: how the sentences were cleaned.
        train: to learn from.
        validation: to choose settings with; ``None`` if there is only ``train``.
    """

    direction: Direction
    cleaning: str
    train: TrainingPart
    validation: TrainingPart | None = None

    @property
    def n_sentences(self) -> int:
        """The number of labelled sentences to learn from."""
        return len(self.train.source) + len(self.train.target)

    @property
    def n_removed(self) -> int:
        """The number of sentences and pairs removed because the test split has them."""
        parts = (self.train, self.validation)
        return sum(p.removed_sentences + p.removed_pairs for p in parts if p is not None)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all sentences and pairs, in order, as 64 hex digits."""
        digest = hashlib.sha256()
        for part in (self.train, self.validation):
            texts = None if part is None else [part.source, part.target, part.pairs]
            digest.update(json.dumps(texts).encode() + b"\n")
        return digest.hexdigest()


def load_training(
    direction: str | Direction,
    *,
    split: str | None = None,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
) -> TrainingData:
    """The training data of a direction, without any of its dataset's test sentences.

    A sentence is removed if it equals a test sentence or a test rewrite of the dataset, ignoring
    case and spaces; a pair is removed if one of its sides does.

    Args:
        direction: ``yelp/negative-to-positive``.
        split: ``train``; by default the one that the dataset's scorers learn from.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`; by default the language's.
        data_dir: the user's copy of a licensed corpus.

    Raises:
        UnknownNameError: no such direction or cleaning.
        MissingFileError: no file to learn from, or no test split, so nothing could be removed.
        IntegrityError: a file's content does not match the pinned one.
    """
    if isinstance(direction, str):
        direction = parse_direction(direction)
    styles = load_styles(direction.dataset, split=split, cleaning=cleaning, data_dir=data_dir)
    cleaning = styles.cleaning
    forbidden = keys_under_test(direction.dataset, cleaning, data_dir)
    training, validation = styles.training, styles.validation

    def part(split: StyleSplit) -> TrainingPart:
        pairs = _pairs(direction, split.name, cleaning, data_dir)
        kept = [p for p in pairs if forbidden.isdisjoint(map(match_key, p))]
        return TrainingPart(
            name=split.name,
            source=_of(styles, split, direction.source_style),
            target=_of(styles, split, direction.target_style),
            pairs=tuple(kept),
            removed_sentences=split.excluded,
            removed_pairs=len(pairs) - len(kept),
        )

    return TrainingData(
        direction, cleaning, part(training), None if validation is None else part(validation)
    )


def _of(styles: StyleData, split: StyleSplit, style: str) -> tuple[str, ...]:
    return split.of(styles.styles.index(style))


def keys_under_test(
    dataset: str, cleaning: str | None = None, data_dir: Path | str | None = None
) -> frozenset[str]:
    """The ``match_key`` of every sentence and rewrite in the dataset's test split, if any."""
    corpus = parse_dataset(dataset)
    if not corpus.facts.directions:  # labels alone: nothing is transferred, and so nothing tested
        return frozenset()
    clean = parse_cleaning(cleaning or corpus.cleaning)
    return sentence_keys(corpus, ["test"], clean, data_dir, references=True)


def _pairs(
    direction: Direction, part: str, cleaning: str, data_dir: Path | str | None
) -> list[Pair]:
    """The pairs of one split; none if nobody rewrote its sentences."""
    try:
        rows = load_test_set(direction, part, cleaning=cleaning, data_dir=data_dir)
    except UnknownNameError:  # a split for scorers only
        return []
    return [
        (source, rewrite)
        for source, some in zip(rows.sources, rows.references, strict=True)
        for rewrite in some
    ]
