"""What metrics require of scorers: three small interfaces.

A scorer is loaded once, scores each distinct sentence once, and remembers. ``name`` and ``hash``
go into the signature of every score that the scorer contributes to: ``name`` tells people what it
is, ``hash`` (SHA-256 hex of its files) proves that two labs used the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Protocol, TypeVar
from weakref import WeakSet

import numpy as np

from ...errors import InputError

Text = TypeVar("Text", bound=Hashable)  # a sentence, or a pair of them
_ON_GPU = 16_384  # an H100 gets no faster beyond 8,192 of RoBERTa-large in float32


class Scorer(Protocol):
    """A model that a metric scores with."""

    @property
    def name(self) -> str:
        """What it is, for a signature: kind and training data, such as ``linear:yelp``."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 hex of the model's files."""
        ...


class LanguageModel(Scorer, Protocol):
    """Gives each sentence its probability, including the end of the sentence."""

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(sentence, </s>): shape (N,), float64. Words are what whitespace separates."""
        ...

    def words(self, sentences: Sequence[str]) -> np.ndarray:
        """The number of words the model sees in each sentence: shape (N,), integers."""
        ...


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of N sentences, concatenated: T in total.

    Attributes:
        vectors: shape (T, D), float32, rows of unit length.
        content: shape (T,), bool: False for the special tokens at the start and end of a sentence.
        offsets: shape (N + 1,), int64: sentence i is ``vectors[offsets[i]:offsets[i + 1]]``.
    """

    vectors: np.ndarray
    content: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> np.ndarray:
        """The vectors of one sentence: shape (its tokens, D)."""
        return self.vectors[self.offsets[sentence] : self.offsets[sentence + 1]]


class Encoder(Scorer, Protocol):
    """Gives each token of a sentence a vector, at one chosen layer."""

    @property
    def layer(self) -> int:
        """The hidden layer that is read; 0 is the embedding layer."""
        ...

    def token_vectors(self, sentences: Sequence[str]) -> TokenVectors:
        """The vectors of all tokens of N sentences, special tokens first and last in each."""
        ...

    def sentence_vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Mean of the token vectors before normalisation, then unit length: shape (N, D), float32."""
        ...


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

    Examples:
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


_MOST_ROWS = 500_000
_MEMORIES: WeakSet[Memory] = WeakSet()
_MEMORIES_LOCK = Lock()  # a page that scores submissions does so from several threads


class Memory(Protocol):
    """What a scorer keeps of the sentences that it has seen."""

    def forget(self) -> None:
        """Begin anew; what another thread has asked for meanwhile is still given."""
        ...


def forgettable(memory: Memory) -> None:
    """Have :func:`forget_sentences` reach it, as long as it lives."""
    with _MEMORIES_LOCK:
        _MEMORIES.add(memory)


def forget_sentences() -> None:
    """Let every scorer begin anew: its sentences will hardly be asked for again."""
    with _MEMORIES_LOCK:
        memories = tuple(_MEMORIES)
    for memory in memories:
        memory.forget()


class SentenceMemo(Generic[Text]):
    """Scores each distinct sentence, or pair of sentences, once, and keeps the rows.

    After half a million sentences, which take some hundred megabytes, it begins anew.

    Args:
        score: gives one row per sentence, shape (N, ...), for N >= 1 distinct sentences.

    Examples:
        >>> memo = SentenceMemo(lambda sentences: np.array([[float(len(s))] for s in sentences]))
        >>> memo(["good", "bad", "good"]).tolist(), len(memo)
        ([[4.0], [3.0], [4.0]], 2)
    """

    def __init__(self, score: Callable[[list[Text]], np.ndarray]) -> None:
        self._score = score
        self._rows: dict[Text, np.ndarray] = {}
        forgettable(self)

    def __len__(self) -> int:
        return len(self._rows)

    def remember(self, sentence: Text, row: np.ndarray) -> None:
        """Keep a row that is known already."""
        self._rows.setdefault(sentence, row)

    def forget(self) -> None:
        """Begin anew; who is looking something up in another thread still finds it."""
        self._rows = {}

    def __call__(self, sentences: Sequence[Text]) -> np.ndarray:
        """One row per sentence, in order: shape (N, ...) for N >= 1, otherwise shape (0,)."""
        if len(self._rows) > _MOST_ROWS:
            self.forget()
        rows = self._rows
        new = [s for s in dict.fromkeys(sentences) if s not in rows]
        if new:
            rows.update(zip(new, self._score(new), strict=True))
        return np.array([rows[s] for s in sentences])
