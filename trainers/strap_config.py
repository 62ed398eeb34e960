"""The settings of STRAP: training and generation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ..datasets_scripts.directions import Direction
from .learning.prefix_learner import Tuning
from .system import SystemConfig


@dataclass(frozen=True, kw_only=True)
class StrapConfig(SystemConfig):
    """The published settings: sections 2 and 4.2, and the released ``run_lm_finetuning.py``."""

    base: str = field(
        default="openai-community/gpt2-large",
        metadata={"help": "a GPT-2 to fine-tune: Hub id or folder"},
    )
    paraphraser: str = field(
        default="corpus",
        metadata={"help": "corpus, pairs, rules, or a trained one: Hub id or folder"},
    )
    paraphrases: str = field(
        default="", metadata={"help": "the corpus: a file of sentence, tab, paraphrase"}
    )
    max_overlap: Annotated[float, Field(ge=0)] = field(
        default=0.5, metadata={"help": "corpus: pairs must share a lower part of their words"}
    )
    max_tau: float = field(
        default=0.0, metadata={"help": "corpus: Kendall's tau of shared words must be lower"}
    )
    max_difference: Annotated[int, Field(ge=0)] = field(
        default=5, metadata={"help": "corpus: largest difference in words"}
    )
    salience: Annotated[float, Field(gt=1)] = field(
        default=3.0, metadata={"help": "rules: how much more frequent a style's markers are"}
    )
    min_count: Annotated[int, Field(ge=1)] = field(
        default=20, metadata={"help": "rules: occurrences that make a marker"}
    )
    drop: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.1, metadata={"help": "rules: share of other words that are left out"}
    )
    shuffle: Annotated[float, Field(ge=0)] = field(
        default=2.0, metadata={"help": "rules: how far words move"}
    )
    max_prefix: Annotated[int, Field(ge=1)] = field(
        default=50, metadata={"help": "tokens that are read; the rest is cut"}
    )
    max_suffix: Annotated[int, Field(ge=1)] = field(
        default=50, metadata={"help": "tokens that are written; the rest is cut"}
    )
    padding: Literal["masked", "released"] = field(
        default="masked", metadata={"help": "released: padding is read, as in the released code"}
    )
    paraphraser_epochs: Annotated[int, Field(ge=1)] = field(
        default=3, metadata={"help": "epochs of the paraphraser, where it is fine-tuned"}
    )
    epochs: Annotated[int, Field(ge=1)] = field(
        default=3, metadata={"help": "epochs of the inverse paraphraser"}
    )
    batch_size: Annotated[int, Field(ge=1)] = field(
        default=10, metadata={"help": "sentences a step"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=5e-5, metadata={"help": "AdamW's at the start; it falls in a line to 0"}
    )
    clip: Annotated[float, Field(gt=0)] = field(default=1.0, metadata={"help": "gradient norm"})
    grouping: Annotated[int, Field(ge=1)] = field(
        default=50, metadata={"help": "batches that are sorted by length together; 1: none"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "steps between validations"}
    )
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "sentences of each style to choose weights with"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

    @property
    def format(self) -> dict[str, Any]:
        """Of the rows of both models."""
        return {
            "max_prefix": self.max_prefix,
            "max_suffix": self.max_suffix,
            "released": self.padding == "released",
        }

    def tuning(self, epochs: int) -> Tuning:
        """Of either model."""
        return Tuning(
            epochs=epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            clip=self.clip,
            grouping=self.grouping,
            validate_every=self.validate_every,
            seed=self.seed,
        )

    @classmethod
    def for_direction(cls, direction: Direction) -> StrapConfig:
        """The released scripts for formality take the small GPT-2."""
        formality = direction.dataset.startswith("gyafc")
        return cls(base="openai-community/gpt2") if formality else cls()

    @classmethod
    def small(cls, direction: Direction) -> StrapConfig:
        """For a small GPT-2 (``tstbench train backbone``), which ``base`` must name."""
        return replace(
            cls.for_direction(direction),
            paraphraser="rules",
            batch_size=32,
            learning_rate=1e-3,
            epochs=4,
            paraphraser_epochs=4,
            validate_every=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> StrapConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            base="scratch",
            paraphraser="rules",
            min_count=3,
            max_prefix=24,
            max_suffix=24,
            epochs=1,
            paraphraser_epochs=1,
            batch_size=32,
            learning_rate=3e-3,
            validate_every=20,
            hold_out=8,
        )


@dataclass(frozen=True, kw_only=True)
class StrapSettings:
    """How the inverse paraphraser writes; the paper reports 0.0, 0.6 and 0.9."""

    top_p: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.0, metadata={"help": "nucleus that tokens are drawn from; 0: the likeliest"}
    )
