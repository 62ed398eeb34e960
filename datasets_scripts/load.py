"""Test sets and labelled sentences, straight from the raw files, for the other packages.

No ``datasets`` cache is involved, so nothing stale can be returned, and a test set loads in
milliseconds. The builders and the published folders have the same rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from ..errors import InputError, MissingFileError, unknown_name
from .cleaning import match_key, parse_cleaning
from .corpora import parse_dataset
from .corpus import read_side, sentence_keys
from .directions import Direction
from .fingerprint import fingerprint, style_fingerprint
from .known import parse_direction
from .rows import direction_rows, style_rows

# Where scorers learn a style: the first of these that exists.
TRAINING_ORDER = ("train", "mined", "validation")


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
    """The labelled sentences of a dataset, for training and for testing."""

    dataset: str
    styles: tuple[str, ...]
    cleaning: str
    splits: dict[str, StyleSplit]  # train, mined, validation, test: those whose files exist
    missing: dict[str, str]  # split -> why it is missing

    @property
    def training(self) -> StyleSplit:
        """The first that exists of train, mined and validation; its ``name`` says which.

        Raises:
            MissingFileError: none of them exists.
        """
        for name in TRAINING_ORDER:
            if name in self.splits:
                return self.splits[name]
        why = " ".join(self.missing.values()) or f"its data file has none for {self.styles}"
        raise MissingFileError(f"{self.dataset} has no sentences to train on: {why}")


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
    rows = list(direction_rows(side, direction, part))
    sources = tuple(row["source"] for row in rows)
    references = tuple(tuple(row["references"]) for row in rows)
    return TestSet(
        direction=direction,
        part=part,
        ids=tuple(row["id"] for row in rows),
        sources=sources,
        references=references,
        fingerprint=fingerprint(sources, references),
        cleaning=clean.name,
    )


def load_styles(
    dataset: str,
    *,
    cleaning: str | None = None,
    data_dir: Path | str | None = None,
    exclude_test: bool = True,
    exclude: Iterable[str] = (),
) -> StyleData:
    """The labelled sentences of a dataset, for classifiers and language models.

    Args:
        dataset: ``yelp``.
        cleaning: a name of :data:`~.cleaning.CLEANINGS`; by default that of its language.
        data_dir: the user's copy of a licensed corpus.
        exclude_test: leave out of every other split what occurs in the test split, as a sentence or
            as a rewrite, ignoring case and spacing. Only the published view keeps them.
        exclude: other sentences that a scorer must not have seen, such as another study's inputs.

    Raises:
        MissingFileError: the test split is missing, so nothing could be excluded.
        IntegrityError, InputError, UnknownNameError: see :func:`load_test_set`.
    """
    corpus = parse_dataset(dataset)
    clean = parse_cleaning(cleaning or corpus.cleaning)
    styles = range(len(corpus.facts.styles))
    forbidden = set(map(match_key, exclude))
    if exclude_test and any(part.name == "test" for part in corpus.parts):
        forbidden |= sentence_keys(corpus, ["test"], clean, data_dir, references=True)
    splits, missing = {}, {}
    for part in corpus.parts:
        if not any(part.sentences):
            continue
        try:
            sides = [read_side(corpus, part.name, style, clean, data_dir) for style in styles]
        except MissingFileError as error:
            missing[part.name] = str(error)
            continue
        pairs = [(row["text"], row["style"]) for row in style_rows(sides)]
        if part.name == "test" or not forbidden:
            kept = pairs
        else:
            kept = [pair for pair in pairs if match_key(pair[0]) not in forbidden]
        if not kept:
            raise InputError(f"{dataset}, {part.name}: no sentence is left")
        texts, labels = zip(*kept, strict=True)
        splits[part.name] = StyleSplit(
            part.name, texts, labels, style_fingerprint(texts, labels), len(pairs) - len(kept)
        )
    return StyleData(corpus.name, corpus.facts.styles, clean.name, splits, missing)


def training_split(
    dataset: str, *, cleaning: str | None = None, data_dir: Path | str | None = None
) -> StyleSplit:
    """The sentences to learn ``dataset``'s styles from: ``load_styles(...).training``.

    Its ``name`` says which split it is: ``train``, or if that is missing ``mined``
    (Amazon), or ``validation``.
    """
    return load_styles(dataset, cleaning=cleaning, data_dir=data_dir).training
