"""Checks of a user's own dataset that read its sentences: empty, misaligned, repeated ids."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError, MissingFileError
from .corpus import Corpus, Files, Pairs, Part
from .sources import SourceFile


def check_corpus(corpus: Corpus) -> None:
    """Read everything that a data file names.

    Raises:
        MissingFileError: a file does not exist.
        InputError: a file is empty, a test sentence is blank, files are not aligned, or ids repeat.
        UnknownNameError: no such column.
    """
    styles = corpus.facts.styles
    for part in corpus.parts:
        _require(part, corpus.origin)
        for style, files in enumerate(part.sentences):
            where = f"{corpus.origin}: {part.name} sentences of {styles[style]}"
            _read(files, where, blank=part.name != "test")
        for (source, target), pairs in part.pairs.items():
            config = f"{styles[source]}-to-{styles[target]}"
            _check_pairs(pairs, f"{corpus.origin}: {part.name} of {config}")


def _require(part: Part, origin: str) -> None:
    for file in part.files:
        try:
            file.require()
        except MissingFileError as error:
            raise MissingFileError(f"{origin}: {error}") from error


def _read(files: Files, where: str, *, blank: bool) -> list[str]:
    texts = []
    for file in files:
        lines = file.lines()
        if not any(line.strip() for line in lines):
            raise InputError(f"{where}: {file.name} is empty")
        if not blank:
            _check_blank(lines, file, where)
        texts += lines
    return texts


def _check_blank(lines: Sequence[str], file: SourceFile, where: str) -> None:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise InputError(
                f"{where}: {file.name}, line {number} is blank: each line must be a sentence. "
                "Remove the line, and the same line from every references file"
            )


def _check_pairs(pairs: Pairs, where: str) -> None:
    texts = _read(pairs.sources, where, blank=False)
    name = " + ".join(file.name for file in pairs.sources)
    for file in pairs.references:
        rewrites = file.rewrites()
        if len(rewrites) != len(texts):
            raise InputError(
                f"{where}: {name} has {len(texts)} lines and {file.name} has {len(rewrites)}: "
                "line i of one must rewrite line i of the other"
            )
        if not any(rewrites):
            raise InputError(f"{where}: {file.name} is empty")
    if pairs.ids is not None:
        _check_ids(pairs.ids.lines(), pairs.ids, where)


def _check_ids(ids: Sequence[str], file: SourceFile, where: str) -> None:
    first: dict[str, int] = {}
    for number, name in enumerate(ids, start=1):
        if not name.strip():
            raise InputError(f"{where}: {file.name}, row {number} has no id")
        if name in first:
            raise InputError(
                f"{where}: {file.name} has the id {name!r} twice, in rows {first[name]} and "
                f"{number}: ids must be unique"
            )
        first[name] = number
