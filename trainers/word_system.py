"""What STYTRANS and NAST do alike: from sentences to ids and back, and to a folder and back.

A system of this kind has a vocabulary and one network that rewrites both ways.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from ..datasets_scripts.known import language_of
from ..datasets_scripts.training import TrainingData
from ..errors import InputError
from ..metrics.scorers.device import Device, Placement
from ..metrics.text import preparation
from .learning.adversarial import AdversarialConfig
from .learning.checkpoints import save_weights
from .learning.corpus import Corpus, by_length
from .learning.loop import Learner, learn
from .learning.run import IN_MEMORY, Run
from .learning.vocabulary import Vocabulary, padded
from .settings import read_settings
from .system import Request, System, SystemCard, SystemConfig, Task

_WEIGHTS = "generator.safetensors"
_TOGETHER = 64  # sentences that are written at once


@dataclass(frozen=True)
class WordSystem(System):
    """One model for a pair of styles, which rewrites both ways, word by word or all at once.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        generator: the network.
    """

    BOTH_WAYS: ClassVar[bool] = True
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch",)
    BATCH_SIZE: ClassVar[int] = 512  # more than are written at once: they are sorted by length
    Config: ClassVar[type[SystemConfig]] = AdversarialConfig

    card: SystemCard
    vocabulary: Vocabulary
    generator: Any

    @staticmethod
    @abstractmethod
    def network(n_words: int, config: Any) -> nn.Module:
        """A generator with random weights."""

    @abstractmethod
    def learner(self, corpus: Corpus) -> Learner:
        """What trains the generator."""

    @abstractmethod
    def written(self, words: Tensor, styles: Tensor) -> Tensor:
        """The answers' ids (B, S) to ids (B, T), in these styles (B); no unknown word."""

    @classmethod
    def train(cls, data: TrainingData, config: Any, run: Run = IN_MEMORY) -> Self:
        """Learn from the sentences of both styles; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences.
        """
        corpus = Corpus.of(
            data,
            min_count=config.min_count,
            max_length=config.max_length,
            held_out=config.hold_out,
            seed=config.seed,
        )
        torch.manual_seed(config.seed)
        generator = cls.network(len(corpus.vocabulary), config)
        system = cls(cls.planned(data, config), corpus.vocabulary, generator)
        learned = learn(system.learner(corpus), run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @property
    def config(self) -> Any:
        """The settings of its card."""
        return read_settings(self.Config, self.card.settings, self.KIND)

    def rewritten(self, sentences: Sequence[str], side: int) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style."""
        rows = [self.vocabulary.encode(s.split(), self.config.max_length) for s in sentences]
        device = next(self.generator.parameters()).device

        def write(batch: list[int]) -> list[str]:
            words = padded([rows[i] for i in batch]).to(device)
            styles = torch.full((len(batch),), 1 - side, device=device)
            with torch.inference_mode():
                ids = self.written(words, styles)
            return [" ".join(self.vocabulary.decode(row)) for row in ids.tolist()]

        return by_length(rows, _TOGETHER, write)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest words; the unknown word is never written."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        return [text.cleaning(words) for words in self.rewritten(sources, side)]

    def write(self, folder: Path) -> None:
        """Write ``vocabulary.json`` and ``generator.safetensors``."""
        self.vocabulary.save(folder)
        save_weights(self.generator, folder / _WEIGHTS)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Self:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(cls.Config, card.settings, cls.KIND)
            generator = cls.network(len(vocabulary), config)
            generator.load_state_dict(load_file(folder / _WEIGHTS))
        except (ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a {cls.KIND} system: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        return cls(card, vocabulary, generator.to(placed).eval().requires_grad_(False))
