"""What is never published: text of a licensed corpus.

GYAFC may be used by those who signed its licence and must not be passed on. The builders
(:mod:`.build`) leave its texts out: of a licensed direction only scores are published, and no
model that learned from it. Besides, whatever they or a person wrote, no file that leaves may quote
a sentence of the user's own copy: that which ``TSTBENCH_GYAFC`` names, and any that was read before
with this ``$TSTBENCH_HOME``.

Only letters are compared: spaces, punctuation, case, accents, digits and HTML entities differ
between a corpus and what our own cleaning, a tokeniser or a page makes of it ("do n't", "don't",
"DON&#39;T"). Long sentences are looked for in windows of words, because cleaning cuts them.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from ...datasets_scripts.cards import MARKER
from ...datasets_scripts.catalog import OUR_DATASETS, parse_dataset
from ...datasets_scripts.licensed_copies import copies
from ...datasets_scripts.sources import SourceFile
from ...errors import MissingFileError, TSTBenchError
from ...files import file_state

LICENSED = tuple(name for name, facts in OUR_DATASETS.items() if facts.licensed)
VARIABLE = "TSTBENCH_GYAFC"
_TO_DO = f"set {VARIABLE} to the folder as its licensor ships it, unpacked"
WEIGHTS = (".bin", ".model", ".npy", ".npz", ".safetensors")

SHORTEST = 6  # words: shorter sentences ("I do not know.") are everybody's
WINDOW = 12  # words; of a longer sentence, each run of 2 * WINDOW - 1 words is found
_OTHERS = re.compile(r"[\W\d_]+")  # but letters
_TAG = re.compile(r"<[^<>]{0,300}>")  # of a page: its letters are not the sentence's
_KEYS = (40, 24, 12)  # letters by which a window is looked up, the longest that it has


class LicensedTextError(TSTBenchError, ValueError):
    """A file contains, or may contain, text that its licence forbids to publish."""


def check_publishable(repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    """Refuse files that quote a licensed corpus.

    Args:
        repo_id: ``namespace/name``, for messages.
        files: contents, or the files that have them, by path in the repository.

    Raises:
        LicensedTextError: one quotes it, or is the marker of a folder that is not for publication;
            the message names the file, but not the sentence, because messages end up in logs.
        InputError, MissingFileError: a licensed copy is not where it was, or not whole.
    """
    if any(PurePosixPath(path).name.upper() == MARKER.upper() for path in files):
        raise LicensedTextError(
            f"{repo_id}: the folder has a file {MARKER}, so it is not published"
        )
    given = os.environ.get(VARIABLE)
    named = [Path(given).expanduser().resolve()] if given else []
    for copy in named:  # it is remembered if it is whole
        _check_whole(copy)
    for copy in {*named, *copies(VARIABLE)}:
        _check_whole(copy)
        corpus = QuotedSentences.of_folder(copy)
        for path, content in files.items():
            if any(corpus.quoted_in(text) for text in (path, *_texts(path, content))):
                raise LicensedTextError(
                    f"{repo_id}: {path} quotes a sentence of your copy of the licensed corpus "
                    f"({copy})"
                )


def _texts(path: str, content: Path | bytes) -> Iterator[str]:
    """Everything that can be read in a file; a quote is in one of the texts."""
    suffix = PurePosixPath(path).suffix.lower()
    with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
        if suffix in WEIGHTS and b"\0" in stream.read(2**20):
            return  # numbers indeed: a name does not make them of a text
        stream.seek(0)
        if suffix == ".arpa":  # n-grams are everybody's: lines of more words, and two numbers
            long_lines = (line for line in stream if len(line.split()) >= SHORTEST + 2)
            yield from (_text(line) for line in long_lines)
            return
        data = stream.read()
    if suffix == ".parquet":
        yield from _texts_of_parquet(data)
    elif suffix in (".json", ".jsonl"):  # as parsed: escapes hide nothing, nor does a list of words
        for line in data.split(b"\n") if suffix == ".jsonl" else [data]:
            try:  # pairs: a name that occurs twice is there twice
                yield " ".join(_strings(json.loads(line, object_pairs_hook=list)))
            except (ValueError, RecursionError):
                yield _text(line)
    else:
        yield _text(data)


def _texts_of_parquet(data: bytes) -> Iterator[str]:
    import pyarrow as pa  # only here: the rest of this module starts at once
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError):  # it is damaged, or none
        yield _text(data)
        return
    yield " ".join(_strings([table.column_names, table.schema.metadata or {}]))
    numbers = pa.types.is_integer, pa.types.is_floating
    for column in table.columns:
        if not any(are(column.type) for are in numbers):
            yield from (" ".join(_strings(value)) for value in column.to_pylist())


def _strings(value: Any) -> Iterable[str]:
    """Every string in a value, the names in its objects too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield _text(value)
    elif isinstance(value, Mapping):
        yield from _strings(list(value.items()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _text(data: bytes) -> str:
    return data.decode(errors="ignore")


def _check_whole(copy: Path) -> None:
    """Refuse a copy that lacks files or has unreadable ones: what it quotes must all be known."""
    there = set()
    for name in LICENSED:
        files = {file for part in parse_dataset(name).parts for file in part.files}
        states = {file: str(file.state(copy)) for file in files}
        lacking = sorted(file.name for file in files if states[file].endswith("absent"))
        if len(lacking) < len(files):
            there.add(name)
            if lacking:
                raise MissingFileError(
                    f"{copy} is no whole copy of the licensed corpus: {lacking[0]} is missing. "
                    f"What is published is checked for its sentences: {_TO_DO}"
                )
            _read(copy, tuple(sorted(states.items(), key=str)))
    if not there:
        raise MissingFileError(f"{copy} is no copy of the licensed corpus: {_TO_DO}")


@cache  # a hub folder has dozens of repositories
def _read(copy: Path, states: tuple[tuple[SourceFile, str], ...]) -> None:
    """Read every file, which remembers the copy; raises for one that is not text."""
    for file, _ in states:
        file.lines(copy)


def letters(text: str) -> str:
    """The letters of a text, in lower case and without accents, and nothing else.

    >>> letters("I do n't  THINK so, caf&eacute; 2nite") == letters("i DON’T think so: cafe nite")
    True
    """
    if not text.isascii() or "&" in text:
        text = unicodedata.normalize("NFKD", html.unescape(text))
    return _OTHERS.sub("", text.casefold())


def windows(sentence: str) -> Iterable[str]:
    """The letters of runs of words that cover a sentence; none of a short one."""
    found = [word for word in map(letters, sentence.split()) if word]
    if len(found) < SHORTEST:
        return
    last = max(0, len(found) - WINDOW)
    for start in {*range(0, last, WINDOW), last}:
        window = "".join(found[start : start + WINDOW])
        if len(window) >= _KEYS[-1]:
            yield window


@dataclass(frozen=True)
class QuotedSentences:
    r"""Sentences, indexed by the first letters of their windows.

    >>> corpus = QuotedSentences.of(["He said that he would n't come to the party ."])
    >>> corpus.quoted_in('{"text": "So he said that he wouldn\'t come to the PARTY, or not"}')
    True
    >>> corpus.quoted_in("he said that he would")
    False
    """

    by_beginning: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Iterable[str]) -> QuotedSentences:
        """Index these sentences; those with fewer than :data:`SHORTEST` words are skipped."""
        index: dict[str, set[str]] = {}
        for sentence in sentences:
            for window in windows(sentence):
                size = next(size for size in _KEYS if size <= len(window))
                index.setdefault(window[:size], set()).add(window)
        return cls({key: tuple(sorted(found)) for key, found in index.items()})

    @classmethod
    def of_folder(cls, folder: Path) -> QuotedSentences:
        """Index every line of every text file below a folder, whatever its suffix.

        Raises:
            MissingFileError: there is no such folder, or no text in it: a check against an empty
                corpus would pass everything.
        """
        files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".pdf"]
        # A hub folder has dozens of repositories, and each is checked against the same copy.
        corpus = _of_files(tuple((p, file_state(p)) for p in files))
        if not corpus.by_beginning:
            raise MissingFileError(
                f"no sentences in {folder}, which should contain your GYAFC corpus"
            )
        return corpus

    def quoted_in(self, text: str) -> bool:
        """Whether this text contains a whole sentence of the corpus, or a window of one."""
        if "<" in text and self.quoted_in(_TAG.sub(" ", text).replace("<", " ")):
            return True
        found, size = letters(text), _KEYS[-1]
        return any(
            found[start : start + size] in self.beginnings and self._begins_at(found, start)
            for start in range(len(found) - size + 1)
        )

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first letters of every window: most places of a text are none of them."""
        return frozenset(key[: _KEYS[-1]] for key in self.by_beginning)

    def _begins_at(self, found: str, start: int) -> bool:
        return any(
            found.startswith(window, start)
            for size in _KEYS
            for window in self.by_beginning.get(found[start : start + size], ())
        )


@lru_cache(maxsize=1)
def _of_files(files: tuple[tuple[Path, str], ...]) -> QuotedSentences:
    lines = (line for p, _ in files for line in p.read_text("utf-8", "replace").split("\n"))
    return QuotedSentences.of(lines)
