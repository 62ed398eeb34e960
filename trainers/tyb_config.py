"""The settings of TYB; see :mod:`.tyb`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from .learning.paired import PairsFrom
from .learning.seq2seq import SCRATCH
from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class TybConfig(SystemConfig):
    """The published settings; see the paper's section 3.1 and the released ``train.py``."""

    base: str = field(
        default="facebook/bart-large",
        metadata={"help": "pretrained BART: Hub id or folder; scratch: a tiny random one"},
    )
    pairs: PairsFrom = field(
        default="data",
        metadata={"help": "data, mined pseudo-pairs, or auto: mined if the data have none"},
    )
    max_length: Annotated[int, Field(ge=3)] = field(
        default=30, metadata={"help": "longest sentence in tokens; the rest is cut"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(default=32, metadata={"help": "pairs a step"})
    grouping: Annotated[int, Field(ge=1)] = field(
        default=20, metadata={"help": "batches sorted by length together; 1 for none"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(default=1e-5, metadata={"help": "Adam's"})
    decay: Annotated[float, Field(gt=0, le=1)] = field(
        default=0.9, metadata={"help": "factor of the learning rate every decay_every steps"}
    )
    decay_every: Annotated[int, Field(ge=1)] = field(default=10_000, metadata={"help": "steps"})
    steps: Annotated[int, Field(ge=1)] = field(default=20_000, metadata={"help": "steps"})
    rewards_from: Annotated[int, Field(ge=0)] = field(
        default=200, metadata={"help": "steps before there are rewards"}
    )
    word_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the right words' cross-entropy"}
    )
    style_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the style reward (lambda_cls)"}
    )
    bleu_weight: Annotated[float, Field(ge=0)] = field(
        default=0.2, metadata={"help": "weight of the BLEU reward (lambda_bleu)"}
    )
    bleu_sign: Literal["paper", "released"] = field(
        default="paper", metadata={"help": "paper: better words likelier; released: the opposite"}
    )
    reward_places: Literal["released", "drawn"] = field(
        default="released",
        metadata={
            "help": "released: every place of the right answer earns, each reward draws its own "
            "words; drawn: places up to the drawn end, one draw for both"
        },
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "steps between validations; at most an epoch"}
    )
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=2000, metadata={"help": "most pairs to choose weights with"}
    )
    classifier_steps: Annotated[int, Field(ge=1)] = field(
        default=10_000, metadata={"help": "steps of the reward's classifier"}
    )
    classifier_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-3, metadata={"help": "Adam's, of the classifier; 0.9 of it every 1,000 steps"}
    )
    classifier_dimension: Annotated[int, Field(ge=1)] = field(
        default=300, metadata={"help": "the classifier's word vectors"}
    )
    classifier_filters: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "the classifier's filters of each width"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

    @classmethod
    def for_direction(cls, direction: Direction) -> TybConfig:
        """TSTBench's values for other data than GYAFC; its longer lines are not cut at 30 tokens.

        Writing Shakespeare's English, the words' loss has the weight 1.2.
        """
        if direction.dataset.startswith("gyafc"):
            return cls()
        writes_shakespeare = direction.target_style == "shakespearean"
        return cls(
            learning_rate=3e-5, max_length=60, word_weight=1.2 if writes_shakespeare else 1.0
        )

    @classmethod
    def small(cls, direction: Direction) -> TybConfig:
        """For a small BART: give its folder as ``base``."""
        return replace(
            cls.for_direction(direction),
            learning_rate=1e-3,
            decay=0.8,
            decay_every=150,
            steps=1000,
            rewards_from=700,
            reward_places="drawn",
            validate_every=100,
            hold_out=400,
            classifier_steps=500,
            classifier_dimension=100,
            classifier_filters=64,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> TybConfig:  # noqa: ARG003
        """A random BART and mined pairs: learns next to nothing within seconds, for tests."""
        return cls(
            base=SCRATCH,
            pairs="auto",
            max_length=16,
            batch_size=8,
            learning_rate=1e-2,
            steps=40,
            rewards_from=34,
            validate_every=20,
            hold_out=16,
            classifier_steps=10,
            classifier_dimension=16,
            classifier_filters=8,
        )


@dataclass(frozen=True, kw_only=True)
class TybSettings:
    """How answers are generated; published: beam search with 5 beams."""

    beams: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "of the beam search; 1 is greedy"}
    )
    max_length: Annotated[int, Field(ge=0)] = field(
        default=0, metadata={"help": "longest answer in tokens; 0: as long as in training"}
    )
