"""Delete and retrieve: a simple but real system, with a lexicon and no neural network.

Words that mark the source style are deleted; the target-style sentence whose remaining content is
most similar is retrieved; its style words fill the gap. This is the template-based system of
Li, Jia, He and Liang (2018), "Delete, Retrieve, Generate", sections 3.1, 3.2 and 3.3.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from ..datasets_scripts.catalog import language_of
from ..datasets_scripts.cleaning import Cleaning
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData
from ..errors import InputError, MissingFileError
from ..files import read_text, write_json
from ..metrics.text import preparation
from ..settings import Count, Positive, setting
from .card import Family
from .markers import (
    GAMMA,
    ContentIndex,
    Deletion,
    Ngram,
    count_ngrams,
    delete_markers,
    ngrams,
    salience,
)
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.run import IN_MEMORY, Run

MODEL_FILE = "lexicon.json"


@dataclass(frozen=True, kw_only=True)
class DeleteRetrieveConfig(SystemConfig):
    """Settings, with the paper's names."""

    gamma: Positive = setting(
        5.0, "salience above which an n-gram marks a style; Yelp 15, Amazon 5.5"
    )
    smoothing: Positive = setting(1.0, "lambda, added to both counts")
    max_ngram: Count = setting(4, "the longest marker, in words")
    min_salience: Positive = setting(
        3.0,
        "a sentence without a marker loses its most salient n-gram, if that is at "
        "least this salient; otherwise the sentence is copied",
    )

    @classmethod
    def for_direction(cls, direction: Direction) -> DeleteRetrieveConfig:
        """The paper's gamma if it gives one, see :data:`GAMMA`."""
        return cls(gamma=GAMMA.get(direction.dataset, cls().gamma))


@dataclass(frozen=True)
class DeleteRetrieve(System):
    """Exchanges style words for those of the most similar sentence.

    Attributes:
        card: its settings and training data.
        source_salience: n-grams of the source style and their salience (Li et al., equation 1).
        target_salience: those of the target style.
        memory: target-style training sentences, tokenised, to retrieve from.
    """

    KIND: ClassVar[str] = "delete-retrieve"
    FAMILY: ClassVar[Family] = "rule"
    ORIGIN: ClassVar[str] = "TSTBench baseline, after the template-based system of Li et al. (2018)"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("nltk", "scikit-learn")
    Config: ClassVar[type[SystemConfig]] = DeleteRetrieveConfig

    card: SystemCard
    source_salience: dict[Ngram, float]
    target_salience: dict[Ngram, float]
    memory: tuple[str, ...]

    @classmethod
    def train(
        cls,
        data: TrainingData,
        config: DeleteRetrieveConfig,
        run: Run = IN_MEMORY,  # noqa: ARG003 - it takes seconds
    ) -> DeleteRetrieve:
        """Learn the two lexicons from sentences of the two styles.

        Its score is the share of validation sentences in which it finds something to delete.

        Raises:
            InputError: a style has no sentences.
        """
        source, target = data.train.source, data.train.target
        if not source or not target:
            raise InputError("delete-retrieve needs training sentences of both styles")
        prepare = preparation(language_of(data.direction)).for_language_model
        texts = prepare(source), prepare(target)
        counts = [count_ngrams(some, config.max_ngram) for some in texts]
        least = min(config.gamma, config.min_salience)
        system = cls(
            cls.planned(data, config),
            salience(counts[0], counts[1], config.smoothing, least),
            salience(counts[1], counts[0], config.smoothing, least),
            tuple(dict.fromkeys(texts[1])),
        )
        if data.validation is None or not data.validation.source:
            return system
        unseen = prepare(data.validation.source)
        marked = sum(bool(system._delete(text).markers) for text in unseen) / len(unseen)
        return replace(system, card=replace(system.card, scores={"marked": round(marked, 6)}))

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """Delete, retrieve, fill; a sentence without any style word is copied."""
        text = preparation(language_of(task.direction))
        deletions = [
            self._delete(tokens) for tokens in text.for_language_model([r.source for r in batch])
        ]
        found = self._index.nearest([" ".join(d.content) for d in deletions])[:, 0]
        return [
            _fill(deletion, self._memory_deletions[row], text.cleaning)
            if deletion.markers
            else request.source
            for request, deletion, row in zip(batch, deletions, found, strict=True)
        ]

    def write(self, folder: Path) -> None:
        """Write the lexicons and the memory as JSON."""
        write_json(
            folder / MODEL_FILE,
            {
                "source": {" ".join(k): v for k, v in self.source_salience.items()},
                "target": {" ".join(k): v for k, v in self.target_salience.items()},
                "memory": self.memory,
            },
        )

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> DeleteRetrieve:  # noqa: ARG003
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format.
        """
        try:
            model = json.loads(read_text(folder / MODEL_FILE))
            return cls(
                card,
                {tuple(k.split(" ")): float(v) for k, v in model["source"].items()},
                {tuple(k.split(" ")): float(v) for k, v in model["target"].items()},
                tuple(model["memory"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, MissingFileError) as error:
            raise InputError(f"{folder} is not a delete-retrieve system: {error!r}") from error

    def _delete(self, text: str) -> Deletion:
        words = tuple(text.split())
        gamma, longest = self.config.gamma, self.config.max_ngram
        deletion = delete_markers(words, self.source_salience, gamma, longest)
        if deletion.markers and deletion.content:
            return deletion
        salient = [
            (self.source_salience.get(ngram, 0.0), -start, -len(ngram))
            for start, ngram in ngrams(words, longest)
        ]
        best, start, size = max(salient, default=(0.0, 0, 0))
        if best < self.config.min_salience or -size == len(words):
            return Deletion(words, (), 0)
        first, last = -start, -start - size
        return Deletion(words[:first] + words[last:], (words[first:last],), first)

    @cached_property
    def _memory_deletions(self) -> tuple[Deletion, ...]:
        """The retrievable sentences (those that have markers), without their markers."""
        gamma, longest = self.config.gamma, self.config.max_ngram
        deletions = (
            delete_markers(tuple(text.split()), self.target_salience, gamma, longest)
            for text in self.memory
        )
        usable = tuple(d for d in deletions if d.markers and d.content)
        if not usable:
            raise InputError(
                f"no training sentence has a word of salience {self.config.gamma:g} for the target "
                "style: lower gamma, or train on more sentences"
            )
        return usable

    @cached_property
    def _index(self) -> ContentIndex:
        return ContentIndex.of([" ".join(d.content) for d in self._memory_deletions])


def _fill(deletion: Deletion, retrieved: Deletion, clean: Cleaning) -> str:
    before, after = deletion.content[: deletion.position], deletion.content[deletion.position :]
    return clean(" ".join([*before, *retrieved.marker_words, *after]))
