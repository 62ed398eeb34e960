"""Whether rewrites stand in the order of their sources, seen from the words that they share.

A rewrite keeps most of the words that carry the content. So an output is nearer to its own source
than to the others, by the cosine of word counts in which rare words weigh more. Neither a model nor
a reference is needed. The rewrites are a system's outputs, or people's references.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from .suspicious_form import Suspicion

_WORD = re.compile(r"\w+")
_MOST_ROWS = 1000  # outputs that are compared with all sources; of more, evenly spaced ones
_BLOCK = 1 << 22  # similarities held in memory at a time

_RELATED = 3.0  # times the similarity of unrelated lines: see `pipelines/output_checks.py`
_UNRELATED = 1.5  # the same, of lines that share a language (a chance of 0.02 to 0.07) and no more
_LEAST_CHANCE = 0.015
_NEAR = 0.5  # cosine from which another source counts as the one that was rewritten
_SHIFTS = (1, 2, 3, -1, -2, -3)
_SHIFT_GAIN = 4.0  # sum over a run of lines of what they are nearer to their shifted sources
_MIRRORED = 0.2  # share of the lines
_MISPLACED = 0.2
_SORTED = 0.95  # neighbours in alphabetical order
_SHOWN = 3  # line numbers in a message


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
    def is_unrelated(self) -> bool:
        """Whether they are in one language, and no nearer than unrelated lines are."""
        return self.chance >= _LEAST_CHANCE and self.own.mean() < _UNRELATED * self.chance

    @property
    def is_misplaced(self) -> bool:
        """Whether many of the outputs are :attr:`misplaced`."""
        return float(self.misplaced.mean()) >= _MISPLACED

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
        split = split_by(characters)
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


@dataclass(frozen=True)
class Rewrites:
    """N texts that should each rewrite the source on the same line.

    Attributes:
        texts, sources: as many of each.
        characters: see :class:`LineOrder`.
        noun: what a message calls the texts.
        number: the line of a text in its file, from 1, by its index.
    """

    texts: Sequence[str]
    sources: Sequence[str]
    characters: bool = False
    noun: str = "outputs"
    number: Callable[[int], int] = lambda index: index + 1

    def share(self, lines: Sequence[int]) -> str:
        """``3 of 40 outputs``"""
        return f"{len(lines)} of {len(self.texts)} {self.noun}"

    def where(self, lines: Sequence[int]) -> str:
        """The first of the lines, by number."""
        if len(lines) == len(self.texts):
            return "all lines"
        shown = ", ".join(str(self.number(line)) for line in lines[:_SHOWN])
        more = f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        return f"line{'s' * (len(lines) > 1)} {shown}{more}"

    def disorder(
        self,
        what_to_do: str,
        should_be_related: Callable[[Likeness], bool],
        others: Iterable[tuple[str, Sequence[str], str]],
    ) -> Suspicion | None:
        """Whether the texts stand in another order than the sources, or belong to others.

        Args:
            what_to_do: to put them in order.
            should_be_related: whether texts that are not near their sources are a fault.
            others: what else they could rewrite: its name, its sentences, and what to do then.
        """
        order = LineOrder(self.texts, self.sources, characters=self.characters)
        like = order.likeness()
        shift = order.shift(like.chance)
        misplaced = like.lines[like.misplaced].tolist()
        if shift is not None:
            lines = "line" if abs(shift.by) == 1 else "lines"
            where = f"from line {self.number(shift.first)} to line {self.number(shift.last)}"
            side = "early" if shift.by > 0 else "late"
            what = f"the {self.noun} are {abs(shift.by)} {lines} too {side}"
            return Suspicion(what, where, what_to_do)
        if like.is_reversed:
            what = f"the {self.noun} are in reverse order"
        elif like.is_related:
            if not like.is_misplaced:
                return None
            what = f"{self.share(misplaced)} are nearer to the source of another line"
            return Suspicion(what, self.where(misplaced), what_to_do)
        elif not should_be_related(like):
            return None
        elif _is_sorted(self.texts):
            what = f"the {self.noun} are sorted by the alphabet"
        elif other := next((one for one in others if self._rewrites(one[1])), None):
            name, _, what_to_do = other
            what = f"the {self.noun} are rewrites of {name}"
        elif like.is_misplaced:
            what = f"the {self.noun} are in another order than the sources"
            return Suspicion(what, self.where(misplaced), what_to_do)
        else:
            what = (
                f"the {self.noun} have no more words in common with their own sources than with "
                "any others"
            )
            what_to_do = "check that they are rewrites of these sentences, in their order"
        return Suspicion(what, "all lines", what_to_do)

    def _rewrites(self, sources: Sequence[str]) -> bool:
        order = LineOrder(self.texts, sources, characters=self.characters)
        return order.likeness().is_related


def _is_sorted(texts: Sequence[str]) -> bool:
    """Whether a tool sorted the lines: by bytes, or as a dictionary does."""
    for key in (str, str.casefold, lambda text: "".join(words(text))):
        steps = [(a < b) for a, b in pairwise(map(key, texts)) if a != b]
        in_order = max(steps.count(True), steps.count(False))
        if in_order >= max(_SORTED * len(steps), len(texts) / 2):
            return True
    return False


def split_by(characters: bool) -> Callable[[str], list[str]]:
    """How texts are split to be compared: into words, or into characters and pairs of them."""
    return _pairs if characters else words


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
