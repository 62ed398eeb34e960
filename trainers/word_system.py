"""What word-level systems do alike: from sentences to ids and back, and to a folder and back.

A system of this kind has a vocabulary and networks that rewrite both ways. What differs is the
network, what trains it, and how it writes: :meth:`WordSystem.new_network`,
:meth:`WordSystem.learner` and :meth:`WordSystem.written`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from ..datasets_scripts.catalog import language_of
from ..datasets_scripts.load import TrainingData
from ..errors import InputError
from ..metrics.scorers.device import Device, Placement
from ..metrics.scorers.fitting import save_weights
from ..metrics.text import preparation
from ..settings import Count, Natural, read_settings, setting
from .card import Family
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.loop import Learner, learn
from .training.run import IN_MEMORY, Run
from .training.sampler import Both, Lengths, by_length
from .training.selection import Selection, Sides, check_sides, hold_out, selection
from .training.words import Vocabulary, padded

TOGETHER = 128  # sentences that are written at once


@dataclass(frozen=True, kw_only=True)
class WordConfig(SystemConfig):
    """How a corpus becomes words, and what is held out; see :class:`.word_system.WordSystem`.

    ``min_count`` and ``max_length`` have no default here: each paper has its own.
    """

    min_count: int
    max_length: int
    hold_out: Count = setting(500, "sentences of each style to choose weights with")
    seed: Natural = setting(0, "of everything random")

    @property
    def longest_row(self) -> int:
        """Ids of the longest sentence, its end included."""
        return self.max_length

    @property
    def most_words(self) -> int | None:
        """The most frequent words that are kept; ``None`` for all."""
        return None


@dataclass(frozen=True)
class Corpus:
    """Training sentences of two styles.

    Attributes:
        sentences: tokenised, by style (0: source, 1: target).
        vocabulary: of these sentences.
        rows: their ids, ``END`` last: those of the source style first.
        judge: scores rewrites of held-out sentences.
    """

    sentences: Sides
    vocabulary: Vocabulary
    rows: Sequence[Sequence[int]]
    judge: Selection

    @classmethod
    def of(
        cls,
        data: TrainingData,
        *,
        min_count: int,
        max_length: int,
        held_out: int,
        seed: int,
        max_words: int | None = None,
    ) -> Corpus:
        """Tokenise, hold sentences out and count words.

        Args:
            data: of one direction.
            min_count: occurrences that make a word.
            max_length: longest row, its end included; what is longer is cut.
            held_out: sentences of each style to choose weights with.
            seed: of what is held out and of the judge.
            max_words: the most frequent words that are kept; ``None`` for all.

        Raises:
            InputError: a style has no sentences, or too few.
        """
        check_sides(data, Sides(data.train.source, data.train.target))
        prepare = preparation(language_of(data.direction)).for_language_model
        train, held = hold_out(data, held_out, seed)
        sentences = Sides(*(tuple(prepare(side)) for side in train))
        tokens = [text.split() for side in sentences for text in side]
        vocabulary = Vocabulary.of(tokens, min_count, max_words)
        rows = [vocabulary.encode(words, max_length) for words in tokens]
        judge = selection(train, Sides(*(tuple(prepare(side)) for side in held)), seed)
        return cls(sentences, vocabulary, rows, judge)

    @property
    def n_source(self) -> int:
        """Rows of the source style."""
        return len(self.sentences.source)

    @property
    def lengths(self) -> Lengths:
        """Of the rows, by style."""
        lengths = [len(row) for row in self.rows]
        return lengths[: self.n_source], lengths[self.n_source :]

    def both(self, batch_size: int, seed: int, *, grouping: int = 1) -> Both:
        """Batches of ``batch_size`` sentences of each style; see :class:`Both`."""
        return Both(self.lengths, batch_size, seed, grouping)

    def batch(self, part: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
        """Right-padded ids (B, T) of these rows, and their styles (B)."""
        words = padded([self.rows[i] for i in part]).to(device)
        return words, torch.tensor(part >= self.n_source, device=device).long()


@dataclass(frozen=True)
class WordSystem(System):
    """One model for a pair of styles, which rewrites both ways.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        network: what rewrites.
    """

    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch",)
    BATCH_SIZE: ClassVar[int] = 512  # more than are written at once: they are sorted by length
    WEIGHTS: ClassVar[str] = "generator.safetensors"  # the file
    Config: ClassVar[type[WordConfig]]

    card: SystemCard
    vocabulary: Vocabulary
    network: Any

    @staticmethod
    @abstractmethod
    def new_network(n_words: int, config: Any) -> Any:
        """The network, with random weights."""

    @abstractmethod
    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""

    @abstractmethod
    def written(self, words: Tensor, style: int, settings: Any) -> Tensor:
        """The answers' ids (B, S) to ids (B, T) of the other style; no unknown word.

        Args:
            words: the sentences, padded.
            style: to write in (0: source, 1: target).
            settings: an instance of :attr:`Settings`.
        """

    @classmethod
    def train(cls, data: TrainingData, config: Any, run: Run = IN_MEMORY) -> Self:
        """Learn from the sentences of both styles; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences.
        """
        corpus = Corpus.of(
            data,
            min_count=config.min_count,
            max_length=config.longest_row,
            held_out=config.hold_out,
            seed=config.seed,
            max_words=config.most_words,
        )
        torch.manual_seed(config.seed)
        system = cls.begun(cls.planned(data, config), corpus, config)
        learned = learn(system.learner(corpus), run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @classmethod
    def begun(cls, card: SystemCard, corpus: Corpus, config: Any) -> Self:
        """A system that has learned nothing yet, for what learns from this corpus."""
        return cls(card, corpus.vocabulary, cls.new_network(len(corpus.vocabulary), config))

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return cast(torch.device, next(self.network.parameters()).device)

    def rows(self, sentences: Sequence[str]) -> list[list[int]]:
        """Ids of tokenised sentences, ``END`` last; what is too long is cut."""
        longest = self.config.longest_row
        return [self.vocabulary.encode(text.split(), longest) for text in sentences]

    def padded(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Ids (B, T) of these rows, on the network's device."""
        return padded(rows).to(self.device)

    def rewritten(self, sentences: Sequence[str], side: int, settings: Any = None) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style.

        ``settings``: an instance of :attr:`Settings`; by default, the usual ones.
        """
        how = self.Settings() if settings is None else settings
        rows = self.rows(sentences)

        def write(batch: list[int]) -> Tensor:
            return self.written(self.padded([rows[i] for i in batch]), 1 - side, how)

        return self.in_batches(rows, write)

    def in_batches(
        self, rows: Sequence[Sequence[int]], write: Callable[[list[int]], Tensor]
    ) -> list[str]:
        """A tokenised sentence for each row; ``write`` gives the ids (B, S) for some (indices)."""

        def texts(batch: list[int]) -> list[str]:
            with torch.no_grad():  # not inference_mode: an edit along a gradient switches it on
                ids = write(batch).tolist()
            return [" ".join(self.vocabulary.decode(row)) for row in ids]

        return by_length(rows, TOGETHER, texts)

    def requested(
        self,
        sentences: Sequence[str],
        side: int,
        batch: Sequence[Request],  # noqa: ARG002 - for those that draw
        task: Task,
    ) -> list[str]:
        """The answers to requests whose tokenised sentences of a style these are."""
        return self.rewritten(sentences, side, task.settings)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """See :class:`System`; the unknown word is never written."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        return [text.cleaning(words) for words in self.requested(sources, side, batch, task)]

    def write(self, folder: Path) -> None:
        """Write ``vocabulary.json`` and the weights."""
        self.vocabulary.save(folder)
        save_weights(self.network, folder / self.WEIGHTS)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Self:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(cls.Config, card.settings, cls.KIND)
            network = cls.new_network(len(vocabulary), config)
            network.load_state_dict(load_file(folder / cls.WEIGHTS))
            more = cls.read_more(folder, vocabulary, config)
        except (KeyError, ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a folder of {cls.KIND}: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        return cls(card, vocabulary, network.to(placed).eval().requires_grad_(False), **more)

    @classmethod
    def read_more(
        cls,
        folder: Path,  # noqa: ARG003 - for those that have more
        vocabulary: Vocabulary,  # noqa: ARG003
        config: Any,  # noqa: ARG003
    ) -> dict[str, Any]:
        """The system's further fields by name, from files that its :meth:`write` wrote."""
        return {}
