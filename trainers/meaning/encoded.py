"""Made pairs as the network reads them: token vectors, computed once, and marks of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...metrics.scorers.base import TokenVectors
from ...metrics.scorers.encoder import TransformerEncoder
from .pairs import Pair
from .wording import Word

_TEXTS_AT_ONCE = 1_024


@dataclass(frozen=True)
class Encoded:
    """P pairs.

    Attributes:
        vectors: for each layer, the token vectors of all distinct sides; half precision.
        pairs: which two sides a pair has, by index.
        marks: for each side its tokens' marks, float32: 1 changed, 0 kept, -1 not known.
        kept: how much of the meaning a pair keeps, shape (P,), float32.
        lengths: tokens of the longer side, shape (P,).
    """

    vectors: tuple[TokenVectors, ...]
    pairs: tuple[tuple[int, int], ...]
    marks: tuple[np.ndarray, ...]
    kept: np.ndarray
    lengths: np.ndarray


def encode(pairs: Sequence[Pair], encoders: Sequence[TransformerEncoder]) -> Encoded:
    """Encode both sides of all pairs; a side that comes up again is encoded once."""
    sides = {side: i for i, side in enumerate(dict.fromkeys(s for p in pairs for s in _sides(p)))}
    texts = [" ".join(word.text for word in side) for side in sides]
    vectors = tuple(_vectors(texts, encoder) for encoder in encoders)
    pieces = _pieces({word.text for side in sides for word in side}, encoders[0])
    counts = np.diff(vectors[0].offsets)
    marks = tuple(_marks(side, pieces, int(n)) for side, n in zip(sides, counts, strict=True))
    found = tuple((sides[pair.source], sides[pair.output]) for pair in pairs)
    return Encoded(
        vectors,
        found,
        marks,
        np.array([pair.kept for pair in pairs], dtype=np.float32),
        np.array([max(counts[a], counts[b]) for a, b in found]),
    )


def _sides(pair: Pair) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    return pair.source, pair.output


def _vectors(texts: Sequence[str], encoder: TransformerEncoder) -> TokenVectors:
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    parts: list[np.ndarray] = [np.zeros((0, 0))] * len(texts)
    for start in range(0, len(order), _TEXTS_AT_ONCE):
        some = order[start : start + _TEXTS_AT_ONCE]
        encoded = encoder.token_vectors([texts[i] for i in some])
        for row, i in enumerate(some):
            parts[i] = encoded[row].astype(np.float16)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return TokenVectors(np.concatenate(parts), np.ones(int(offsets[-1]), dtype=bool), offsets)


def _pieces(words: set[str], encoder: TransformerEncoder) -> dict[str, int]:
    """Into how many tokens each word is split; without the two special tokens."""
    ordered = sorted(words)
    counts = np.diff(encoder.token_vectors(ordered).offsets) - 2
    return dict(zip(ordered, counts.tolist(), strict=True))


def _marks(side: Sequence[Word], pieces: dict[str, int], count: int) -> np.ndarray:
    """Marks of the tokens; unknown for special tokens, and for all if the count differs."""
    values = [-1.0]
    for word in side:
        mark = -1.0 if word.changed is None else float(word.changed)
        values += [mark] * pieces[word.text]
    values.append(-1.0)
    if len(values) != count:
        return np.full(count, -1.0, dtype=np.float32)
    return np.array(values, dtype=np.float32)
