"""How a dataset's raw files are laid out, and how they are read: line by line, aligned, counted.

A :class:`Corpus` is data: which files hold the sentences of each style and which hold their human
rewrites. One corpus a dataset, in ``<dataset>/corpus.py``; :data:`CORPORA <.corpora.CORPORA>` has
them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, unknown_name
from ..files import read_lines
from .cleaning import RAW, Cleaning, match_key
from .directions import DatasetFacts
from .sources import SourceFile

Files = tuple[SourceFile, ...]


@dataclass(frozen=True)
class Part:
    """One part of a dataset, before it is split into directions."""

    name: str  # train, validation, test, or mined
    sentences: tuple[Files, Files]  # of style .0 and of style .1; several files follow each other
    references: tuple[Files, Files] = ((), ())  # rewrites of the .0 and of the .1 sentences
    decontamination: str | None = None  # a step of STEPS, taken while reading
    transfer: bool = True  # False: sentences for scorers only, in the styles view alone

    @property
    def files(self) -> Files:
        """Every file of the part once, in a fixed order."""
        every = (*self.sentences, *self.references)
        return tuple(dict.fromkeys(file for files in every for file in files))


@dataclass(frozen=True)
class Corpus:
    """A dataset's facts and files."""

    facts: DatasetFacts
    version: str  # of what we make of the files: raised when rows change
    parts: tuple[Part, ...]
    agreement: str | None = None  # the licence whose acceptance must be named before building

    @property
    def name(self) -> str:
        """``yelp``"""
        return self.facts.name

    def part(self, name: str) -> Part:
        """The part of that name; :class:`UnknownNameError` else."""
        for part in self.parts:
            if part.name == name:
                return part
        raise unknown_name(f"part of {self.name}", name, [part.name for part in self.parts])


@dataclass(frozen=True)
class Step:
    """A named decontamination: which other parts' sentences must not occur, and what else."""

    minus: tuple[str, ...]
    unique: bool = False  # keep only the first of equal sentences


# Like a cleaning, a step is never changed once released: a better one gets a new name.
STEPS: dict[str, Step] = {
    "yelp-dev-minus-test-v1": Step(minus=("test",)),
    "amazon-mined-v1": Step(minus=("validation", "test"), unique=True),
}


@dataclass(frozen=True)
class Side:
    """The sentences of one style in one part, cleaned."""

    lines: tuple[int, ...]  # upstream line numbers from 0: they survive decontamination
    texts: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]  # empty tuples where nobody rewrote the sentence
    removed: int  # sentences taken away because other parts have them
    repeats: int  # further sentences taken away because they repeat an earlier one


def read_side(
    corpus: Corpus, part: str, style: int, cleaning: Cleaning, data_dir: Path | str | None = None
) -> Side:
    """Read the sentences of one style in one part: locate, align, decontaminate, clean.

    Raises:
        MissingFileError: a file is nowhere (named, with its upstream).
        IntegrityError: a file has other content than pinned.
        InputError: files that must be line-aligned are not, or one is not UTF-8 text.
    """
    layout = corpus.part(part)
    texts, references = _read_aligned(layout, style, data_dir)
    step = STEPS[layout.decontamination] if layout.decontamination else Step(())
    kept, repeats = _kept(texts, sentence_keys(corpus, step.minus, RAW, data_dir), step.unique)
    return Side(
        lines=tuple(kept),
        texts=tuple(cleaning(texts[i]) for i in kept),
        references=tuple(tuple(cleaning(lines[i]) for lines in references) for i in kept),
        removed=len(texts) - len(kept) - repeats,
        repeats=repeats,
    )


def sentence_keys(
    corpus: Corpus,
    parts: Iterable[str],
    cleaning: Cleaning,
    data_dir: Path | str | None = None,
    *,
    references: bool = False,
) -> frozenset[str]:
    """The sentences of some parts as :func:`~.cleaning.match_key` writes them.

    Args:
        corpus: the dataset.
        parts: names of its parts.
        cleaning: how the sentences to compare were cleaned: cutting at 64 words matters.
        data_dir: the user's copy of a licensed corpus.
        references: the human rewrites too, not only the sentences.
    """
    keys: set[str] = set()
    for name in parts:
        part = corpus.part(name)
        files = part.files if references else (*part.sentences[0], *part.sentences[1])
        for file in files:
            keys.update(match_key(cleaning(line)) for line in read_lines(file.locate(data_dir)))
    return frozenset(keys)


def _read_aligned(
    part: Part, style: int, data_dir: Path | str | None
) -> tuple[list[str], list[list[str]]]:
    """Sentences of one style and, per reference file, their rewrites; all of one length."""
    names = " + ".join(file.name for file in part.sentences[style])
    texts = [line for file in part.sentences[style] for line in read_lines(file.locate(data_dir))]
    references = []
    for file in part.references[style]:
        lines = read_lines(file.locate(data_dir))
        if len(lines) != len(texts):
            raise InputError(
                f"{names} has {len(texts)} lines and {file.name} has {len(lines)}: line i of one "
                f"must rewrite line i of the other. Restore the files from upstream"
            )
        references.append(lines)
    return texts, references


def _kept(texts: list[str], forbidden: frozenset[str], unique: bool) -> tuple[list[int], int]:
    """Indices of the sentences that stay, and how many went for repeating an earlier one."""
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
