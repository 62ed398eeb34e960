"""What a style's training sentences are to DAR: its markers, and contents to retrieve from."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ...files import read_text, temporary_folder, write_json
from .content_index import ContentIndex, highest
from .markers import Deletion, Ngram, delete_markers

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
        from ...metrics.scorers.language_model import NgramLanguageModel
        from ..language_model import train_language_model

        with temporary_folder() as folder:
            return NgramLanguageModel(train_language_model(self.sentences, folder))


def _text(content: Sequence[str]) -> str:
    """A content to search by; one without words is like others without words (released: EMPTY)."""
    return " ".join(content) or "<empty>"


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray = vectors / np.maximum(norms, 1e-12)
    return unit
