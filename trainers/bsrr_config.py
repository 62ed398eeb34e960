"""The settings of BSRR; see :mod:`.bsrr`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from .learning.paired import PairsFrom
from .learning.seq2seq import SCRATCH
from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class BsrrConfig(SystemConfig):
    """The published settings; see the paper's section 4.2 and the released ``Model.py``."""

    base: str = field(
        default="facebook/bart-base",
        metadata={"help": "pretrained BART: Hub id or folder; scratch: a tiny random one"},
    )
    classifier: str = field(
        default="FacebookAI/roberta-base",
        metadata={"help": "RoBERTa to judge style: Hub id or folder; scratch: a small new one"},
    )
    pairs: PairsFrom = field(
        default="auto",
        metadata={"help": "data, mined pseudo-pairs, or auto: mined if the data have none"},
    )
    mining: Literal["lexical", "semantic"] = field(
        default="lexical", metadata={"help": "pseudo-pairs are similar by letters, or by meaning"}
    )
    most_pairs: Annotated[int, Field(ge=1)] = field(
        default=20_000, metadata={"help": "most pseudo-pairs to mine from each style"}
    )
    similarity: Annotated[float, Field(ge=-1, le=1)] = field(
        default=0.85, metadata={"help": "cosine above which a semantic pair is kept"}
    )
    max_length: Annotated[int, Field(ge=8)] = field(
        default=30, metadata={"help": "longest answer in tokens, its style counted"}
    )
    sample_length: Annotated[int, Field(ge=8)] = field(
        default=25, metadata={"help": "longest drawn sentence in tokens, its style counted"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(default=64, metadata={"help": "pairs a step"})
    grouping: Annotated[int, Field(ge=1)] = field(
        default=20, metadata={"help": "batches sorted by length together; 1 for none"}
    )
    optimizer: Literal["adamw", "rmsprop"] = field(
        default="adamw", metadata={"help": "adamw, or rmsprop, published for sentiment"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-5, metadata={"help": "the optimiser's"}
    )
    reward_rate: Annotated[float, Field(gt=0)] = field(
        default=1e-5, metadata={"help": "the optimiser's once there are rewards; published: equal"}
    )
    clip: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "gradient norm, once there are rewards"}
    )
    epochs: Annotated[float, Field(gt=0)] = field(
        default=10, metadata={"help": "times that each pair is seen, both ways"}
    )
    supervised_epochs: Annotated[float, Field(ge=0)] = field(
        default=2, metadata={"help": "first epochs, without rewards"}
    )
    smoothing: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.15, metadata={"help": "label smoothing"}
    )
    supervised_decay: Annotated[float, Field(gt=0, le=1)] = field(
        default=0.6, metadata={"help": "factor of the supervised loss, each epoch with rewards"}
    )
    style_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the style reward"}
    )
    content_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the content reward"}
    )
    temperature: Annotated[float, Field(gt=0)] = field(
        default=0.8, metadata={"help": "sentences are drawn at"}
    )
    baseline: bool = field(
        default=True,
        metadata={"help": "compare content with the likeliest sentence; released code: false"},
    )
    gated: bool = field(
        default=False, metadata={"help": "style counts as far as content does; for sentiment"}
    )
    diverse: bool = field(
        default=False, metadata={"help": "less reward for words drawn often; for sentiment"}
    )
    classifier_steps: Annotated[int, Field(ge=1)] = field(
        default=12_000, metadata={"help": "steps of the classifier"}
    )
    classifier_rate: Annotated[float, Field(gt=0)] = field(
        default=2e-5, metadata={"help": "AdamW's, of the classifier"}
    )
    classifier_dimension: Annotated[int, Field(ge=32)] = field(
        default=128, metadata={"help": "of a classifier from scratch, a multiple of 32"}
    )
    classifier_layers: Annotated[int, Field(ge=1)] = field(
        default=2, metadata={"help": "of a classifier from scratch"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "steps between validations; at most an epoch"}
    )
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "most pairs to choose weights with"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

    def __post_init__(self) -> None:
        if self.classifier_dimension % 32:
            raise InputError(
                f"classifier_dimension {self.classifier_dimension} is not a multiple of 32"
            )

    @classmethod
    def for_direction(cls, direction: Direction) -> BsrrConfig:
        """RMSprop, gates and diversity for sentiment; longer lines for Shakespeare and StylePTB."""
        if direction.dataset in ("yelp", "amazon", "mini"):
            mining: Literal["lexical", "semantic"] = (
                "semantic" if direction.dataset == "amazon" else "lexical"
            )
            return cls(optimizer="rmsprop", gated=True, diverse=True, mining=mining)
        if direction.dataset.startswith("gyafc"):
            return cls()
        return cls(max_length=60, sample_length=60)

    @classmethod
    def tstbench(cls, direction: Direction) -> BsrrConfig:
        """The benchmark's copy: rewards from the start, without a baseline; style weight 0.8."""
        return replace(
            cls.for_direction(direction), supervised_epochs=0, baseline=False, style_weight=0.8
        )

    @classmethod
    def small(cls, direction: Direction) -> BsrrConfig:
        """For a small BART: give its folder as ``base``."""
        return replace(
            cls.for_direction(direction),
            classifier=SCRATCH,
            optimizer="adamw",
            learning_rate=5e-4,
            reward_rate=3e-5,
            batch_size=32,
            epochs=2.7,
            supervised_epochs=2.45,
            sample_length=40,
            classifier_steps=400,
            classifier_rate=3e-4,
            validate_every=100,
            hold_out=120,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> BsrrConfig:
        """A random BART and mined pairs: learns next to nothing within seconds, for tests."""
        return replace(
            cls.for_direction(direction),
            base=SCRATCH,
            classifier=SCRATCH,
            optimizer="adamw",
            most_pairs=60,
            max_length=16,
            sample_length=12,
            batch_size=8,
            learning_rate=3e-3,
            reward_rate=3e-3,
            epochs=1,
            supervised_epochs=0.8,
            classifier_steps=5,
            classifier_dimension=32,
            validate_every=20,
            hold_out=6,
        )


@dataclass(frozen=True, kw_only=True)
class BsrrSettings:
    """How answers are generated; published: greedily."""

    beams: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "of the beam search; 1 is greedy"}
    )
    min_length: Annotated[int, Field(ge=0)] = field(
        default=10, metadata={"help": "shortest answer in tokens, its style counted"}
    )
    max_length: Annotated[int, Field(ge=0)] = field(
        default=0, metadata={"help": "longest answer in tokens; 0: as long as in training"}
    )
