"""DAR's settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from .learning.markers import GAMMA
from .nets.marker_seq2seq import Cell, RecurrentShape
from .word_config import WordConfig

Noise = Literal["edit", "shared-words"]


@dataclass(frozen=True, kw_only=True)
class DarSettings:
    """How a rewrite is found."""

    gamma: Annotated[float, Field(ge=0, allow_inf_nan=False)] = field(
        default=0.0,
        metadata={"help": "salience above which an n-gram is a marker now; 0: as in training"},
    )
    max_markers: Annotated[int, Field(ge=0)] = field(
        default=0,
        metadata={"help": "most markers of a style with another gamma, the most salient; 0: all"},
    )
    retrieval: Literal["tfidf", "encoder"] = field(
        default="tfidf",
        metadata={"help": "what contents are compared by: words, or the content encoder's states"},
    )
    candidates: Annotated[int, Field(ge=1)] = field(
        default=1,
        metadata={
            "help": "retrieved sentences to write with; of several rewrites, the one that a "
            "language model of the target style finds likeliest is the answer"
        },
    )
    beams: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "sentences kept at each word; 1: greedy"}
    )


@dataclass(frozen=True, kw_only=True)
class DarConfig(WordConfig):
    """The published settings; see the paper's section 4.3 and the port's ``yelp_config.json``."""

    gamma: Annotated[float, Field(gt=0)] = field(
        default=5.0,
        metadata={"help": "salience above which an n-gram marks a style; Yelp 15, Amazon 5.5"},
    )
    smoothing: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "lambda, added to both counts"}
    )
    max_ngram: Annotated[int, Field(ge=1)] = field(
        default=4, metadata={"help": "the longest marker, in words"}
    )
    max_markers: Annotated[int, Field(ge=1)] = field(
        default=7000, metadata={"help": "most markers of a style, the most salient"}
    )
    min_content: Annotated[int, Field(ge=0)] = field(
        default=5, metadata={"help": "content words of a training sentence; fewer: not learned"}
    )
    markers: bool = field(
        default=True, metadata={"help": "false: DeleteOnly, which knows the style alone"}
    )
    noise: Noise = field(
        default="edit",
        metadata={"help": "edit: markers at edit distance 1; shared-words: the port's"},
    )
    noise_rate: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.1, metadata={"help": "share of markers (port: of sentences) that are exchanged"}
    )
    embedding: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "size of word vectors"}
    )
    hidden: Annotated[int, Field(ge=2)] = field(default=512, metadata={"help": "size of states"})
    cell: Cell = field(default="lstm", metadata={"help": "lstm, or gru as in the paper"})
    both_ways: bool = field(default=True, metadata={"help": "whether encoders read backwards too"})
    attention: bool = field(
        default=False, metadata={"help": "whether the decoder looks at the content's words"}
    )
    maxout: bool = field(default=False, metadata={"help": "a maxout layer before the output"})
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.2, metadata={"help": "dropout"})
    min_count: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "sentences' occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=50, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    optimizer: Literal["adam", "adadelta"] = field(
        default="adam", metadata={"help": "adam, or adadelta as in the paper"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=3e-4, metadata={"help": "of the optimiser"}
    )
    clip: Annotated[float, Field(gt=0)] = field(default=3.0, metadata={"help": "gradient norm"})
    batch_size: Annotated[int, Field(ge=2, multiple_of=2)] = field(
        default=256, metadata={"help": "sentences a step, half of each style"}
    )
    epochs: Annotated[int, Field(ge=1)] = field(
        default=70, metadata={"help": "times that the larger style is seen"}
    )
    grouping: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "batches that are sorted by length together"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "steps between validations"}
    )

    def __post_init__(self) -> None:
        if self.both_ways and self.hidden % 2:
            raise InputError(f"hidden {self.hidden} is odd, but encoders read both ways")

    @classmethod
    def for_direction(cls, direction: Direction) -> DarConfig:
        """The paper's gamma and number of markers where it gives them."""
        gamma = GAMMA.get(direction.dataset, cls().gamma)
        return cls(gamma=gamma, max_markers=10_000 if direction.dataset == "amazon" else 7000)

    @classmethod
    def small(cls, direction: Direction) -> DarConfig:  # noqa: ARG003
        """For some ten thousand sentences: a lower gamma, short contents, attention."""
        return cls(
            gamma=5.0,
            min_content=2,
            hidden=256,
            cell="gru",
            attention=True,
            max_length=20,
            learning_rate=2e-3,
            batch_size=32,
            epochs=2,
            grouping=20,
            validate_every=800,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> DarConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            gamma=GAMMA["mini"],
            min_content=1,
            embedding=16,
            hidden=32,
            min_count=1,
            max_length=12,
            learning_rate=3e-3,
            batch_size=32,
            epochs=3,
            validate_every=60,
            hold_out=8,
        )

    @property
    def shape(self) -> RecurrentShape:
        """Of the network."""
        return RecurrentShape(
            embedding=self.embedding,
            hidden=self.hidden,
            cell=self.cell,
            both_ways=self.both_ways,
            dropout=self.dropout,
            attention=self.attention,
            maxout=self.maxout,
            markers=self.markers,
        )
