"""CTAT's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from .word_config import WordConfig

Weight = Annotated[float, Field(gt=0)]


@dataclass(frozen=True, kw_only=True)
class CtatSettings:
    """How ``z`` is edited; see Algorithm 1 of the paper."""

    weights: tuple[Weight, ...] = field(
        default=(),
        metadata={
            "help": "sizes of the first modification, tried in turn until one convinces the "
            "classifier; none: the one that validation chose"
        },
    )
    iterations: Annotated[int, Field(ge=0)] = field(
        default=5, metadata={"help": "most modifications of a sentence for a weight; 0: none"}
    )
    decay: Annotated[float, Field(gt=0, le=1)] = field(
        default=0.9, metadata={"help": "of the weight, with each modification"}
    )
    tolerance: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.001,
        metadata={"help": "a sentence is done when its target style is this close to certain"},
    )


@dataclass(frozen=True, kw_only=True)
class CtatConfig(WordConfig):
    """The published settings; see the released ``main.py`` and ``model.py``."""

    dimension: Annotated[int, Field(ge=4)] = field(
        default=256, metadata={"help": "model size, and that of the latent vector"}
    )
    heads: Annotated[int, Field(ge=1)] = field(default=4, metadata={"help": "attention heads"})
    layers: Annotated[int, Field(ge=1)] = field(
        default=2, metadata={"help": "layers of each stack"}
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.1, metadata={"help": "dropout"})
    gru: bool = field(
        default=False, metadata={"help": "true: a GRU before the sum, as in the paper's text"}
    )
    mask_pads: bool = field(
        default=True, metadata={"help": "false: padding is summed too, as in the released code"}
    )
    min_count: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "sentences' occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=60, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "sentences a step"}
    )
    epochs: Annotated[int, Field(ge=1)] = field(
        default=200, metadata={"help": "times that every sentence is seen"}
    )
    factor: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "of the autoencoder's learning rate (Noam)"}
    )
    warm_up: Annotated[int, Field(ge=1)] = field(
        default=2000, metadata={"help": "steps in which that rate rises"}
    )
    smoothing: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.1, metadata={"help": "label smoothing of the reconstruction"}
    )
    classifier_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-4, metadata={"help": "learning rate of the classifier (Adam)"}
    )
    weights: tuple[Weight, ...] = field(
        default=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
        metadata={"help": "sizes of the first modification, among which validation chooses"},
    )
    grouping: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "batches that are sorted by length together"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=2000, metadata={"help": "steps between validations"}
    )

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")
        if not self.weights:
            raise InputError("setting weights of ctat: give at least one")

    @classmethod
    def small(cls, direction: Direction) -> CtatConfig:  # noqa: ARG003
        """One layer, short sentences, few epochs at a higher rate, edits of wider range."""
        return cls(
            layers=1,
            max_length=20,
            batch_size=64,
            epochs=3,
            warm_up=400,
            dropout=0.0,
            classifier_rate=1e-3,
            weights=(2.0, 4.0, 8.0, 16.0, 32.0),
            grouping=20,
            validate_every=700,
            hold_out=200,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> CtatConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            heads=2,
            layers=1,
            max_length=12,
            min_count=1,
            batch_size=16,
            epochs=3,
            factor=2.0,
            warm_up=20,
            classifier_rate=1e-3,
            weights=(1.0, 4.0),
            validate_every=20,
            hold_out=8,
        )
