"""Finding sentences of one corpus in any other text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import MissingFileError

SHORTEST = 6  # words: shorter sentences ("I do not know.") are everybody's
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-case words without punctuation, so that cleaning or escaping cannot hide anything.

    >>> words("Don't  you THINK so ?")
    ['don', 't', 'you', 'think', 'so']
    """
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class QuotedSentences:
    """Sentences, indexed by their first words.

    >>> corpus = QuotedSentences.of(["He said that he would come to the party."])
    >>> corpus.quoted_in('{"text": "So he said that he would come to the party, or not"}')
    True
    >>> corpus.quoted_in("he said that he would come")
    False
    """

    by_beginning: dict[tuple[str, ...], set[tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Iterable[str]) -> QuotedSentences:
        """Index these sentences; those with fewer than :data:`SHORTEST` words are skipped."""
        index: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for sentence in sentences:
            found = tuple(words(sentence))
            if len(found) >= SHORTEST:
                index.setdefault(found[:SHORTEST], set()).add(found)
        return cls(index)

    @classmethod
    def of_folder(cls, folder: Path) -> QuotedSentences:
        """Index every line of every text file below a folder, whatever its suffix.

        Raises:
            MissingFileError: there is no such folder, or no text in it: a check against an empty
                corpus would pass everything.
        """
        files = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix != ".pdf"]
        lines = (line for p in files for line in p.read_text("utf-8", "replace").split("\n"))
        corpus = cls.of(lines)
        if not corpus.by_beginning:
            raise MissingFileError(
                f"no sentences in {folder}, which should contain your GYAFC corpus"
            )
        return corpus

    def quoted_in(self, text: str) -> bool:
        """Whether this text contains a whole sentence of the corpus."""
        found = words(text)
        for start in range(len(found) - SHORTEST + 1):
            for sentence in self.by_beginning.get(tuple(found[start : start + SHORTEST]), ()):
                if tuple(found[start : start + len(sentence)]) == sentence:
                    return True
        return False
