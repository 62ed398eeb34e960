"""Test sets and labelled sentences, straight from the raw files, for the other packages.

No ``datasets`` cache is involved, so nothing stale can be returned, and a test set loads in
milliseconds. The builders and the published folders have the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from ..errors import InputError, MissingFileError, unknown_name
from .catalog import parse_dataset, parse_direction
from .cleaning import match_key, parse_cleaning
from .corpus import read_side, sentence_keys
from .directions import Direction
from .fingerprint import fingerprint, style_fingerprint
from .views import row_ids


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
        others = [name for name in self.splits if name not in ("test", self.learn_from)]
        if self.learn_from not in self.splits:
            raise MissingFileError(
                f"{self.dataset} has no sentences to train on: it has no split {self.learn_from}"
            )
        try:
            return self.splits[self.learn_from]
        except MissingFileError as error:
            message = f"{str(error).rstrip('.')}. It is part of the split {self.learn_from}"
            for other in others[:1]:
                message += f". To learn from another: --split {other}, or a scorer KIND@{other}"
            raise MissingFileError(message) from error

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
        ids=row_ids(side, direction, part),
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
