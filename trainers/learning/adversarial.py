"""What the Style Transformer and NAST share: settings, and rounds of two networks.

A generator rewrites; a discriminator tells its rewrites from real sentences of a style.

Dai et al. (ACL 2019), Algorithm 3; Huang et al. (Findings of ACL 2021), section 3.4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from ...datasets_scripts.directions import Direction
from ...errors import InputError
from ...settings import Count, Natural, Positive, Share, setting
from ..nets.style_transformer import Discriminator
from ..nets.transformer import Shape
from ..word_config import WordConfig
from .corpus import Corpus
from .loop import Learner, Terms, Update

Phase = Literal["warm_up", "discriminator", "generator"]
Mode = Literal["multi", "conditional"]


@dataclass(frozen=True)
class Rounds:
    """Which network learns at a step: a warm-up, then rounds of both.

    Attributes:
        warm_up: first steps.
        rounds: how many follow.
        discriminator: steps of each.
        generator: steps of each, which follow the discriminator's.
    """

    warm_up: int
    rounds: int
    discriminator: int
    generator: int

    @property
    def length(self) -> int:
        """Steps of a round."""
        return self.discriminator + self.generator

    @property
    def steps(self) -> int:
        """All steps."""
        return self.warm_up + self.rounds * self.length

    def phase(self, step: int) -> Phase:
        """What a step is, counted from 0.

        >>> [Rounds(1, 2, 2, 1).phase(step)[0] for step in range(7)]
        ['w', 'd', 'd', 'g', 'd', 'd', 'g']
        """
        if step < self.warm_up:
            return "warm_up"
        place = (step - self.warm_up) % self.length
        return "discriminator" if place < self.discriminator else "generator"


@dataclass(frozen=True, kw_only=True)
class AdversarialConfig(WordConfig):
    """Sizes, rounds and optimiser, with the values that both papers publish."""

    dimension: Annotated[int, Field(ge=4)] = setting(256, "model size")
    heads: Count = setting(4, "attention heads")
    layers: Count = setting(4, "layers of each stack")
    dropout: Share = setting(0.0, "dropout")
    min_count: Count = setting(3, "sentences' occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        16, "longest sentence, its end included; the rest is cut"
    )
    batch_size: Count = setting(64, "sentences a step, of each style")
    grouping: Count = setting(50, "batches that are split by length together; 1: none")
    learning_rate: Positive = setting(1e-4, "Adam's")
    clip: Positive = setting(5.0, "gradient norm")
    warm_up: Natural = setting(500, "first steps, of self-reconstruction")
    rounds: Count = setting(2000, "rounds of discriminator and generator steps")
    discriminator_steps: Count = setting(10, "discriminator steps a round")
    generator_steps: Count = setting(5, "generator steps a round")
    temperature: Positive = setting(1.0, "of soft words while training")
    validate_every: Count = setting(25, "rounds between validations")
    discriminator: Mode = setting(
        "multi", "multi: which style, or a rewrite; conditional: does a style fit"
    )

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")

    @classmethod
    def small(cls, direction: Direction) -> Self:
        """A quarter of the published size, with larger steps, and as many of both networks."""
        return replace(
            cls.for_direction(direction),
            dimension=128,
            layers=2,
            min_count=4,
            batch_size=32,
            learning_rate=1e-3,
            discriminator_steps=1,
            generator_steps=1,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> Self:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            heads=2,
            layers=1,
            max_length=12,
            min_count=1,
            batch_size=8,
            warm_up=10,
            rounds=3,
            discriminator_steps=2,
            generator_steps=2,
            validate_every=3,
            hold_out=8,
            learning_rate=1e-3,
        )

    @property
    def shape(self) -> Shape:
        """Of all networks."""
        return Shape(self.dimension, self.heads, self.layers, self.dropout)

    @property
    def schedule(self) -> Rounds:
        """Which network learns when."""
        return Rounds(self.warm_up, self.rounds, self.discriminator_steps, self.generator_steps)


class AdversarialLearner(Learner):
    """Warm-up, then rounds of discriminator and generator steps: Algorithm 3 of Dai et al.

    Args:
        generator: what is wanted.
        config: sizes and schedule.
        corpus: what it learns from.
        rewrite: writes tokenised sentences of a side in the other style, for validation.
    """

    def __init__(
        self,
        generator: nn.Module,
        config: AdversarialConfig,
        corpus: Corpus,
        rewrite: Callable[[Sequence[str], int], Sequence[str]],
    ) -> None:
        self._corpus, self._rewrite, self._rounds = corpus, rewrite, config.schedule
        self._clip = config.clip
        self.discriminator = Discriminator(
            len(corpus.vocabulary),
            config.shape,
            config.max_length,
            conditional=config.discriminator == "conditional",
        )
        self.network = nn.ModuleDict({"generator": generator, "discriminator": self.discriminator})
        self.optimizers = {
            name: torch.optim.Adam(part.parameters(), lr=config.learning_rate)
            for name, part in self.network.items()
        }
        self.steps = self._rounds.steps
        self.validate_every = config.validate_every * self._rounds.length
        self.seed = config.seed
        self._batches = corpus.both(config.batch_size, config.seed, grouping=config.grouping)

    @abstractmethod
    def warm_up_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the generator, before the discriminator learns."""

    @abstractmethod
    def generator_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the generator."""

    @abstractmethod
    def discriminator_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the discriminator."""

    def update(self, step: int) -> Update:
        """The schedule's phase, on the batch of that number."""
        phase = self._rounds.phase(step)

        def loss(batch: np.ndarray) -> Terms:
            if phase == "warm_up":
                return self.warm_up_loss(batch, step)
            # As in both released codes, only the network that learns has dropout.
            still = "generator" if phase == "discriminator" else "discriminator"
            self.network.get_submodule(still).eval()
            if phase == "discriminator":
                return self.discriminator_loss(batch, step)
            return self.generator_loss(batch, step)

        return Update(
            name=phase,
            optimizers=("discriminator",) if phase == "discriminator" else ("generator",),
            loss=loss,
            order=self._batches,
            number=step,
            # The released codes clip only after the warm-up.
            clip=None if phase == "warm_up" else self._clip,
        )

    def batch(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Ids (B, T) of these sentences, and their styles (B)."""
        return self._corpus.batch(rows, self.discriminator.place.device)

    def validate(self) -> Mapping[str, float]:
        """ACC and self-BLEU of rewrites of held-out sentences."""
        return self._corpus.judge.scores(self._rewrite)
