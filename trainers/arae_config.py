"""ARAE's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from .word_config import WordConfig


@dataclass(frozen=True, kw_only=True)
class AraeConfig(WordConfig):
    """The settings of the released ``yelp/train.py``."""

    word_size: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "units of word vectors"}
    )
    code_size: Annotated[int, Field(ge=2)] = field(
        default=128, metadata={"help": "units of the code and of the recurrent nets"}
    )
    code_is_state: bool = field(
        default=False,
        metadata={"help": "whether a decoder's state starts as the code, not as zeros"},
    )
    code_length: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "norm of a code; code_noise is small or large beside it"}
    )
    remembering: bool = field(
        default=False,
        metadata={"help": "whether first weights are such that words are kept; not published"},
    )
    hidden_size: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "units of both hidden layers of the small networks"}
    )
    noise_size: Annotated[int, Field(ge=1)] = field(
        default=32, metadata={"help": "units of the noise that the generator reads"}
    )
    code_noise: Annotated[float, Field(ge=0)] = field(
        default=0.1, metadata={"help": "deviation of what is added to a code, at the beginning"}
    )
    noise_decay: Annotated[float, Field(gt=0, le=1)] = field(
        default=0.9995, metadata={"help": "what the noise is multiplied by every 100 rounds"}
    )
    max_words: Annotated[int, Field(ge=1)] = field(
        default=30_000, metadata={"help": "most frequent words that are kept"}
    )
    min_count: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=26, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    max_answer: Annotated[int, Field(ge=2)] = field(
        default=50, metadata={"help": "longest rewrite, its end included"}
    )
    batch_size: Annotated[int, Field(ge=2)] = field(
        default=64, metadata={"help": "sentences a step, of a style"}
    )
    epochs: Annotated[float, Field(gt=0)] = field(
        default=25.0, metadata={"help": "times the larger style is seen"}
    )
    optimizer: Literal["sgd", "adam"] = field(
        default="sgd", metadata={"help": "of the autoencoder"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "the autoencoder's"}
    )
    clip: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "norm of the autoencoder's gradient"}
    )
    classifier_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-4, metadata={"help": "the code classifier's learning rate"}
    )
    gan_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-4, metadata={"help": "the critic's and the generator's learning rate"}
    )
    class_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "lambda, of misleading the classifier; 0 for none"}
    )
    critic_weight: Annotated[float, Field(ge=0)] = field(
        default=0.01, metadata={"help": "of the critic's gradient in the encoder; 0 for no critic"}
    )
    penalty: Annotated[float, Field(ge=0)] = field(
        default=0.1, metadata={"help": "weight of the critic's gradient penalty"}
    )
    critic_steps: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "steps of the critic a round"}
    )
    mixed: bool = field(
        default=True,
        metadata={"help": "whether the classifier's batches have both styles, or (released) one"},
    )
    validations: Annotated[int, Field(ge=1)] = field(
        default=25, metadata={"help": "validations in all"}
    )

    @property
    def most_words(self) -> int:
        """The most frequent words that are kept."""
        return self.max_words

    @classmethod
    def for_direction(cls, direction: Direction) -> AraeConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def small(cls, direction: Direction) -> AraeConfig:
        """Fewer words and epochs; Adam, and first weights and a code that learn to keep words soon.

        With codes of length 1 and first weights of 0.1 they held next to nothing after as long.
        """
        return replace(
            cls.for_direction(direction),
            code_size=256,
            code_length=8.0,
            code_is_state=True,
            remembering=True,
            code_noise=0.03,
            min_count=10,
            batch_size=32,
            epochs=2.0,
            optimizer="adam",
            learning_rate=3e-3,
            classifier_rate=1e-3,
            class_weight=0.2,
            critic_steps=1,
            validations=12,
            hold_out=300,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> AraeConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            word_size=16,
            code_size=16,
            hidden_size=16,
            noise_size=4,
            max_length=12,
            max_answer=12,
            batch_size=8,
            epochs=0.04,
            optimizer="adam",
            learning_rate=5e-3,
            critic_steps=2,
            validations=2,
            hold_out=8,
        )


@dataclass(frozen=True, kw_only=True)
class AraeGeneration:
    """How rewrites are generated."""

    beams: Annotated[int, Field(ge=1, le=100)] = field(
        default=1, metadata={"help": "sentences kept at each word; 1 is greedy"}
    )
