"""The settings of BSRR; see :mod:`.bsrr`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Count, Natural, NotNegative, Positive, Share, setting
from .learning.paired import PairsFrom
from .learning.seq2seq import SCRATCH
from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class BsrrConfig(SystemConfig):
    """The published settings; see the paper's section 4.2 and the released ``Model.py``."""

    base: str = setting(
        "facebook/bart-base", "pretrained BART: Hub id or folder; scratch: a tiny random one"
    )
    classifier: str = setting(
        "FacebookAI/roberta-base",
        "RoBERTa to judge style: Hub id or folder; scratch: a small new one",
    )
    pairs: PairsFrom = setting(
        "auto", "data, mined pseudo-pairs, or auto: mined if the data have none"
    )
    mining: Literal["lexical", "semantic"] = setting(
        "lexical", "pseudo-pairs are similar by letters, or by meaning"
    )
    most_pairs: Count = setting(20_000, "most pseudo-pairs to mine from each style")
    similarity: Annotated[float, Field(ge=-1, le=1)] = setting(
        0.85, "cosine above which a semantic pair is kept"
    )
    max_length: Annotated[int, Field(ge=8)] = setting(
        30, "longest answer in tokens, its style counted"
    )
    sample_length: Annotated[int, Field(ge=8)] = setting(
        25, "longest drawn sentence in tokens, its style counted"
    )
    batch_size: Count = setting(64, "pairs a step")
    grouping: Count = setting(20, "batches sorted by length together; 1 for none")
    optimizer: Literal["adamw", "rmsprop"] = setting(
        "adamw", "adamw, or rmsprop, published for sentiment"
    )
    learning_rate: Positive = setting(1e-5, "the optimiser's")
    reward_rate: Positive = setting(
        1e-5, "the optimiser's once there are rewards; published: equal"
    )
    clip: Positive = setting(1.0, "gradient norm, once there are rewards")
    epochs: Positive = setting(10, "times that each pair is seen, both ways")
    supervised_epochs: NotNegative = setting(2, "first epochs, without rewards")
    smoothing: Share = setting(0.15, "label smoothing")
    supervised_decay: Annotated[float, Field(gt=0, le=1)] = setting(
        0.6, "factor of the supervised loss, each epoch with rewards"
    )
    style_weight: NotNegative = setting(1.0, "weight of the style reward")
    content_weight: NotNegative = setting(1.0, "weight of the content reward")
    temperature: Positive = setting(0.8, "sentences are drawn at")
    baseline: bool = setting(
        True, "compare content with the likeliest sentence; released code: false"
    )
    gated: bool = setting(False, "style counts as far as content does; for sentiment")
    diverse: bool = setting(False, "less reward for words drawn often; for sentiment")
    classifier_steps: Count = setting(12_000, "steps of the classifier")
    classifier_rate: Positive = setting(2e-5, "AdamW's, of the classifier")
    classifier_dimension: Annotated[int, Field(ge=32)] = setting(
        128, "of a classifier from scratch, a multiple of 32"
    )
    classifier_layers: Count = setting(2, "of a classifier from scratch")
    validate_every: Count = setting(1000, "steps between validations; at most an epoch")
    hold_out: Count = setting(500, "most pairs to choose weights with")
    seed: Natural = setting(0, "of everything random")

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

    beams: Count = setting(1, "of the beam search; 1 is greedy")
    min_length: Natural = setting(10, "shortest answer in tokens, its style counted")
    max_length: Natural = setting(0, "longest answer in tokens; 0: as long as in training")
