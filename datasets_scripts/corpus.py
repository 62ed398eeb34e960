"""How a dataset's raw files are laid out, and how they are read: line by line and aligned.

A :class:`Corpus` is data: which files contain the sentences of each style, and which their human
rewrites. There is one corpus per dataset, in ``<dataset>/<dataset>.py``;
:data:`CORPORA <.catalog.CORPORA>` lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..errors import InputError, unknown_name
from .cleaning import RAW, Cleaning, match_key
from .directions import DatasetFacts, Direction
from .languages import language
from .sources import SourceFile, benchmark_file
from .text_checks import Suspicion

Files = tuple[SourceFile, ...]
Way = tuple[int, int]  # a direction: indices of source and target style
PARTS = {"train": "train", "validation": "dev", "test": "test"}  # our name -> upstream's


class Place(NamedTuple):
    """A split and a style, or with a target, a direction that has sentences of its own."""

    part: str
    style: int
    target: int | None = None


@dataclass(frozen=True)
class Pairs:
    """The sentences of one direction, if they are not simply all those of its source style."""

    sources: Files  # several files are concatenated
    references: Files = ()  # each with the rewrites of every source, line by line
    ids: SourceFile | None = None  # the ids given by the data's owner


@dataclass(frozen=True)
class Part:
    """One split of a dataset, before it is divided into directions.

    Attributes:
        name: train, validation, test, or mined.
        sentences: of each style; several files are concatenated.
        references: rewrites of ``sentences`` by direction.
        pairs: the directions with sentences of their own.
        decontamination: a step of :data:`STEPS`, applied while reading.
        transfer: false for sentences that only train scorers, and appear only in the styles view.
    """

    name: str
    sentences: tuple[Files, ...]
    references: Mapping[Way, Files] = field(default_factory=lambda: MappingProxyType({}))
    pairs: Mapping[Way, Pairs] = field(default_factory=lambda: MappingProxyType({}))
    decontamination: str | None = None
    transfer: bool = True

    @property
    def texts(self) -> Files:
        """Every file with sentences, once, in a fixed order."""
        own = (pairs.sources for pairs in self.pairs.values())
        return _once((*self.sentences, *own))

    @property
    def rewrites(self) -> Files:
        """Every file with human rewrites, once."""
        own = (pairs.references for pairs in self.pairs.values())
        return _once((*self.references.values(), *own))

    @property
    def files(self) -> Files:
        """Every file of the split once, in a fixed order."""
        ids = tuple(pairs.ids for pairs in self.pairs.values() if pairs.ids)
        return _once((self.texts, self.rewrites, ids))

    def serves(self, way: Way) -> bool:
        """Whether there are sentences to transfer in this direction."""
        return self.transfer and (way in self.pairs or bool(self.sentences[way[0]]))

    def apart(self, way: Way) -> bool:
        """Whether a direction's rows (sentences or rewrites) differ from its source style's."""
        other_rewrites = any(one[0] == way[0] and one != way for one in self.references)
        return way in self.pairs or other_rewrites


def sides(file: Callable[[str], SourceFile], stem: str) -> tuple[Files, Files]:
    """The sentences of two styles in numbered files: ``train.0`` and ``train.1``."""
    return (file(f"{stem}.0"),), (file(f"{stem}.1"),)


def numbered_references(file: Callable[[str], SourceFile], count: int) -> dict[Way, Files]:
    """Rewrites in numbered files: ``reference2.1`` rewrites ``test.1``, for the third time."""
    return {
        way: tuple(file(f"reference{k}.{way[0]}") for k in range(count)) for way in ((0, 1), (1, 0))
    }


def parallel_parts(folder: str) -> tuple[Part, ...]:
    """The benchmark's ``{train,dev,test}.{0,1}``: line i of one rewrites line i of the other."""
    parts = []
    for part, stem in PARTS.items():
        first, second = sides(lambda name: benchmark_file(f"{folder}/{name}"), stem)
        parts.append(Part(part, (first, second), {(0, 1): second, (1, 0): first}))
    return tuple(parts)


def _once(groups: Iterable[Files]) -> Files:
    return tuple(dict.fromkeys(file for files in groups for file in files))


@dataclass(frozen=True, repr=False)
class Corpus:
    """A dataset's facts and files.

    Attributes:
        version: of how rows are made from the files; raised when rows change.
        card: Markdown with YAML front matter; None means the dataset's ``README.md``.
        origin: the data file that describes it; empty if code does.
        layout: digest of what that file says about the layout.
        doubts: what looked wrong when that file was loaded; see :mod:`.own_check`.
    """

    facts: DatasetFacts
    version: str
    parts: tuple[Part, ...]
    card: str | None = None
    origin: str = ""
    layout: str = ""
    doubts: tuple[Suspicion, ...] = ()

    @property
    def name(self) -> str:
        """``yelp``"""
        return self.facts.name

    @property
    def directions(self) -> tuple[Direction, ...]:
        """In the order of its facts."""
        return self.facts.directions

    def __repr__(self) -> str:
        return f"Corpus({self.name}: {', '.join(d.config for d in self.directions)})"

    @property
    def cleaning(self) -> str:
        """The cleaning of its language."""
        return language(self.facts.language).cleaning

    def part(self, name: str) -> Part:
        """The split with that name; raises :class:`UnknownNameError`."""
        for part in self.parts:
            if part.name == name:
                return part
        raise unknown_name(f"split of {self.name}", name, [part.name for part in self.parts])

    def way(self, direction: Direction) -> Way:
        """A direction as indices of styles."""
        styles = self.facts.styles
        return styles.index(direction.source_style), styles.index(direction.target_style)

    def place(self, direction: Direction, part: str) -> Place:
        """Where a direction's sentences in a split are: with its style's, or separate."""
        source, target = way = self.way(direction)
        return Place(part, source, target if self.part(part).apart(way) else None)

    def ways(self) -> tuple[Way, ...]:
        """The directions as indices of styles, in order."""
        return tuple(map(self.way, self.facts.directions))


@dataclass(frozen=True)
class Step:
    """A named decontamination step: which other splits' sentences must not occur."""

    minus: tuple[str, ...]
    unique: bool = False  # keep only the first of equal sentences


# Like a cleaning, a released step is never changed: a better one gets a new name.
STEPS: dict[str, Step] = {
    "yelp-dev-minus-test-v1": Step(minus=("test",)),
    "amazon-mined-v1": Step(minus=("validation", "test"), unique=True),
}


@dataclass(frozen=True)
class Side:
    """The cleaned sentences of one style in one split, or of one direction."""

    place: str  # what ids call it: "0", the style; "0-1", a direction's own sentences
    lines: tuple[int, ...]  # upstream line numbers from 0: they survive decontamination
    texts: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]  # an empty tuple if nobody rewrote the sentence
    removed: int  # sentences removed because other splits have them
    repeats: int  # further sentences removed because they repeat an earlier one
    names: tuple[str, ...] | None = None  # the owner's ids, if the data has any

    def ids(self, direction: Direction, part: str) -> tuple[str, ...]:
        """The owner's ids, or dataset, split, place and upstream line: ``yelp-test-0-00017``."""
        prefix = f"{direction.dataset}-{part}-{self.place}"
        return self.names or tuple(f"{prefix}-{line:05d}" for line in self.lines)


def read_side(
    corpus: Corpus,
    part: str,
    style: int,
    cleaning: Cleaning,
    data_dir: Path | str | None = None,
    *,
    target: int | None = None,
) -> Side:
    """Read the sentences of one style in one split: locate, align, decontaminate, clean.

    Args:
        corpus: the dataset.
        part: name of one of its splits.
        style: index of the sentences' style.
        cleaning: applied to sentences and rewrites.
        data_dir: the user's copy of a licensed corpus.
        target: index of the target style, for the sentences of that direction
            with its references. ``None``: all sentences of the style, with the references of every
            direction.

    Raises:
        MissingFileError: a file cannot be found; the message names it and its upstream.
        IntegrityError: a file's content does not match the pinned one.
        InputError: files that must be line-aligned are not, or one is not UTF-8 text.
    """
    layout = corpus.part(part)
    own = None if target is None else layout.pairs.get((style, target))
    pairs = own or Pairs(layout.sentences[style], _references(layout, style, target))
    try:
        texts, references, names = read_aligned(pairs, data_dir)
    except InputError as error:
        if not corpus.origin or str(error).startswith(corpus.origin):
            raise
        raise InputError(f"{corpus.origin}: {error}") from error
    step = STEPS[layout.decontamination] if layout.decontamination else Step(())
    kept, repeats = _kept(texts, sentence_keys(corpus, step.minus, RAW, data_dir), step.unique)
    return Side(
        place=f"{style}-{target}" if own else str(style),
        lines=tuple(kept),
        texts=tuple(cleaning(texts[i]) for i in kept),
        references=tuple(
            tuple(cleaning(text) for some in references for text in some[i]) for i in kept
        ),
        removed=len(texts) - len(kept) - repeats,
        repeats=repeats,
        names=tuple(names[i] for i in kept) if names else None,
    )


def read_place(
    corpus: Corpus, place: Place, cleaning: Cleaning, data_dir: Path | str | None = None
) -> Side:
    """:func:`read_side` for the sentences in a place."""
    return read_side(corpus, place.part, place.style, cleaning, data_dir, target=place.target)


def sentence_keys(
    corpus: Corpus,
    parts: Iterable[str],
    cleaning: Cleaning,
    data_dir: Path | str | None = None,
    *,
    references: bool = False,
) -> frozenset[str]:
    """The :func:`~.cleaning.match_key` of every sentence in some splits.

    Args:
        corpus: the dataset.
        parts: names of its splits.
        cleaning: how the sentences to compare were cleaned; truncation at 64 words matters.
        data_dir: the user's copy of a licensed corpus.
        references: include the human rewrites as well as the sentences.
    """
    keys: set[str] = set()
    for part in map(corpus.part, parts):
        for file in part.texts:
            keys.update(match_key(cleaning(line)) for line in file.lines(data_dir))
        for file in part.rewrites if references else ():
            for some in file.rewrites(data_dir):
                keys.update(match_key(cleaning(text)) for text in some)
    return frozenset(keys)


def _references(part: Part, style: int, target: int | None) -> Files:
    """Rewrites of the sentences of a style into one target style, or into all."""
    ways = [way for way in part.references if way[0] == style and target in (None, way[1])]
    return tuple(file for way in ways for file in part.references[way])


def read_aligned(
    pairs: Pairs, data_dir: Path | str | None = None
) -> tuple[list[str], list[list[tuple[str, ...]]], list[str] | None]:
    """Sentences, their rewrites per reference file, and ids; all of the same length.

    Raises:
        MissingFileError, IntegrityError, InputError: see :func:`read_side`.
    """
    name = " + ".join(file.name for file in pairs.sources)
    texts = [line for file in pairs.sources for line in file.lines(data_dir)]
    references = []
    for file in pairs.references:
        rewrites = file.rewrites(data_dir)
        if len(rewrites) != len(texts):
            raise InputError(
                f"{name} has {len(texts)} lines and {file.name} has {len(rewrites)}: line i of one "
                "must rewrite line i of the other. One of them is incomplete"
            )
        references.append(rewrites)
    return texts, references, pairs.ids.lines(data_dir) if pairs.ids else None


def _kept(texts: list[str], forbidden: frozenset[str], unique: bool) -> tuple[list[int], int]:
    """Indices of the sentences kept, and how many were dropped for repeating an earlier one."""
    if not forbidden and not unique:
        return list(range(len(texts))), 0
    seen: set[str] = set()
    kept, repeats = [], 0
    for i, text in enumerate(texts):
        key = match_key(text)
        if key in forbidden:
            continue
        if unique and key in seen:
            repeats += 1
            continue
        kept.append(i)
        seen.add(key)
    return kept, repeats
