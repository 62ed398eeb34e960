"""What a word-level system learns from: both styles as ids, and the judge of its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ...datasets_scripts.catalog import language_of
from ...datasets_scripts.load import TrainingData
from ...metrics.text import preparation
from .sampler import Both, Lengths
from .selection import Selection, Sides, check_sides, hold_out, selection
from .words import Vocabulary, padded

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Corpus:
    """Training sentences of two styles.

    Attributes:
        sentences: tokenised, by style (0: source, 1: target).
        vocabulary: of these sentences.
        rows: their ids, ``END`` last: those of the source style first.
        judge: scores rewrites of held-out sentences.
    """

    sentences: Sides
    vocabulary: Vocabulary
    rows: Sequence[Sequence[int]]
    judge: Selection

    @classmethod
    def of(
        cls,
        data: TrainingData,
        *,
        min_count: int,
        max_length: int,
        held_out: int,
        seed: int,
        max_words: int | None = None,
    ) -> Corpus:
        """Tokenise, hold sentences out and count words.

        Args:
            data: of one direction.
            min_count: occurrences that make a word.
            max_length: longest row, its end included; what is longer is cut.
            held_out: sentences of each style to choose weights with.
            seed: of what is held out and of the judge.
            max_words: the most frequent words that are kept; ``None`` for all.

        Raises:
            InputError: a style has no sentences, or too few.
        """
        check_sides(data, Sides(data.train.source, data.train.target))
        prepare = preparation(language_of(data.direction)).for_language_model
        train, held = hold_out(data, held_out, seed)
        sentences = Sides(*(tuple(prepare(side)) for side in train))
        tokens = [text.split() for side in sentences for text in side]
        vocabulary = Vocabulary.of(tokens, min_count, max_words)
        rows = [vocabulary.encode(words, max_length) for words in tokens]
        judge = selection(train, Sides(*(tuple(prepare(side)) for side in held)), seed)
        return cls(sentences, vocabulary, rows, judge)

    @property
    def n_source(self) -> int:
        """Rows of the source style."""
        return len(self.sentences.source)

    @property
    def lengths(self) -> Lengths:
        """Of the rows, by style."""
        lengths = [len(row) for row in self.rows]
        return lengths[: self.n_source], lengths[self.n_source :]

    def both(self, batch_size: int, seed: int, *, grouping: int = 1) -> Both:
        """Batches of ``batch_size`` sentences of each style; see :class:`Both`."""
        return Both(self.lengths, batch_size, seed, grouping)

    def batch(self, part: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
        """Right-padded ids (B, T) of these rows, and their styles (B)."""
        words = padded([self.rows[i] for i in part]).to(device)
        return words, torch.tensor(part >= self.n_source, device=device).long()


def by_length(
    rows: Sequence[Sequence[int]],
    size: int,
    answer: Callable[[list[int]], Sequence[Answer]],
) -> list[Answer]:
    """One answer a row, in the order of the rows, computed in batches of like length.

    Args:
        rows: anything with a length.
        size: rows a batch.
        answer: gives the answers to these rows (indices), in the order it is given them.

    >>> by_length([[7, 7], [7], [7, 7, 7]], 2, lambda batch: [10 * i for i in batch])
    [0, 10, 20]
    """
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    found: dict[int, Answer] = {}
    for start in range(0, len(order), size):
        batch = order[start : start + size]
        found.update(zip(batch, answer(batch), strict=True))
    return [found[i] for i in range(len(rows))]
