"""Whether outputs stand in the order of their sources, seen from the words that they share.

A rewrite keeps most of the words that carry the content. So an output is nearer to its own source
than to the others, by the cosine of word counts in which rare words weigh more. Neither a model nor
a reference is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

_WORD = re.compile(r"\w+")
_MOST_ROWS = 1000  # outputs that are compared with all sources; of more, evenly spaced ones
_BLOCK = 1 << 22  # similarities held in memory at a time

_RELATED = 3.0  # times the similarity of unrelated lines: see `suspicion.py` for the figures
_NEAR = 0.5  # cosine from which another source counts as the one that was rewritten
_SHIFTS = (1, 2, 3, -1, -2, -3)
_SHIFT_GAIN = 4.0  # sum over a run of lines of what they are nearer to their shifted sources
_MIRRORED = 0.2  # share of the lines


@dataclass(frozen=True)
class Likeness:
    """How similar outputs are to their own sources and to the others, by cosine.

    Attributes:
        lines: (M,) indices of the compared outputs, ascending.
        own: (M,) similarity to the output's own source.
        best: (M,) the highest similarity to another source.
        place: (M,) the index of that source.
        chance: mean similarity to all other sources: that of unrelated lines.
    """

    lines: np.ndarray
    own: np.ndarray
    best: np.ndarray
    place: np.ndarray
    chance: float

    @property
    def is_related(self) -> bool:
        """Whether the outputs are clearly nearer to their own sources than unrelated lines are."""
        return float(self.own.mean()) >= _RELATED * self.chance

    @property
    def misplaced(self) -> np.ndarray:
        """(M,) whether an output is near another source, and far from its own."""
        return (self.best >= _NEAR) & (self.own < self.best / 2)

    @property
    def is_reversed(self) -> bool:
        """Whether the last output belongs to the first source, and so on."""
        mirrored = self.misplaced & (self.place + self.lines == self.lines[-1])
        return float(mirrored.mean()) >= _MIRRORED


@dataclass(frozen=True)
class Shift:
    """A run of outputs that belong to the sources ``by`` lines further down (negative: up)."""

    first: int  # index of the first and the last line of the run
    last: int
    by: int


class LineOrder:
    """N outputs beside N sources.

    Args:
        outputs, sources: as many of each.
        characters: compare pairs of characters, for languages without spaces between words.
    """

    def __init__(
        self, outputs: Sequence[str], sources: Sequence[str], *, characters: bool = False
    ) -> None:
        split = _pairs if characters else words
        texts = [split(source) for source in sources]
        spread = Counter(word for text in texts for word in set(text))
        columns = {word: number for number, word in enumerate(spread)}
        rarity = 1 + np.log((1 + len(texts)) / (1 + np.fromiter(spread.values(), float)))
        self._sources = _rows(texts, columns, rarity)
        self._outputs = _rows([split(output) for output in outputs], columns, rarity)

    def likeness(self) -> Likeness:
        """Compare the outputs, in a long file some of them, with all sources."""
        count = self._sources.shape[0]
        lines = np.linspace(0, count - 1, min(count, _MOST_ROWS)).round().astype(int)
        own, best = np.empty(len(lines)), np.empty(len(lines))
        place = np.empty(len(lines), dtype=int)
        total = 0.0
        step = max(1, _BLOCK // count)
        for start in range(0, len(lines), step):
            rows = slice(start, start + step)
            block = (self._outputs[lines[rows]] @ self._sources.T).toarray()
            total += block.sum()
            at = (np.arange(len(block)), lines[rows])
            own[rows] = block[at]
            block[at] = -1.0
            place[rows] = block.argmax(axis=1)
            best[rows] = block.max(axis=1)
        chance = (total - own.sum()) / max(1, len(lines) * (count - 1))
        return Likeness(lines, own, best, place, float(chance))

    def shift(self, chance: float) -> Shift | None:
        """The run of lines that are most clearly shifted by a few lines, if it is no accident.

        A run is where the sum of the differences, similarity to the shifted source less similarity
        to the own one, is largest: lines that share no words with either do not end it.

        Args:
            chance: the similarity of unrelated lines.
        """
        count = self._sources.shape[0]
        own = _similarities(self._outputs, self._sources)
        found, most = None, _SHIFT_GAIN
        for by in (by for by in _SHIFTS if abs(by) < count):
            there = slice(max(0, -by), count - max(0, by))
            shifted = np.zeros(count)
            shifted[there] = _similarities(
                self._outputs[there], self._sources[max(0, by) : count - max(0, -by)]
            )
            sums = np.concatenate([[0.0], np.cumsum(shifted - own)])
            gains = sums - np.minimum.accumulate(sums)
            end = int(gains.argmax())
            first = int(sums[: end + 1].argmin())
            if gains[end] > most and shifted[first:end].mean() >= _RELATED * chance:
                found, most = Shift(first, end - 1, by), float(gains[end])
        return found


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def _pairs(text: str) -> list[str]:
    """The characters of a text and their neighbouring pairs."""
    letters = "".join(words(text))
    return [*letters, *(a + b for a, b in pairwise(letters))]


def _similarities(some: csr_array, others: csr_array) -> np.ndarray:
    """The similarity of each row to the same row of the others."""
    return np.asarray((some * others).sum(axis=1)).ravel()


def _rows(texts: Sequence[Sequence[str]], columns: dict[str, int], rarity: np.ndarray) -> csr_array:
    """Texts as rows of unit length; a column is a word, and unknown words are left out."""
    indices: list[int] = []
    counts: list[int] = []
    ends = [0]
    for text in texts:
        for word, count in Counter(text).items():
            if word in columns:
                indices.append(columns[word])
                counts.append(count)
        ends.append(len(indices))
    values = (1 + np.log(np.array(counts, dtype=float))) * rarity[np.array(indices, dtype=int)]
    owner = np.repeat(np.arange(len(texts)), np.diff(ends))
    lengths = np.sqrt(np.bincount(owner, weights=values**2, minlength=len(texts)))
    values /= lengths[owner]
    return csr_array((values, indices, ends), shape=(len(texts), len(columns)))
