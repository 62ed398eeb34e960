"""Made pairs as the network reads them: token ids, and marks of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...metrics.scorers.meaning import PairReader
from .pairs import Pair
from .wording import Word


@dataclass(frozen=True)
class Encoded:
    """P pairs.

    Attributes:
        pairs: token ids of both sides.
        marks: for each pair the marks of its tokens, special ones included, float32: 1 changed,
            0 kept, -1 not known.
        kept: how much of the meaning a pair keeps, shape (P,), float32.
        lengths: tokens of a pair, shape (P,).
    """

    pairs: tuple[tuple[list[int], list[int]], ...]
    marks: tuple[np.ndarray, ...]
    kept: np.ndarray
    lengths: np.ndarray


def encode(pairs: Sequence[Pair], reader: PairReader) -> Encoded:
    """The tokens of both sides of all pairs."""
    words = sorted({word.text for pair in pairs for word in (*pair.source, *pair.output)})
    pieces = dict(zip(words, reader.ids(words), strict=True))
    found, marks = [], []
    for pair in pairs:
        (first, first_marks), (second, second_marks) = (
            _side(side, pieces) for side in (pair.source, pair.output)
        )
        found.append((first, second))
        marks.append(np.array([-1, *first_marks, -1, *second_marks, -1], dtype=np.float32))
    return Encoded(
        tuple(found),
        tuple(marks),
        np.array([pair.kept for pair in pairs], dtype=np.float32),
        np.array([len(some) for some in marks]),
    )


def padded_marks(data: Encoded, batch: np.ndarray) -> Tensor:
    """Marks of B pairs, -1 for padding: shape (B, T)."""
    table = torch.full((len(batch), int(data.lengths[batch].max())), -1.0)
    for row, i in enumerate(batch):
        table[row, : data.lengths[i]] = torch.from_numpy(data.marks[i])
    return table


def _side(side: Sequence[Word], pieces: dict[str, list[int]]) -> tuple[list[int], list[float]]:
    ids: list[int] = []
    marks: list[float] = []
    for word in side:
        ids += pieces[word.text]
        mark = -1.0 if word.changed is None else float(word.changed)
        marks += [mark] * len(pieces[word.text])
    return ids, marks
