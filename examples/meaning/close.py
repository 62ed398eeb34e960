"""Words of nearly the same meaning, as an encoder sees them alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tstbench.metrics.scorers.encoder import TransformerEncoder

from .phrases import NUMBERS, STOP
from .slots import slots
from .thesaurus import thesaurus

_NEARLY = 0.72  # cosine from which two words may stand for each other
_RELATED = 0.55  # cosine from which a replacement would be no clear change


class Close:
    """Cosines of single words.

    Args:
        words: V words.
        vectors: their unit vectors, shape (V, D).
    """

    def __init__(self, words: Sequence[str], vectors: np.ndarray) -> None:
        self._words, self._vectors = list(words), vectors
        self._index = {word: i for i, word in enumerate(words)}
        self._memory: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of_words(cls, words: Sequence[str], encoder: TransformerEncoder) -> Close:
        """The content words among some words, encoded one by one."""
        content = [word for word in words if word.isalpha() and len(word) > 2 and word not in STOP]
        return cls(content, encoder.sentence_vectors(content))

    def of(self, word: str) -> tuple[str, ...]:
        """At most four words that nearly mean the same; never a known opposite."""
        # Names of one kind are close too: a day to another day, a number to another one.
        if word not in self._index or word in slots().other or word in NUMBERS:
            return ()
        if word not in self._memory:
            opposites = {
                *thesaurus().opposite.get(word, ()),
                *thesaurus().other_opinion.get(word, ()),
            }
            cosines = self._vectors @ self._vectors[self._index[word]]
            best = [int(i) for i in np.argsort(-cosines)[1:5] if cosines[i] >= _NEARLY]
            found = (self._words[i] for i in best)
            self._memory[word] = tuple(one for one in found if one not in opposites)
        return self._memory[word]

    def related(self, word: str, other: str) -> bool:
        """Whether two words are too alike for a clear change of meaning."""
        if word not in self._index or other not in self._index:
            return False
        one, two = self._index[word], self._index[other]
        return float(self._vectors[one] @ self._vectors[two]) >= _RELATED
