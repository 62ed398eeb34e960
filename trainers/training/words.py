"""The words of a system that is trained from scratch, and their ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
import torch.nn.functional as F
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


def lengths_of(words: Tensor) -> Tensor:
    """Lengths (B,) of ids or soft words: up to the first likeliest ``END``, which counts."""
    ids = words.argmax(dim=-1) if words.is_floating_point() else words
    ends = ids == END
    first = ends.int().argmax(dim=1) + 1
    return torch.where(ends.any(dim=1), first, ids.shape[1])


State = tuple[Tensor, ...]  # what a decoder remembers; each (B, ...)
Step = Callable[[Tensor | None, State], tuple[Tensor, State]]


def beam_search(
    step: Step,
    state: State,
    *,
    length: int,
    beams: int = 1,
    forbidden: Sequence[int] = (),
) -> Tensor:
    """The likeliest sentences found, with ``beams`` kept at each word; 1 is greedy.

    No sentence is empty: a total of log-probabilities would favour that.

    The score is the sum of log-probabilities, not divided by the length. A row's sentence does not
    depend on the other rows.

    Args:
        step: gives, for the last words (B), or ``None`` at the beginning, and the state, the logits
            (B, V) of the next words and the next state.
        state: at the beginning.
        length: the most words, the end included.
        beams: K.
        forbidden: ids that are never written; they keep their share of the probability.

    Returns:
        ids (B, L), L at most ``length``; ``PAD`` after ``END``.
    """
    logits, state = step(None, state)
    log_p = _log_probabilities(logits, (*forbidden, END))  # a sentence has at least one word
    wide = min(beams, log_p.shape[1])
    scores, words = log_p.topk(wide, dim=1)  # (B, K)
    scores = F.pad(scores, (0, beams - wide), value=-torch.inf)
    words = F.pad(words, (0, beams - wide), value=END)
    rows = torch.arange(len(words), device=words.device)[:, None]
    state = tuple(part.repeat_interleave(beams, dim=0) for part in state)  # (B * K, ...)
    written = words[..., None]  # (B, K, T)
    for _ in range(length - 1):
        last = written[..., -1]
        over = (last == END) | (last == PAD)
        if over[:, 0].all():  # scores only fall: a finished best sentence remains the best
            break
        logits, state = step(last.flatten(), state)
        log_p = _log_probabilities(logits, forbidden).unflatten(0, last.shape)
        log_p = log_p.masked_fill(over[..., None], -torch.inf)
        log_p[..., PAD] = torch.where(over, 0.0, log_p[..., PAD])
        best, ids = log_p.topk(wide, dim=2)  # what none of them has, the beam cannot need
        scores, places = (scores[..., None] + best).flatten(1).topk(beams, dim=1)
        parents = places // wide
        chosen = ids.flatten(1).gather(1, places)
        written = torch.cat([written[rows, parents], chosen[..., None]], dim=2)
        moved = (rows * beams + parents).flatten()
        state = tuple(part[moved] for part in state)
    return written[:, 0]


def _log_probabilities(logits: Tensor, forbidden: Sequence[int]) -> Tensor:
    log_p = logits.float().log_softmax(dim=-1)
    if forbidden:
        log_p[..., list(forbidden)] = -torch.inf
    return log_p
