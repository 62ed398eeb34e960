"""Style markers: the n-grams that occur far more often in one style, and sentences without them.

Li, Jia, He and Liang (NAACL 2018), "Delete, Retrieve, Generate", section 3.1.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..files import read_text, temporary_folder, write_json

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

Ngram = tuple[str, ...]

# The salience above which an n-gram is a marker. Yelp, Amazon: Li et al. 2018, section 4.3; mini:
# so that a word seen three times in one style and never in the other is a marker.
GAMMA = {"yelp": 15.0, "amazon": 5.5, "mini": 3.5}


@dataclass(frozen=True)
class Deletion:
    """A sentence without its markers: content words, markers, and where the first one was."""

    content: tuple[str, ...]
    markers: tuple[Ngram, ...]
    position: int

    @property
    def marker_words(self) -> tuple[str, ...]:
        """All words of the markers, in their order."""
        return tuple(word for marker in self.markers for word in marker)


def ngrams(words: Sequence[str], longest: int) -> Iterator[tuple[int, Ngram]]:
    """Every n-gram of at most ``longest`` words, with the place of its first word."""
    for start in range(len(words)):
        for size in range(1, min(longest, len(words) - start) + 1):
            yield start, tuple(words[start : start + size])


def count_ngrams(texts: Iterable[str], longest: int) -> Counter[Ngram]:
    """How often each n-gram occurs in tokenised texts."""
    return Counter(ngram for text in texts for _, ngram in ngrams(text.split(), longest))


def salience(
    own: Counter[Ngram], other: Counter[Ngram], smoothing: float, least: float
) -> dict[Ngram, float]:
    """Equation 1: the smoothed ratio of an n-gram's counts in the two styles.

    N-grams below ``least`` are left out: storing them would waste space.

    >>> salience(Counter({("bad",): 3, ("the",): 2}), Counter({("the",): 2}), 1.0, 2.0)
    {('bad',): 4.0}
    """
    values = (
        (ngram, (count + smoothing) / (other[ngram] + smoothing)) for ngram, count in own.items()
    )
    return {ngram: value for ngram, value in values if value >= least}


def delete_markers(
    words: tuple[str, ...], salient: Mapping[Ngram, float], gamma: float, longest: int
) -> Deletion:
    """Delete greedily from left to right, the longest marker first, even if nothing stays.

    Args:
        words: of a sentence.
        salient: n-grams and their salience.
        gamma: an n-gram above it is a marker.
        longest: words of the longest marker.
    """
    content: list[str] = []
    markers: list[Ngram] = []
    position = start = 0
    while start < len(words):
        for size in range(min(longest, len(words) - start), 0, -1):
            ngram = words[start : start + size]
            if salient.get(ngram, 0.0) > gamma:
                if not markers:
                    position = len(content)
                markers.append(ngram)
                start += size
                break
        else:
            content.append(words[start])
            start += 1
    return Deletion(tuple(content), tuple(markers), position)


# Retrieval by content: the sentences whose TF-IDF vectors are closest.


@dataclass(frozen=True)
class ContentIndex:
    """Contents to search in: tokenised texts, as unit TF-IDF rows."""

    vectorizer: TfidfVectorizer
    memory: csr_matrix

    @classmethod
    def of(cls, contents: Sequence[str]) -> ContentIndex:
        """Index tokenised texts."""
        # Only now: it takes a second to import, and often the predictions exist.
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
        return cls(vectorizer, vectorizer.fit_transform(contents))

    def nearest(self, contents: Sequence[str], k: int = 1) -> np.ndarray:
        """Rows (B, K) of the closest texts, the closest first, ties in their order.

        K is ``k``, or the number of texts if there are fewer.
        """
        similarity = (self.vectorizer.transform(contents) @ self.memory.T).toarray()
        return highest(similarity, k)


def highest(similarity: np.ndarray, k: int) -> np.ndarray:
    """Columns (B, K) of the highest values of each row (B, N), ties in their order.

    >>> highest(np.array([[1.0, 3.0, 3.0]]), 2).tolist()
    [[1, 2]]
    """
    if k == 1:
        return np.asarray(similarity.argmax(axis=1))[:, None]
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


# What a style's training sentences are to DAR: its markers, and contents to retrieve from.


Vectors = Callable[[Sequence[Sequence[str]]], np.ndarray]


@dataclass(frozen=True)
class MarkerMemory:
    """The markers and the training sentences of one style.

    Attributes:
        style: its name.
        lexicon: markers, the most salient first.
        sentences: tokenised.
    """

    style: str
    lexicon: tuple[Ngram, ...]
    sentences: tuple[str, ...]

    @classmethod
    def of(
        cls,
        style: str,
        salient: Mapping[Ngram, float],
        sentences: Iterable[str],
        gamma: float,
        most: int | None,
    ) -> MarkerMemory:
        """Keep at most ``most`` n-grams above ``gamma``: the most salient, ties by spelling."""
        above = sorted((-value, ngram) for ngram, value in salient.items() if value > gamma)
        return cls(style, tuple(ngram for _, ngram in above[:most]), tuple(sentences))

    def deletion(self, text: str) -> Deletion:
        """A tokenised sentence of this style, without its markers."""
        return delete_markers(tuple(text.split()), self._salience, 0.0, self._longest)

    @cached_property
    def deletions(self) -> tuple[Deletion, ...]:
        """Of all sentences, in their order."""
        return tuple(self.deletion(text) for text in self.sentences)

    @cached_property
    def marked(self) -> tuple[Deletion, ...]:
        """Of the distinct sentences that have markers: what can be retrieved."""
        distinct = dict.fromkeys(zip(self.sentences, self.deletions, strict=True))
        return tuple(deletion for _, deletion in distinct if deletion.markers)

    def nearest(
        self, contents: Sequence[Sequence[str]], k: int, vectors: Vectors | None = None
    ) -> np.ndarray:
        """Which of :attr:`marked` have the closest contents: (B, K), the closest first.

        Args:
            contents: words of B sentences of the other style.
            k: how many of each.
            vectors: of contents, to compare by cosine; ``None``: TF-IDF.
        """
        if vectors is None:
            return self._index.nearest([_text(words) for words in contents], k)
        if "_vectors" not in self.__dict__:  # the network that gives them does not change
            self.__dict__["_vectors"] = _unit(vectors([d.content for d in self.marked]))
        similarity: np.ndarray = _unit(vectors(contents)) @ self.__dict__["_vectors"].T
        return highest(similarity, k)

    def likeliest(self, texts: Sequence[str]) -> str:
        """The text with the lowest perplexity for this style's n-gram model, ties in order."""
        costs = -self._language_model.log10_probability(texts)
        words = self._language_model.words(texts) + 1  # the end is one
        return texts[int(np.argmin(costs / words))]

    def save(self, path: Path) -> None:
        """Write JSON."""
        lexicon = [" ".join(ngram) for ngram in self.lexicon]
        write_json(path, {"style": self.style, "lexicon": lexicon, "sentences": self.sentences})

    @classmethod
    def load(cls, path: Path) -> MarkerMemory:
        """Read back what :meth:`save` wrote.

        Raises:
            ValueError, TypeError, KeyError, OSError: it does not have the written format.
        """
        content = json.loads(read_text(path))
        texts = [content["style"], *content["lexicon"], *content["sentences"]]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"{path.name}: not all of it is text")
        lexicon = tuple(tuple(text.split(" ")) for text in content["lexicon"])
        return cls(content["style"], lexicon, tuple(content["sentences"]))

    @cached_property
    def _salience(self) -> dict[Ngram, float]:
        return dict.fromkeys(self.lexicon, 1.0)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.lexicon), default=0)

    @cached_property
    def _index(self) -> ContentIndex:
        return ContentIndex.of([_text(d.content) for d in self.marked])

    @cached_property
    def _language_model(self):  # type: ignore[no-untyped-def]
        """Estimated when first asked: the same sentences give the same bits."""
        from ..metrics.scorers.language_model import NgramLanguageModel, train_language_model

        with temporary_folder() as folder:
            return NgramLanguageModel(train_language_model(self.sentences, folder))


def _text(content: Sequence[str]) -> str:
    """A content to search by; one without words is like others without words (released: EMPTY)."""
    return " ".join(content) or "<empty>"


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray = vectors / np.maximum(norms, 1e-12)
    return unit


# Noise on markers: others of the same style take their place, so that a decoder must fit them in.
#
# Li et al. (NAACL 2018), "Delete, Retrieve, Generate", section 3.3.3. While it learns, a sentence's
# markers fit its content perfectly; retrieved ones do not.


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
