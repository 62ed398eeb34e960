"""Delete and retrieve: the first real system, with a lexicon and no neural network.

Words that mark the source style are deleted; the target-style sentence whose remaining content is
most alike is retrieved; its style words fill the gap. This is the template-based system of
Li, Jia, He and Liang (2018), "Delete, Retrieve, Generate", sections 3.1, 3.2 and 3.3.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from ..datasets_scripts.cleaning import paper_v1
from ..errors import InputError, MissingFileError
from ..files import read_text, write_json
from ..metrics.text import language_model_texts

Ngram = tuple[str, ...]
CONFIG_FILE, MODEL_FILE = "config.json", "lexicon.json"

# Above which salience an n-gram is a marker. Yelp and Amazon: Li et al. 2018, section 4.3; mini: so
# that a word seen three times in one style and never in the other is one.
GAMMA = {"yelp": 15.0, "amazon": 5.5, "mini": 3.5}


@dataclass(frozen=True, kw_only=True)
class DeleteRetrieveConfig:
    """Settings, with the paper's names.

    Attributes:
        gamma: salience above which an n-gram is a style marker; see :data:`GAMMA`.
        smoothing: lambda, added to both counts.
        max_ngram: longest marker, in words.
        min_salience: a sentence without any marker loses its most salient n-gram, if that is at
            least this salient; below, the sentence is copied.
    """

    gamma: float = 5.0
    smoothing: float = 1.0
    max_ngram: int = 4
    min_salience: float = 3.0


@dataclass(frozen=True)
class Deletion:
    """A sentence without its markers: content words, markers, and where the first one stood."""

    content: tuple[str, ...]
    markers: tuple[Ngram, ...]
    position: int


@dataclass(frozen=True)
class DeleteRetrieve:
    """A trained system for one direction.

    Attributes:
        config: its settings.
        source_salience: n-grams of the source style and their salience (Li et al., equation 1).
        target_salience: those of the target style.
        memory: target-style training sentences, tokenised, to retrieve from.
    """

    config: DeleteRetrieveConfig
    source_salience: dict[Ngram, float]
    target_salience: dict[Ngram, float]
    memory: tuple[str, ...]

    @classmethod
    def train(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        config: DeleteRetrieveConfig = DeleteRetrieveConfig(),
    ) -> DeleteRetrieve:
        """Learn the two lexicons from sentences of the two styles.

        Raises:
            InputError: a style has no sentences.
        """
        if not source or not target:
            raise InputError("delete-retrieve needs training sentences of both styles")
        texts = language_model_texts(source), language_model_texts(target)
        counts = [_count(some, config.max_ngram) for some in texts]
        return cls(
            config,
            _salience(counts[0], counts[1], config),
            _salience(counts[1], counts[0], config),
            tuple(dict.fromkeys(texts[1])),
        )

    def transfer(self, sources: Sequence[str]) -> list[str]:
        """Delete, retrieve, fill; a sentence without any style word is copied."""
        if not sources:
            return []
        deletions = [self._delete(text) for text in language_model_texts(sources)]
        found = self._retrieve([" ".join(d.content) for d in deletions])
        return [
            _fill(deletion, self._memory_deletions[row]) if deletion.markers else source
            for source, deletion, row in zip(sources, deletions, found, strict=True)
        ]

    def save_pretrained(self, folder: Path | str) -> None:
        """Write config and lexicons as JSON."""
        folder = Path(folder)
        write_json(
            folder / MODEL_FILE,
            {
                "source": {" ".join(k): v for k, v in self.source_salience.items()},
                "target": {" ".join(k): v for k, v in self.target_salience.items()},
                "memory": self.memory,
            },
        )
        write_json(folder / CONFIG_FILE, asdict(self.config))

    @classmethod
    def from_pretrained(cls, folder: Path | str) -> DeleteRetrieve:
        """Read back what :meth:`save_pretrained` wrote.

        Raises:
            MissingFileError: no such folder, or not one of ours.
            InputError: a file that is not what was written.
        """
        folder = Path(folder)
        for name in (CONFIG_FILE, MODEL_FILE):
            if not (folder / name).is_file():
                raise MissingFileError(f"{folder} holds no delete-retrieve system: no {name}")
        try:
            model = json.loads(read_text(folder / MODEL_FILE))
            return cls(
                DeleteRetrieveConfig(**json.loads(read_text(folder / CONFIG_FILE))),
                {tuple(k.split(" ")): float(v) for k, v in model["source"].items()},
                {tuple(k.split(" ")): float(v) for k, v in model["target"].items()},
                tuple(model["memory"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{folder} holds no delete-retrieve system: {error!r}") from error

    def _delete(self, text: str) -> Deletion:
        words = tuple(text.split())
        deletion = _delete_markers(words, self.source_salience, self.config)
        if deletion.markers:
            return deletion
        salient = [
            (self.source_salience.get(ngram, 0.0), -start, -len(ngram))
            for start, ngram in _ngrams(words, self.config.max_ngram)
        ]
        best, start, size = max(salient, default=(0.0, 0, 0))
        if best < self.config.min_salience or -size == len(words):
            return Deletion(words, (), 0)
        first, last = -start, -start - size
        return Deletion(words[:first] + words[last:], (words[first:last],), first)

    @cached_property
    def _memory_deletions(self) -> tuple[Deletion, ...]:
        """The retrievable sentences, those with a marker to give, without their markers."""
        deletions = (
            _delete_markers(tuple(text.split()), self.target_salience, self.config)
            for text in self.memory
        )
        usable = tuple(d for d in deletions if d.markers)
        if not usable:
            raise InputError(
                f"no training sentence has a word of salience {self.config.gamma:g} for the target "
                "style: lower gamma, or train on more sentences"
            )
        return usable

    @cached_property
    def _index(self) -> tuple[TfidfVectorizer, csr_matrix]:
        contents = [" ".join(d.content) for d in self._memory_deletions]
        vectorizer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
        return vectorizer, vectorizer.fit_transform(contents)

    def _retrieve(self, contents: Sequence[str]) -> np.ndarray:
        vectorizer, memory = self._index
        similarity = vectorizer.transform(contents) @ memory.T
        return np.asarray(similarity.argmax(axis=1)).reshape(-1)


def _ngrams(words: Sequence[str], longest: int) -> Iterator[tuple[int, Ngram]]:
    for start in range(len(words)):
        for size in range(1, min(longest, len(words) - start) + 1):
            yield start, tuple(words[start : start + size])


def _count(texts: Iterable[str], longest: int) -> Counter[Ngram]:
    return Counter(ngram for text in texts for _, ngram in _ngrams(text.split(), longest))


def _salience(
    own: Counter[Ngram], other: Counter[Ngram], config: DeleteRetrieveConfig
) -> dict[Ngram, float]:
    """Salience of the n-grams that can matter; the others would fill the disk for nothing."""
    least = min(config.gamma, config.min_salience)
    values = (
        (ngram, (count + config.smoothing) / (other[ngram] + config.smoothing))
        for ngram, count in own.items()
    )
    return {ngram: value for ngram, value in values if value >= least}


def _delete_markers(
    words: tuple[str, ...], salience: dict[Ngram, float], config: DeleteRetrieveConfig
) -> Deletion:
    """Greedy from left to right, the longest marker first; at least one word stays."""
    content: list[str] = []
    markers: list[Ngram] = []
    position = start = 0
    while start < len(words):
        for size in range(min(config.max_ngram, len(words) - start), 0, -1):
            ngram = words[start : start + size]
            if salience.get(ngram, 0.0) > config.gamma:
                if not markers:
                    position = len(content)
                markers.append(ngram)
                start += size
                break
        else:
            content.append(words[start])
            start += 1
    return Deletion(tuple(content), tuple(markers), position) if content else Deletion(words, (), 0)


def _fill(deletion: Deletion, retrieved: Deletion) -> str:
    filling = [word for marker in retrieved.markers for word in marker]
    before, after = deletion.content[: deletion.position], deletion.content[deletion.position :]
    return paper_v1(" ".join([*before, *filling, *after]))
