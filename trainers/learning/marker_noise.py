"""Noise on markers: others of the same style take their place, so that a decoder must fit them in.

Li et al. (NAACL 2018), "Delete, Retrieve, Generate", section 3.3.3. While it learns, a sentence's
markers fit its content perfectly; retrieved ones do not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .markers import Ngram

_ANY = ""  # stands for one word of an n-gram


@dataclass(frozen=True)
class EditNoise:
    """Replaces each marker, with a probability, by one at word-level edit distance 1.

    Attributes:
        markers: of one style.
        rate: the probability.
    """

    markers: tuple[Ngram, ...]
    rate: float

    def __call__(self, markers: Sequence[Ngram], random: np.random.Generator) -> tuple[Ngram, ...]:
        """A sentence's markers, with noise."""
        return tuple(
            self._other(one, random) if random.random() < self.rate else one for one in markers
        )

    def neighbours(self, marker: Ngram) -> list[Sequence[Ngram]]:
        """Markers one substitution, insertion or deletion away, in pools; ``marker`` is in some."""
        shorter = [marker[:i] + marker[i + 1 :] for i in range(len(marker))]
        pools: list[Sequence[Ngram]] = [
            self._by_pattern.get(pattern, ()) for pattern in _patterns(marker)
        ]
        pools.append([one for one in dict.fromkeys(shorter) if one in self._known])
        pools.append(self._longer.get(marker, ()))
        return pools

    def _other(self, marker: Ngram, random: np.random.Generator) -> Ngram:
        pools = self.neighbours(marker)
        ends = np.cumsum([len(pool) for pool in pools])
        own = sum(pool.count(marker) for pool in pools[: len(marker)])
        if ends[-1] == own:  # nothing is that close
            return marker
        while True:
            drawn = int(random.integers(ends[-1]))
            pool = int(np.searchsorted(ends, drawn, side="right"))
            found = pools[pool][drawn - (int(ends[pool - 1]) if pool else 0)]
            if found != marker:
                return found

    @cached_property
    def _known(self) -> frozenset[Ngram]:
        return frozenset(self.markers)

    @cached_property
    def _by_pattern(self) -> Mapping[Ngram, list[Ngram]]:
        """Markers that agree except in one place."""
        return _grouped((pattern, one) for one in self.markers for pattern in _patterns(one))

    @cached_property
    def _longer(self) -> Mapping[Ngram, list[Ngram]]:
        """Markers that become this n-gram without one word."""
        return _grouped(
            (short, one)
            for one in self.markers
            for short in dict.fromkeys(one[:i] + one[i + 1 :] for i in range(len(one)))
        )


@dataclass(frozen=True)
class SharedWordNoise:
    """Replaces all markers of a sentence, with a probability, by those of a similar sentence.

    The released port's noise: of the style's sentences with other markers, one of those that share
    the most words with these is drawn.

    Attributes:
        sentences: the markers of each training sentence of one style.
        rate: the probability.
    """

    sentences: tuple[tuple[Ngram, ...], ...]
    rate: float

    def __call__(self, markers: Sequence[Ngram], random: np.random.Generator) -> tuple[Ngram, ...]:
        """A sentence's markers, with noise."""
        if random.random() >= self.rate:
            return tuple(markers)
        own = {word for marker in markers for word in marker}
        shared = Counter(row for word in sorted(own) for row in self._by_word.get(word, ()))
        others = {row: n for row, n in shared.items() if self._words[row] != own}
        if not others:
            return tuple(markers)
        most = max(others.values())
        best = sorted(row for row, n in others.items() if n == most)
        return self._distinct[best[int(random.integers(len(best)))]]

    @cached_property
    def _distinct(self) -> tuple[tuple[Ngram, ...], ...]:
        return tuple(dict.fromkeys(self.sentences))

    @cached_property
    def _words(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(w for marker in some for w in marker) for some in self._distinct)

    @cached_property
    def _by_word(self) -> Mapping[str, list[int]]:
        found = defaultdict(list)
        for row, words in enumerate(self._words):
            for word in words:
                found[word].append(row)
        return found


def _patterns(marker: Ngram) -> list[Ngram]:
    return [(*marker[:i], _ANY, *marker[i + 1 :]) for i in range(len(marker))]


def _grouped(pairs: Iterable[tuple[Ngram, Ngram]]) -> Mapping[Ngram, list[Ngram]]:
    found = defaultdict(list)
    for key, one in pairs:
        found[key].append(one)
    return found
