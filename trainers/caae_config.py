"""CAAE's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from .nets.gru_autoencoder import Sizes
from .word_config import WordConfig


@dataclass(frozen=True, kw_only=True)
class CaaeConfig(WordConfig):
    """The settings of the released ``options.py`` and ``style_transfer.py``."""

    style_size: Annotated[int, Field(ge=1)] = field(
        default=200, metadata={"help": "units that say the style at the beginning"}
    )
    content_size: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "units of the content z"}
    )
    word_size: Annotated[int, Field(ge=1)] = field(
        default=100, metadata={"help": "units of word vectors"}
    )
    filters: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "filters of each width, 1 to 5, of the discriminators"}
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.5, metadata={"help": "dropout"})
    min_count: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=20, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=64, metadata={"help": "sentences a step, of each style"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(default=5e-4, metadata={"help": "Adam's"})
    clip: Annotated[float, Field(gt=0)] = field(default=30.0, metadata={"help": "gradient norm"})
    epochs: Annotated[float, Field(gt=0)] = field(
        default=20.0, metadata={"help": "times the larger style is seen"}
    )
    warm_up: Annotated[float, Field(ge=0)] = field(
        default=0.0, metadata={"help": "epochs of reconstruction alone, before those"}
    )
    warm_up_rate: Annotated[float, Field(gt=0)] = field(
        default=5e-4, metadata={"help": "Adam's learning rate meanwhile"}
    )
    rho: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the discriminators' verdict; 0 for none"}
    )
    gamma: Annotated[float, Field(gt=0)] = field(
        default=0.1, metadata={"help": "temperature of soft words"}
    )
    gate: Annotated[float, Field(gt=0)] = field(
        default=1.2,
        metadata={"help": "largest loss of a discriminator whose verdict counts"},
    )
    objective: Literal["convince", "minimax"] = field(
        default="convince",
        metadata={"help": "convince the discriminators (released), or raise their loss (paper)"},
    )
    shuffle: Annotated[int, Field(ge=0)] = field(
        default=3, metadata={"help": "places that a word moves at most in what the encoder reads"}
    )
    validations: Annotated[int, Field(ge=1)] = field(
        default=20, metadata={"help": "validations in all"}
    )

    @property
    def sizes(self) -> Sizes:
        """Of the autoencoder."""
        return Sizes(self.style_size, self.content_size, self.word_size)

    @classmethod
    def for_direction(cls, direction: Direction) -> CaaeConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def small(cls, direction: Direction) -> CaaeConfig:
        """Half of the units, and fewer epochs; a warm-up makes the most of them."""
        return replace(
            cls.for_direction(direction),
            style_size=32,
            content_size=224,
            filters=32,
            dropout=0.1,
            min_count=10,
            batch_size=32,
            warm_up=2.0,
            warm_up_rate=2e-3,
            epochs=0.5,
            rho=0.1,
            validations=10,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> CaaeConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            style_size=8,
            content_size=24,
            word_size=16,
            filters=4,
            dropout=0.0,
            max_length=12,
            min_count=3,
            batch_size=8,
            warm_up=0.8,
            warm_up_rate=2e-2,
            epochs=0.1,
            validations=2,
            hold_out=8,
            learning_rate=2e-3,
            gate=1e9,
        )


@dataclass(frozen=True, kw_only=True)
class CaaeGeneration:
    """How rewrites are generated."""

    beams: Annotated[int, Field(ge=1, le=100)] = field(
        default=8, metadata={"help": "sentences kept at each word; 1 is greedy"}
    )
