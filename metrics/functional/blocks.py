"""Long corpora in blocks, so that what is kept of each sentence for a moment stays small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
BLOCK = 8192  # sentences; every test set of the benchmark is one block


def in_blocks(items: Sequence[T], size: int = BLOCK) -> Iterator[Sequence[T]]:
    """The items in their order, at most ``size`` at once; nothing if there is none.

    >>> list(in_blocks("abcde", 2))
    ['ab', 'cd', 'e']
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]
