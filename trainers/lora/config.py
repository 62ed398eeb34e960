"""The settings of LLaMA-LoRA and LLaMA-LoRA-INST: training and generation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ...datasets_scripts.directions import Direction
from ...settings import Count, Natural, NotNegative, Positive, Share, setting
from ..system import SystemConfig
from ..training.pairs import PairsFrom
from .base import SCRATCH, Quantization
from .records import BUILTIN, Template


@dataclass(frozen=True, kw_only=True)
class AdapterConfig(SystemConfig):
    """What both have; the values of the benchmark's script for task adapters."""

    base: str = setting(
        "huggyllama/llama-7b", "any causal language model: Hub id, folder or GGUF file"
    )
    revision: str = setting("", "of a base on the Hub: branch, tag or commit")
    quantization: Quantization = setting(
        "4bit", "of the base: 4bit (NF4, double quantisation), 8bit or none"
    )
    r: Count = setting(16, "rank of the adapter")
    alpha: Count = setting(16, "what the adapter adds is scaled by alpha / r")
    dropout: Share = setting(0.05, "dropout before the adapter")
    target_modules: str = setting(
        "q_proj,v_proj", "layers that get an adapter, separated by commas; or all-linear"
    )
    template: Template = setting("alpaca", "alpaca; short: without the sentence before it")
    loss: Literal["completion", "all"] = setting(
        "completion", "all: the prompt's tokens too, as released"
    )
    cutoff: Annotated[int, Field(ge=8)] = setting(512, "tokens of a row; the rest is cut")
    batch_size: Count = setting(256, "rows a step")
    micro_batch: Count = setting(16, "rows at once: memory, not what is learned")
    grouping: Count = setting(50, "batches sorted by length together; 1 for none")
    epochs: Positive = setting(5, "epochs, also a part of one")
    learning_rate: Positive = setting(2e-4, "AdamW's highest; published grid: 2e-4, 5e-4, 1e-3")
    warm_up: Natural = setting(100, "steps in which the learning rate rises; then it falls to 0")
    clip: Positive = setting(1.0, "gradient norm")
    validate_every: Count = setting(200, "steps between validations; at most an epoch")
    hold_out: Count = setting(2000, "most rows to choose weights with")
    checkpointing: bool = setting(True, "compute activations again instead of keeping them")
    seed: Natural = setting(0, "of everything random")


@dataclass(frozen=True, kw_only=True)
class LlamaLoraConfig(AdapterConfig):
    """The published settings; see TSTBench's paper, section 4.1, and its ``TST_finetune.py``."""

    pairs: PairsFrom = setting(
        "data", "data, mined pseudo-pairs, or auto: mined if the data have none"
    )

    @classmethod
    def for_direction(cls, direction: Direction) -> LlamaLoraConfig:
        """StylePTB has smaller batches and more epochs."""
        if direction.dataset.startswith("styptb"):
            return cls(batch_size=128, epochs=10)
        return cls()

    @classmethod
    def tstbench(cls, direction: Direction) -> LlamaLoraConfig:
        """The benchmark's script learns the prompt's tokens, too."""
        return replace(cls.for_direction(direction), loss="all")

    @classmethod
    def small(cls, direction: Direction) -> LlamaLoraConfig:
        """For a small Llama (``examples/backbone``): give it as ``base``."""
        return replace(
            cls.for_direction(direction),
            quantization="none",
            target_modules="all-linear",
            r=32,
            alpha=64,
            dropout=0.0,
            template="short",
            cutoff=256,
            batch_size=32,
            micro_batch=32,
            epochs=6,
            learning_rate=3e-3,
            warm_up=60,
            hold_out=400,
            checkpointing=False,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> LlamaLoraConfig:  # noqa: ARG003
        """A random Llama and mined pairs: learns next to nothing within seconds, for tests."""
        return cls(**_TINY, pairs="auto")


@dataclass(frozen=True, kw_only=True)
class LlamaLoraInstConfig(AdapterConfig):
    """As the benchmark's adapter is called: r 16, six kinds of layers; the rest from its script.

    Its learning rate is not recorded; ours is that of Alpaca-LoRA.
    """

    target_modules: str = setting(
        "q_proj,k_proj,v_proj,o_proj,up_proj,down_proj",
        "layers that get an adapter, separated by commas; or all-linear",
    )
    batch_size: Count = setting(128, "rows a step")
    micro_batch: Count = setting(4, "rows at once: memory, not what is learned")
    epochs: Positive = setting(3, "epochs, also a part of one")
    learning_rate: Positive = setting(3e-4, "AdamW's highest")
    instructions: str = setting(
        "yahma/alpaca-cleaned", "what it learns from: Hub id, or file (.json, .jsonl, .parquet)"
    )
    instructions_revision: str = setting("", "of instructions on the Hub: branch, tag or commit")

    @classmethod
    def tiny(cls, direction: Direction) -> LlamaLoraInstConfig:  # noqa: ARG003
        """A random Llama and a few instructions of our own: for tests."""
        return cls(**_TINY, instructions=BUILTIN)


# For tests: both learn next to nothing.
_TINY: dict[str, Any] = {
    "base": SCRATCH,
    "quantization": "none",
    "target_modules": "q_proj,v_proj",
    "r": 4,
    "template": "short",
    "cutoff": 160,
    "batch_size": 16,
    "micro_batch": 16,
    "epochs": 1,
    "learning_rate": 1e-2,
    "warm_up": 2,
    "validate_every": 10,
    "hold_out": 8,
    "checkpointing": False,
}


@dataclass(frozen=True, kw_only=True)
class LoraSettings:
    """How answers are generated; published: beam search with 4 beams, at most 128 tokens."""

    beams: Count = setting(4, "of the beam search; 1 is greedy")
    max_new_tokens: Count = setting(128, "longest answer in tokens")
    temperature: NotNegative = setting(0.0, "above 0: draw tokens instead of searching")
    top_p: Annotated[float, Field(gt=0, le=1)] = setting(
        0.75, "drawing: the nucleus that tokens are drawn from"
    )
    top_k: Natural = setting(40, "drawing: the likeliest tokens to draw from; 0 for all")
    base: str = setting("", "folder of the base model, if it is not found by itself")
    quantization: Literal["trained", "none", "8bit", "4bit"] = setting(
        "trained", "of the base; trained: as it was in training"
    )


@dataclass(frozen=True, kw_only=True)
class InstructedSettings(LoraSettings):
    """And what it is asked."""

    prompts: str = setting(
        "tstbench-v1", "instructions of the directions: a name, or a file of your own (.toml)"
    )
