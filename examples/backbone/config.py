"""The settings of ``python -m backbone``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from tstbench.settings import Count, Natural, NotNegative, Positive, Probability, Share, setting
from tstbench.trainers.training.backbones import BackboneFamily, BackboneShape


@dataclass(frozen=True, kw_only=True)
class BackboneConfig:
    """The defaults are for a GPU; ``small`` is what two CPU cores learn in minutes."""

    dimension: Annotated[int, Field(ge=4)] = setting(512, "model size")
    layers: Count = setting(6, "layers of each stack")
    heads: Count = setting(8, "attention heads")
    vocabulary_size: Annotated[int, Field(ge=300)] = setting(
        16_384, "tokens of the tokenizer, 256 bytes included"
    )
    positions: Annotated[int, Field(ge=8)] = setting(
        128, "longest row that the model can ever read, in tokens"
    )
    max_length: Annotated[int, Field(ge=8)] = setting(
        64, "rows to learn from: longer sentences are cut"
    )
    dropout: Share = setting(0.1, "dropout")
    mask_ratio: Annotated[float, Field(gt=0, le=0.5)] = setting(
        0.3, "bart: share of a sentence's tokens that masks replace"
    )
    mean_span: Positive = setting(3.0, "bart: mean length of what one mask replaces")
    repeated: Probability = setting(0.0, "gpt2, llama: share of sentences that are read twice")
    initial: Literal["usual", "scaled"] = setting(
        "usual", "scaled: weights that let a small model copy sooner"
    )
    steps: Count = setting(50_000, "steps")
    batch_size: Count = setting(256, "sentences a step (bart) or blocks of max_length tokens")
    learning_rate: Positive = setting(6e-4, "AdamW's highest")
    warm_up: Share = setting(0.06, "share of the steps in which the learning rate rises")
    weight_decay: NotNegative = setting(0.01, "AdamW's")
    clip: Positive = setting(1.0, "gradient norm")
    hold_out: Count = setting(1000, "sentences (bart) or blocks to choose weights with")
    validate_every: Count = setting(1000, "steps between validations")
    seed: Natural = setting(0, "of everything random")

    @property
    def shape(self) -> BackboneShape:
        """Of the model."""
        return BackboneShape(self.dimension, self.layers, self.heads, self.positions, self.dropout)

    @classmethod
    def small(cls, family: BackboneFamily) -> BackboneConfig:
        """Ten minutes of a CPU core."""
        usual = cls(
            dimension=128,
            layers=2,
            heads=4,
            vocabulary_size=4096,
            dropout=0.0,
            steps=4000,
            batch_size=64,
            learning_rate=2e-3,
            hold_out=256,
            validate_every=500,
        )
        if family == "bart":
            return usual
        return replace(
            usual,
            layers=3,
            vocabulary_size=2048,
            repeated=0.7,
            initial="scaled",
            batch_size=16,
            steps=3000,
            learning_rate=3e-3,
            hold_out=64,
        )

    @classmethod
    def tiny(cls, family: BackboneFamily) -> BackboneConfig:
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            layers=2,
            heads=2,
            vocabulary_size=320,
            max_length=32,
            dropout=0.0,
            repeated=0.0 if family == "bart" else 0.3,
            steps=6,
            batch_size=8,
            learning_rate=3e-3,
            hold_out=4,
            validate_every=3,
        )
