"""TSST's settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ...datasets_scripts.directions import Direction
from ..word_config import WordConfig


@dataclass(frozen=True, kw_only=True)
class TsstConfig(WordConfig):
    """The published settings for Yelp: the released ``config.py``, and ``train.py``."""

    dimension: Annotated[int, Field(ge=1)] = field(
        default=256, metadata={"help": "size of word vectors"}
    )
    hidden: Annotated[int, Field(ge=1)] = field(
        default=512, metadata={"help": "size of the decoder's state, and of each way of reading"}
    )
    filters: Annotated[int, Field(ge=1)] = field(
        default=64, metadata={"help": "the discriminator's filters of each width"}
    )
    retriever: Literal["sparse", "dense"] = field(
        default="sparse", metadata={"help": "sparse: by words, BM25; dense: by learned queries"}
    )
    retrieved: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "K, sentences of the style to look at"}
    )
    refresh_every: Annotated[int, Field(ge=1)] = field(
        default=200, metadata={"help": "dense: generator steps between refreshes of all queries"}
    )
    min_count: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "sentences' occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=1)] = field(
        default=18, metadata={"help": "longest sentence, in words; the rest is cut"}
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.1, metadata={"help": "of word vectors and of the discriminator's features"}
    )
    attention_dropout: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.1, metadata={"help": "of attention weights"}
    )
    teacher_forcing: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.0,
        metadata={"help": "of all losses: how often the right word is read, not the written one"},
    )
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "sentences a step, all of one style"}
    )
    grouping: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "batches whose sentences are sorted by length together"}
    )
    pretrain_epochs: Annotated[float, Field(ge=0)] = field(
        default=15.0, metadata={"help": "epochs as a language model"}
    )
    self_epochs: Annotated[float, Field(ge=0)] = field(
        default=0.0,
        metadata={
            "help": "not published: epochs of self-reconstruction alone, with the right words"
        },
    )
    epochs: Annotated[float, Field(gt=0)] = field(
        default=10.0, metadata={"help": "epochs of all losses; one sees half of the sentences"}
    )
    words_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "of writing words of the retrieved sentences"}
    )
    discriminator_steps: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "discriminator steps a generator step, on its batch"}
    )
    warm_up: Annotated[int, Field(ge=1)] = field(
        default=3000, metadata={"help": "steps in which a learning rate rises"}
    )
    first_rate: Annotated[float, Field(ge=0)] = field(
        default=1e-5, metadata={"help": "learning rate at the start"}
    )
    highest_rate: Annotated[float, Field(gt=0)] = field(
        default=8e-4, metadata={"help": "learning rate at the end of the warm-up"}
    )
    discriminator_rate: Annotated[float, Field(gt=0)] = field(
        default=8e-4, metadata={"help": "the same of the discriminator"}
    )
    lowest_rate: Annotated[float, Field(ge=0)] = field(
        default=5e-5, metadata={"help": "learning rate that it does not fall below"}
    )
    generator_power: Annotated[float, Field(ge=0)] = field(
        default=0.75, metadata={"help": "fall of the generator's and language model's rate"}
    )
    discriminator_power: Annotated[float, Field(ge=0)] = field(
        default=0.5, metadata={"help": "fall of the discriminator's rate"}
    )
    weight_decay: Annotated[float, Field(ge=0)] = field(
        default=5e-5, metadata={"help": "AdamW's, of the language model"}
    )
    clip: Annotated[float, Field(gt=0)] = field(default=3.0, metadata={"help": "gradient norm"})
    leaky_language_model: bool = field(
        default=False, metadata={"help": "as released: the way back predicts a word it has read"}
    )
    cycle_sees_source: bool = field(
        default=False, metadata={"help": "as released: the way back may retrieve its own answer"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "generator steps between validations"}
    )

    @property
    def longest_row(self) -> int:
        """Ids of the longest sentence: its words and its end."""
        return self.max_length + 1

    @classmethod
    def for_direction(cls, direction: Direction) -> TsstConfig:
        """Yelp's settings; the released ones for GYAFC for all other datasets."""
        if direction.dataset == "yelp":
            return cls()
        return cls(
            retriever="dense",
            max_length=32,
            dropout=0.2,
            attention_dropout=0.2,
            batch_size=64,
            epochs=15.0,
            discriminator_steps=5,
        )

    @classmethod
    def tstbench(cls, direction: Direction) -> TsstConfig:
        """The benchmark's log of Yelp has the dense retriever."""
        return replace(cls.for_direction(direction), retriever="dense")

    @classmethod
    def small(cls, direction: Direction) -> TsstConfig:
        """Smaller networks, higher rates, fewer steps; it learns to repeat first, which is quick.

        A rewrite keeps what self-reconstruction taught: no gradient of the way back reaches it. So
        the discriminator learns slowly and the bag of words weighs less: a quick discriminator
        (3e-3, two steps) took half of the content within 60 rounds, before the style changed.
        """
        yelp = direction.dataset == "yelp"  # two sentences of a hundred have more than 15 words
        return cls(
            max_length=15 if yelp else cls.for_direction(direction).max_length,
            dimension=128,
            hidden=128,
            filters=32,
            retrieved=2,
            min_count=7,
            batch_size=64,
            grouping=50,
            pretrain_epochs=0.15,
            self_epochs=1.8,
            epochs=0.8,
            warm_up=50,
            highest_rate=4e-3,
            discriminator_rate=1e-3,
            words_weight=0.5,
            generator_power=0.5,
            validate_every=30,
            hold_out=200,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> TsstConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            hidden=32,
            filters=4,
            retrieved=2,
            max_length=12,
            batch_size=16,
            pretrain_epochs=0.2,
            epochs=0.2,
            warm_up=5,
            highest_rate=5e-3,
            validate_every=20,
            hold_out=8,
        )
