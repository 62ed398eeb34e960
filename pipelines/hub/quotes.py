"""Finding sentences of one corpus in any other text.

Only letters are compared: spaces, punctuation, case, accents, digits and HTML entities differ
between a corpus and what our own cleaning, a tokeniser or a page makes of it ("do n't", "don't",
"DON&#39;T"). Long sentences are looked for in windows of words, because cleaning cuts them.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from ...errors import MissingFileError
from ...files import file_state

SHORTEST = 6  # words: shorter sentences ("I do not know.") are everybody's
WINDOW = 12  # words; of a longer sentence, each run of 2 * WINDOW - 1 words is found
_OTHERS = re.compile(r"[\W\d_]+")  # but letters
_TAG = re.compile(r"<[^<>]{0,300}>")  # of a page: its letters are not the sentence's
_KEYS = (40, 24, 12)  # letters by which a window is looked up, the longest that it has


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
