"""The settings of ``tstbench train backbone``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from .nets.backbones import BackboneFamily, BackboneShape


@dataclass(frozen=True, kw_only=True)
class BackboneConfig:
    """The defaults are for a GPU; ``small`` is what two CPU cores learn in minutes."""

    dimension: Annotated[int, Field(ge=4)] = field(default=512, metadata={"help": "model size"})
    layers: Annotated[int, Field(ge=1)] = field(
        default=6, metadata={"help": "layers of each stack"}
    )
    heads: Annotated[int, Field(ge=1)] = field(default=8, metadata={"help": "attention heads"})
    vocabulary_size: Annotated[int, Field(ge=300)] = field(
        default=16_384, metadata={"help": "tokens of the tokenizer, 256 bytes included"}
    )
    positions: Annotated[int, Field(ge=8)] = field(
        default=128, metadata={"help": "longest row that the model can ever read, in tokens"}
    )
    max_length: Annotated[int, Field(ge=8)] = field(
        default=64, metadata={"help": "rows to learn from: longer sentences are cut"}
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.1, metadata={"help": "dropout"})
    mask_ratio: Annotated[float, Field(gt=0, le=0.5)] = field(
        default=0.3, metadata={"help": "bart: share of a sentence's tokens that masks replace"}
    )
    mean_span: Annotated[float, Field(gt=0)] = field(
        default=3.0, metadata={"help": "bart: mean length of what one mask replaces"}
    )
    repeated: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.0, metadata={"help": "gpt2, llama: share of sentences that are read twice"}
    )
    initial: Literal["usual", "scaled"] = field(
        default="usual", metadata={"help": "scaled: weights that let a small model copy sooner"}
    )
    steps: Annotated[int, Field(ge=1)] = field(default=50_000, metadata={"help": "steps"})
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=256, metadata={"help": "sentences a step (bart) or blocks of max_length tokens"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=6e-4, metadata={"help": "AdamW's highest"}
    )
    warm_up: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.06, metadata={"help": "share of the steps in which the learning rate rises"}
    )
    weight_decay: Annotated[float, Field(ge=0)] = field(default=0.01, metadata={"help": "AdamW's"})
    clip: Annotated[float, Field(gt=0)] = field(default=1.0, metadata={"help": "gradient norm"})
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "sentences (bart) or blocks to choose weights with"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "steps between validations"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

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
