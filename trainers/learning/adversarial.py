"""What the Style Transformer and NAST share: sizes, and rounds of two networks against each other.

Dai et al. (ACL 2019), Algorithm 3; Huang et al. (Findings of ACL 2021), section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from ...errors import InputError
from ..nets.transformer import Shape
from ..system import SystemConfig

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
class AdversarialConfig(SystemConfig):
    """Sizes, rounds and optimiser, with the values that both papers publish."""

    dimension: Annotated[int, Field(ge=4)] = field(default=256, metadata={"help": "model size"})
    heads: Annotated[int, Field(ge=1)] = field(default=4, metadata={"help": "attention heads"})
    layers: Annotated[int, Field(ge=1)] = field(
        default=4, metadata={"help": "layers of each stack"}
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.0, metadata={"help": "dropout"})
    min_count: Annotated[int, Field(ge=1)] = field(
        default=3, metadata={"help": "sentences' occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=16, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=64, metadata={"help": "sentences a step, of each style"}
    )
    grouping: Annotated[int, Field(ge=1)] = field(
        default=50, metadata={"help": "batches that are split by length together; 1: none"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(default=1e-4, metadata={"help": "Adam's"})
    clip: Annotated[float, Field(gt=0)] = field(default=5.0, metadata={"help": "gradient norm"})
    warm_up: Annotated[int, Field(ge=0)] = field(
        default=500, metadata={"help": "first steps, of self-reconstruction"}
    )
    rounds: Annotated[int, Field(ge=1)] = field(
        default=2000, metadata={"help": "rounds of discriminator and generator steps"}
    )
    discriminator_steps: Annotated[int, Field(ge=1)] = field(
        default=10, metadata={"help": "discriminator steps a round"}
    )
    generator_steps: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "generator steps a round"}
    )
    temperature: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "of soft words while training"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=25, metadata={"help": "rounds between validations"}
    )
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "sentences of each style to choose weights with"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")

    @property
    def shape(self) -> Shape:
        """Of all networks."""
        return Shape(self.dimension, self.heads, self.layers, self.dropout)

    @property
    def schedule(self) -> Rounds:
        """Which network learns when."""
        return Rounds(self.warm_up, self.rounds, self.discriminator_steps, self.generator_steps)
