"""The words of a system that is trained from scratch, and their ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from ...errors import InputError
from ...files import read_text, write_json

PAD, UNKNOWN, END = 0, 1, 2
_FIRST = 3  # id of the first word
FILE = "vocabulary.json"


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids, after padding, the unknown word and the sentence's end."""

    words: tuple[str, ...]

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], min_count: int, max_words: int | None = None
    ) -> Vocabulary:
        """The words that occur ``min_count`` times, the most frequent first, ties by spelling.

        ``max_words`` keeps the first so many.

        Raises:
            InputError: there are none.
        """
        counts = Counter(word for sentence in sentences for word in sentence)
        kept = sorted((-count, word) for word, count in counts.items() if count >= min_count)
        if not kept:
            raise InputError(f"no word occurs {min_count} times: lower min_count")
        return cls(tuple(word for _, word in kept[:max_words]))

    def __len__(self) -> int:
        return _FIRST + len(self.words)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, start=_FIRST)}

    def encode(self, words: Sequence[str], max_length: int) -> list[int]:
        """Ids, ``END`` last, at most ``max_length`` of them; what is longer is cut.

        >>> Vocabulary(("a", "b")).encode(["b", "c", "a"], max_length=3)
        [4, 1, 2]
        """
        return [self._ids.get(word, UNKNOWN) for word in words[: max_length - 1]] + [END]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Words up to ``END``.

        Raises:
            ValueError: an id is none of a word: a system must not produce the unknown word.

        >>> Vocabulary(("a", "b")).decode([4, 3, 2, 0, 0])
        ['b', 'a']
        """
        words = []
        for number in ids:
            if number == END:
                break
            if number < _FIRST:
                raise ValueError(f"id {number} stands for no word")
            words.append(self.words[number - _FIRST])
        return words

    def save(self, folder: Path) -> None:
        """Write ``vocabulary.json``."""
        write_json(folder / FILE, list(self.words))

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Read back what :meth:`save` wrote."""
        return cls(tuple(json.loads(read_text(folder / FILE))))


def padded(rows: Sequence[Sequence[int]], width: int | None = None) -> Tensor:
    """Right-pad ids to one shape (B, T), int64.

    >>> padded([[5], [6, 7]]).tolist()
    [[5, 0], [6, 7]]
    """
    width = max(map(len, rows)) if width is None else width
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])
