"""TSST's settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ...datasets_scripts.directions import Direction
from ...settings import Count, NotNegative, Positive, Probability, Share, setting
from ..word_config import WordConfig


@dataclass(frozen=True, kw_only=True)
class TsstConfig(WordConfig):
    """The published settings for Yelp: the released ``config.py``, and ``train.py``."""

    dimension: Count = setting(256, "size of word vectors")
    hidden: Count = setting(512, "size of the decoder's state, and of each way of reading")
    filters: Count = setting(64, "the discriminator's filters of each width")
    retriever: Literal["sparse", "dense"] = setting(
        "sparse", "sparse: by words, BM25; dense: by learned queries"
    )
    retrieved: Count = setting(5, "K, sentences of the style to look at")
    refresh_every: Count = setting(200, "dense: generator steps between refreshes of all queries")
    min_count: Count = setting(1, "sentences' occurrences that make a word")
    max_length: Count = setting(18, "longest sentence, in words; the rest is cut")
    dropout: Share = setting(0.1, "of word vectors and of the discriminator's features")
    attention_dropout: Share = setting(0.1, "of attention weights")
    teacher_forcing: Probability = setting(
        0.0, "of all losses: how often the right word is read, not the written one"
    )
    batch_size: Count = setting(128, "sentences a step, all of one style")
    grouping: Count = setting(1, "batches whose sentences are sorted by length together")
    pretrain_epochs: NotNegative = setting(15.0, "epochs as a language model")
    self_epochs: NotNegative = setting(
        0.0, "not published: epochs of self-reconstruction alone, with the right words"
    )
    epochs: Positive = setting(10.0, "epochs of all losses; one sees half of the sentences")
    words_weight: NotNegative = setting(1.0, "of writing words of the retrieved sentences")
    discriminator_steps: Count = setting(1, "discriminator steps a generator step, on its batch")
    warm_up: Count = setting(3000, "steps in which a learning rate rises")
    first_rate: NotNegative = setting(1e-5, "learning rate at the start")
    highest_rate: Positive = setting(8e-4, "learning rate at the end of the warm-up")
    discriminator_rate: Positive = setting(8e-4, "the same of the discriminator")
    lowest_rate: NotNegative = setting(5e-5, "learning rate that it does not fall below")
    generator_power: NotNegative = setting(
        0.75, "fall of the generator's and language model's rate"
    )
    discriminator_power: NotNegative = setting(0.5, "fall of the discriminator's rate")
    weight_decay: NotNegative = setting(5e-5, "AdamW's, of the language model")
    clip: Positive = setting(3.0, "gradient norm")
    leaky_language_model: bool = setting(
        False, "as released: the way back predicts a word it has read"
    )
    cycle_sees_source: bool = setting(
        False, "as released: the way back may retrieve its own answer"
    )
    validate_every: Count = setting(500, "generator steps between validations")

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
