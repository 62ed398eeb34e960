"""Scoring many sentences efficiently: batches of similar length, and each sentence once.

On short sentences a transformer wastes most on padding, and on scoring the same sources and
references again for every system. Avoiding both does not change a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...errors import InputError

_ON_GPU = 16_384  # an H100 gets no faster beyond 8,192 of RoBERTa-large in float32


def length_sorted_batches(
    lengths: Sequence[int] | np.ndarray, max_tokens: int, max_items: int | None = None
) -> Iterator[np.ndarray]:
    """Split N items into batches of similar length, longest first, within a padded-token budget.

    Longest first, so that a batch too big for the memory fails at the start, not at the end. Items
    of equal length keep their order: the same input gives the same batches.

    Args:
        lengths: tokens of each item without padding; an empty item counts as one token.
        max_tokens: the most padded tokens (items x longest) in a batch. A longer single item is a
            batch of its own.
        max_items: the most items in a batch; ``None`` for no limit.

    Yields:
        Indices into ``lengths``, shape (B,), int64; together, each of the N indices exactly once.

    Raises:
        InputError: ``max_tokens`` is not positive.

    Example:
        >>> [batch.tolist() for batch in length_sorted_batches([2, 9, 3, 3], max_tokens=9)]
        [[1], [2, 3, 0]]
    """
    if max_tokens < 1:
        raise InputError(f"max_tokens must be at least 1, got {max_tokens}")
    widths = np.maximum(np.asarray(lengths, dtype=np.int64).reshape(-1), 1)
    order = np.argsort(-widths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, max_tokens // int(widths[order[start]]))
        size = min(size, max_items or size)
        yield order[start : start + size]
        start += size


def tokens_on(device: str, on_cpu: int) -> int:
    """The most tokens in a batch: on a GPU many, since small products leave most of it idle.

    Args:
        device: ``cpu``, ``cuda``...
        on_cpu: so many keep a batch's activations near a processor's cache.
    """
    return on_cpu if device == "cpu" else max(on_cpu, _ON_GPU)


class SentenceMemo:
    """Scores each distinct sentence once, and keeps the rows.

    Args:
        score: gives one row per sentence, shape (N, ...), for N >= 1 distinct sentences.

    Example:
        >>> memo = SentenceMemo(lambda sentences: np.array([[float(len(s))] for s in sentences]))
        >>> memo(["good", "bad", "good"]).tolist(), len(memo)
        ([[4.0], [3.0], [4.0]], 2)
    """

    def __init__(self, score: Callable[[list[str]], np.ndarray]) -> None:
        self._score = score
        self._rows: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def remember(self, sentence: str, row: np.ndarray) -> None:
        """Keep a row that is known already."""
        self._rows.setdefault(sentence, row)

    def __call__(self, sentences: Sequence[str]) -> np.ndarray:
        """One row per sentence, in order: shape (N, ...) for N >= 1, otherwise shape (0,)."""
        new = [s for s in dict.fromkeys(sentences) if s not in self._rows]
        if new:
            self._rows.update(zip(new, self._score(new), strict=True))
        return np.array([self._rows[s] for s in sentences])
