"""Checks of a user's own dataset that read its sentences: what is certain, and what is doubtful."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import combinations
from math import log

from ..errors import InputError, MissingFileError
from .cleaning import is_blank, match_key
from .corpus import Corpus, Files, Pairs, Part, read_aligned
from .gyafc_em.gyafc_em import CORPUS as GYAFC_EM
from .gyafc_fr.gyafc_fr import CORPUS as GYAFC_FR
from .languages import language
from .licensed_copies import known_copies
from .sources import SourceFile
from .tables import Column, OwnText
from .text_checks import (
    Rewrites,
    Suspicion,
    check_no_records,
    is_header,
    is_leftover,
    quote,
    split_by,
)

_FEWEST = 20  # texts below which a share says little
_MOST = 5000  # texts of a long file that are compared
_COPIES = 0.75  # of the rewrites are the sentence itself; 0.07 in the worst real references
_COMMON = 0.5  # of a style's training sentences are another's too; 0.05 in the worst real data
# How often the words of the training sentences put a test sentence of one style before one of the
# other: real data 0.68 to 0.99, any 20 of its sentences at least 0.55, training sentences of other
# styles 0.44 to 0.56. Swapped, it is 1 less that.
_SWAPPED = 0.4

Texts = Sequence[str]
LICENSED_VARIABLE = "TSTBENCH_GYAFC"


def check_corpus(corpus: Corpus) -> list[Suspicion]:
    """Read everything that a data file names.

    Returns:
        What looks wrong without being certain.

    Raises:
        MissingFileError: a file does not exist.
        InputError: a file is empty, begins with a header or is JSON under the name of a text file;
            a test sentence is blank; a text is ``nan``; two styles have the same sentences, or two
            directions the same rewrites; files are not aligned; or ids repeat.
        UnknownNameError: no such column.
    """
    doubts: list[Suspicion] = []
    for part in corpus.parts:
        for file in part.files:
            try:
                file.require()
            except MissingFileError as error:
                raise MissingFileError(f"{corpus.origin}: {error}") from error
            _check_not_licensed(file, corpus.origin)
        doubts += _check_part(corpus, part)
    return doubts or list(_swapped_styles(corpus))  # references in a wrong place explain it


def _check_not_licensed(file: SourceFile, origin: str) -> None:
    """Refuse a file of a licensed corpus under another name: what is made of it may not leave.

    It is compared with the copies that are known, and with one that the file itself is in.
    """
    given = [os.environ.get(LICENSED_VARIABLE, ""), *map(str, known_copies(LICENSED_VARIABLE))]
    if isinstance(file, OwnText):  # GYAFC_Corpus/<domain>/test/formal.ref0
        given += map(str, file.path.resolve().parents[2:3])
    licensed: frozenset[str] = frozenset().union(*(_licensed(one) for one in given if one))
    if not licensed:
        return
    texts = [match_key(text) for text in file.lines()[:_MOST]]
    if 2 * sum(text in licensed for text in texts) > len(texts):
        raise InputError(
            f"{origin}: {file.name} has the sentences of GYAFC, which is licensed and must not be "
            "published under any name: score its own directions, such as "
            "gyafc_em/informal-to-formal, with --data-dir FOLDER"
        )


@cache
def _licensed(copy: str) -> frozenset[str]:
    """The sentences of a copy of GYAFC, as keys; none if it is no copy."""
    texts: set[str] = set()
    for part in (*GYAFC_EM.parts, *GYAFC_FR.parts):
        for file in part.files:
            with suppress(MissingFileError):
                texts.update(map(match_key, file.lines(copy)))
    return frozenset(texts - {""})


def _check_part(corpus: Corpus, part: Part) -> Iterator[Suspicion]:
    styles = corpus.facts.styles
    at = f"{corpus.origin}: {part.name}"
    sentences = [
        _read(files, f"{at} sentences of {style}", blank=part.name != "test")
        for style, files in zip(styles, part.sentences, strict=True)
    ]
    for label, (count, near) in labels_left_out(part).items():
        if near is not None:
            yield Suspicion(
                f"{part.name} rows are left out, whose label is nearly one of values",
                f"{count} rows",
                f"{label!r}: did you mean {near!r}? Correct the label, or add it to values",
            )
    yield from _common_sentences(sentences, styles, at)
    rewritten: dict[tuple[tuple[str, ...], ...], tuple[int, str]] = {}
    for (source, target), pairs in part.pairs.items():
        config = f"{styles[source]}-to-{styles[target]}"
        where = f"{at} of {config}"
        texts = _check_pairs(pairs, where)
        others = [
            (f"the {part.name} sentences of {styles[n]}", other)
            for n, other in enumerate(sentences)
            if n != source and len(other) == len(texts)
        ]
        for file in pairs.references:
            rows = tuple(file.rewrites())
            of, other = rewritten.setdefault(rows, (target, file.name))
            if of != target:
                raise InputError(
                    f"{where}: {file.name} has the rewrites that {other} has for {styles[of]}: "
                    "name the file of this direction"
                )
            first = [some[0] if some else "" for some in rows]
            for doubt in _doubts(file, first, texts, corpus, styles[target], others):
                yield replace(doubt, what=f"{part.name} of {config}: {file.name}: {doubt.what}")


# -- what is certain -------------------------------------------------------------------------------


def _read(files: Files, where: str, *, blank: bool) -> list[str]:
    """The sentences of files; ``blank``: nothing but their form is checked, as for training."""
    texts = []
    for file in files:
        lines = file.lines()
        _check_texts([() if is_blank(line) else (line,) for line in lines], file, where)
        for index, line in enumerate(() if blank else lines):
            if is_blank(line):
                raise InputError(
                    f"{where}: {file.name}, line {file.number(index)} is blank: each line must "
                    "be a sentence. Remove the line, and the same line from every references file"
                )
            _check_leftover(line, file, index, where)
        texts += lines
    return texts


def _check_texts(rows: Sequence[Texts], file: SourceFile, where: str) -> None:
    """Check that there are texts, and that they are plain lines."""
    if not any(rows):
        raise InputError(f"{where}: {file.name} is empty")
    if isinstance(file, OwnText):
        lines = [row[0] if row else "" for row in rows]
        check_no_records(lines, f"{where}: {file.name}", "text")
        if is_header(lines[0]):
            raise InputError(
                f"{where}: {file.name}, line {file.number(0)} is a header, {quote(lines[0])}: "
                "remove it, since every line must be a sentence"
            )


def _check_leftover(text: str, file: SourceFile, index: int, where: str) -> None:
    if is_leftover(text):
        raise InputError(
            f"{where}: {file.name}, line {file.number(index)} is {quote(text)}, which a program "
            "writes for a missing text, or for bytes: write the text, or leave a rewrite blank"
        )


def _check_pairs(pairs: Pairs, where: str) -> list[str]:
    texts = _read(pairs.sources, where, blank=False)
    try:
        _, references, ids = read_aligned(pairs)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    for file, rewrites in zip(pairs.references, references, strict=True):
        _check_texts(rewrites, file, where)
        for index, some in enumerate(rewrites):
            for text in some:
                _check_leftover(text, file, index, where)
    if pairs.ids is not None:
        _check_ids(ids or [], pairs.ids, where)
    return texts


def _check_ids(ids: Texts, file: SourceFile, where: str) -> None:
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


# -- what is doubtful ------------------------------------------------------------------------------


def labels_left_out(part: Part) -> dict[str, tuple[int, str | None]]:
    """The labels that a split's table has and ``values`` has not, the most frequent first.

    Returns:
        How many rows each has, and the label of ``values`` that it spells otherwise.
    """
    files = (file for some in part.sentences for file in some)
    kept = [(file.table, *file.keep) for file in files if isinstance(file, Column) and file.keep]
    values = {value for _table, _column, some in kept for value in some}
    meant = {_plain(value): value for value in values}
    tables = {(table, column) for table, column, _some in kept}
    labels = (str(label) for table, column in tables for _, label in table.column(column))
    counts = Counter(label for label in labels if label not in values).most_common()
    return {label: (count, meant.get(_plain(label))) for label, count in counts}


def _plain(label: str) -> str:
    """A label without its spelling: ``0``, ``0.0`` and ``false`` are one."""
    label = label.strip().casefold()
    label = {"true": "1", "false": "0"}.get(label, label)
    try:
        return str(float(label))
    except ValueError:
        return label


def _common_sentences(sentences: Sequence[Texts], styles: Texts, where: str) -> Iterator[Suspicion]:
    """Sentences that two styles share; raises if they share all."""
    keys = [set(map(match_key, texts)) for texts in sentences]
    for (one, some), (other, others) in combinations(zip(styles, keys, strict=True), 2):
        fewer = min(len(some), len(others))
        common = len(some & others)
        if some and some == others:
            raise InputError(
                f"{where}: {one} and {other} have the same sentences: name a file for each style"
            )
        if fewer >= _FEWEST and common >= _COMMON * fewer:
            yield Suspicion(
                f"{common} sentences are both {one} and {other}",
                "all files",
                "check that each style has its own file",
            )


def _doubts(
    file: SourceFile,
    rewrites: Texts,
    sources: Texts,
    corpus: Corpus,
    target_style: str,
    others: Sequence[tuple[str, Texts]],
) -> Iterator[Suspicion]:
    """What a person would notice about a file of people's rewrites, as of a system's outputs."""
    start = max(0, len(rewrites) - _MOST)  # a line too many shifts all that follow
    beside = Rewrites(
        rewrites[start:],
        sources[start:],
        characters=_has_no_spaces(corpus),
        noun="references",
        number=lambda index: file.number(start + index),
    )
    yield from beside.odd_forms(beside.sources, target_style)
    keys = [match_key(text) for text in beside.texts]
    if len(keys) < _FEWEST or keys.count("") > len(keys) / 2:
        return
    same = [n for n, text in enumerate(beside.sources) if keys[n] == match_key(text)]
    if len(same) >= _COPIES * len(keys):
        do = "check that this is the file of the references"
        yield beside.suspicion(same, "are the sentence itself", do)
    disorder = beside.disorder(
        "put line i of the references beside line i of the sentences",
        lambda like: like.is_unrelated or like.is_misplaced,
        ((name, texts[start:], "name the file in that direction") for name, texts in others),
    )
    if disorder is not None:
        yield disorder


def _swapped_styles(corpus: Corpus) -> Iterator[Suspicion]:
    """Styles whose test texts are each more like the other's training sentences."""
    import numpy as np

    parts = {part.name: part for part in corpus.parts}
    training = parts.get(corpus.facts.learn_from)
    if training is None or "test" not in parts:
        return
    styles = corpus.facts.styles
    test = [_lines(files) for files in parts["test"].sentences]
    for (_, target), pairs in parts["test"].pairs.items():
        test[target] += [some[0] for file in pairs.references for some in file.rewrites() if some]
    tested = [_words(texts, corpus) for texts in test]
    learned = [_words(_lines(files), corpus) for files in training.sentences]
    shares = [Counter(word for words in some for word in words) for some in learned]
    for one, other in combinations(range(len(styles)), 2):
        if min(map(len, (tested[one], tested[other], learned[one], learned[other]))) < _FEWEST:
            continue
        odds = {
            word: log((shares[one][word] + 0.5) / (len(learned[one]) + 1))
            - log((shares[other][word] + 0.5) / (len(learned[other]) + 1))
            for word in shares[one].keys() | shares[other].keys()
        }
        some, others = (
            np.array([sum(odds.get(word, 0.0) for word in words) for words in tested[style]])
            for style in (one, other)
        )
        difference = some[:, None] - others
        share = ((difference > 0).mean() + (difference >= 0).mean()) / 2
        error = ((some.size + others.size + 1) / (12 * some.size * others.size)) ** 0.5
        if share < min(_SWAPPED, 0.5 - 3 * error):
            yield Suspicion(
                f"by their words, the test texts of {styles[one]} are more like the "
                f"{training.name} sentences of {styles[other]}, and the other way round",
                "all files",
                f"check that the files of {styles[one]} and {styles[other]} are not swapped",
            )


def _lines(files: Files) -> list[str]:
    return [line for file in files for line in file.lines()]


def _words(texts: Texts, corpus: Corpus) -> list[set[str]]:
    """The words of each text, in a long file of evenly spaced ones."""
    split = split_by(_has_no_spaces(corpus))
    return [set(split(text)) for text in texts[:: len(texts) // _MOST + 1]]


def _has_no_spaces(corpus: Corpus) -> bool:
    return language(corpus.facts.language).cleaning == "unspaced-v1"
