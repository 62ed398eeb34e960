"""Test sets, labelled sentences and training data, straight from the raw files, for other rooms.

No ``datasets`` cache is involved, so nothing stale can be returned, and a test set loads in
milliseconds. The builders and the published folders have the same rows.

Upstream's training files contain some of their test sentences. Whatever occurs in the test split of
the dataset, in any direction, as a sentence or as a human rewrite, is removed from what is learned
from and counted: a system is trained on a :class:`TrainingData` and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from ..errors import InputError, MissingFileError, UnknownNameError, unknown_name
from .catalog import parse_dataset, parse_direction
from .cleaning import match_key, parse_cleaning
from .corpus import read_side, sentence_keys
from .directions import Direction
from .fingerprint import fingerprint, style_fingerprint

Pair = tuple[str, str]


@dataclass(frozen=True)
class TestSet:
    """The sentences of one split of one direction, in upstream order."""

    __test__: ClassVar[bool] = False  # not a pytest class, whatever its name

    direction: Direction
    part: str
    ids: tuple[str, ...]  # ``yelp-test-0-00017``: dataset, split, style suffix, upstream line
    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]  # 0 to n rewrites of each source
    fingerprint: str  # see fingerprint.py
    cleaning: str

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class StyleSplit:
    """The labelled sentences of one split."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[int, ...]  # indices into the dataset's styles
    fingerprint: str
    excluded: int  # sentences left out because they are test sentences

    def of(self, style: int) -> tuple[str, ...]:
        """The sentences of one style, in order."""
        return tuple(t for t, label in zip(self.texts, self.labels, strict=True) if label == style)

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class StyleData:
    """The labelled sentences of a dataset, for training and for testing.

    Attributes:
        dataset: its name.
        styles: what labels mean.
        cleaning: how the sentences were cleaned.
        splits: every split with sentences, read when it is first asked for.
        learn_from: the name of the split to learn from.
    """

    dataset: str
    styles: tuple[str, ...]
    cleaning: str
    splits: Mapping[str, StyleSplit]
    learn_from: str

    @property
    def training(self) -> StyleSplit:
        """The split to learn from.

        Raises:
            MissingFileError: there is none, or one of its files cannot be found: no other split
                takes its place.
        """
        if self.learn_from not in self.splits:
            raise MissingFileError(
                f"{self.dataset} has no sentences to train on: it has no split {self.learn_from}"
            )
        try:
            return self.splits[self.learn_from]
        except MissingFileError as error:
            raise MissingFileError(
                f"the split {self.learn_from} of {self.dataset} cannot be read (to learn from "
                f"another: --split NAME, or a scorer KIND@NAME): {error}"
            ) from error

    @property
    def validation(self) -> StyleSplit | None:
        """The validation split; ``None`` if it is learned from, or if there is none."""
        if self.learn_from == "validation" or "validation" not in self.splits:
            return None
        return self.splits["validation"]


@dataclass(frozen=True)
class _Splits(Mapping[str, StyleSplit]):
    """Splits by name; :meth:`read` is called once for each."""

    names: tuple[str, ...]
    read: Callable[[str], StyleSplit]

    def __getitem__(self, name: str) -> StyleSplit:
        if name not in self.names:
            raise KeyError(name)
        return self.read(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names  # without reading it

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


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


def load_test_set(
    direction: str | Direction,
    part: str = "test",
    *,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
) -> TestSet:
    """The sources and human rewrites of a direction.

    Args:
        direction: ``yelp/negative-to-positive``.
        part: ``test``, ``validation`` or ``train``.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`; by default that of its language.
        data_dir: the user's copy of a licensed corpus; see :class:`~.sources.UserFile`.

    Raises:
        UnknownNameError: no such direction, split or cleaning.
        MissingFileError: a file cannot be found.
        IntegrityError: a file's content does not match the pinned one.
        InputError: files that must be line-aligned are not.
    """
    if isinstance(direction, str):
        direction = parse_direction(direction)
    corpus = parse_dataset(direction.dataset)
    source, target = way = corpus.way(direction)
    known = [p.name for p in corpus.parts if p.serves(way)]
    if part not in known:
        raise unknown_name(f"split of {direction}", part, known)
    clean = parse_cleaning(cleaning or corpus.cleaning)
    side = read_side(corpus, part, source, clean, data_dir, target=target)
    return TestSet(
        direction=direction,
        part=part,
        ids=side.ids(direction, part),
        sources=side.texts,
        references=side.references,
        fingerprint=fingerprint(side.texts, side.references),
        cleaning=clean.name,
    )


def split_to_learn(dataset: str, split: str | None = None) -> str:
    """The split to learn a dataset's styles from: the one that its facts name, or another.

    Raises:
        UnknownNameError: no such dataset, or no such split with sentences.
    """
    corpus = parse_dataset(dataset)
    names = [part.name for part in corpus.parts if any(part.sentences) and part.name != "test"]
    split = split or corpus.facts.learn_from
    if split not in names:
        raise unknown_name(f"training split of {dataset}", split, names)
    return split


def load_styles(
    dataset: str,
    *,
    split: str | None = None,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
    exclude_test: bool = True,
    exclude: Iterable[str] = (),
) -> StyleData:
    """The labelled sentences of a dataset, for classifiers and language models.

    A split is read when it is first used, so that what is not used need not be there.

    Args:
        dataset: ``yelp``.
        split: the split to learn from, ``train``; by default the one that the dataset's facts name.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`; by default that of its language.
        data_dir: the user's copy of a licensed corpus.
        exclude_test: leave out of every other split what occurs in the test split, as a sentence or
            as a rewrite, ignoring case and spacing. Only the published view keeps them.
        exclude: other sentences that a scorer must not have seen, such as another study's inputs.

    Raises:
        MissingFileError: the test split is missing, so nothing could be excluded; or, when it is
            used, another one.
        IntegrityError, InputError, UnknownNameError: see :func:`load_test_set`.
    """
    corpus = parse_dataset(dataset)
    clean = parse_cleaning(cleaning or corpus.cleaning)
    styles = range(len(corpus.facts.styles))
    forbidden = set(map(match_key, exclude))
    if exclude_test and any(part.name == "test" for part in corpus.parts):
        forbidden |= sentence_keys(corpus, ["test"], clean, data_dir, references=True)

    @cache
    def read(name: str) -> StyleSplit:
        sides = [read_side(corpus, name, style, clean, data_dir) for style in styles]
        pairs = [(text, style) for style, side in enumerate(sides) for text in side.texts]
        kept = pairs
        if name != "test" and forbidden:
            kept = [pair for pair in pairs if match_key(pair[0]) not in forbidden]
        if not kept:
            raise InputError(f"{dataset}, {name}: no sentence is left")
        texts, labels = zip(*kept, strict=True)
        fingerprint = style_fingerprint(texts, labels)
        return StyleSplit(name, texts, labels, fingerprint, len(pairs) - len(kept))

    names = tuple(part.name for part in corpus.parts if any(part.sentences))
    learn_from = split_to_learn(dataset, split) if split else corpus.facts.learn_from
    return StyleData(corpus.name, corpus.facts.styles, clean.name, _Splits(names, read), learn_from)


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
            source=split.of(styles.styles.index(direction.source_style)),
            target=split.of(styles.styles.index(direction.target_style)),
            pairs=tuple(kept),
            removed_sentences=split.excluded,
            removed_pairs=len(pairs) - len(kept),
        )

    return TrainingData(
        direction, cleaning, part(training), None if validation is None else part(validation)
    )


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
