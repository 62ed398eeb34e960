"""Train low-rank additions to the embedded encoder: half of a fine-tuning's time, a megabyte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from ...metrics.scorers.lora import MODEL_FILE, LoraModel, LoraNetwork, fresh_network
from ...metrics.scorers.transformer import longest_input
from ...settings import Count, Positive, Share, setting
from .data import LabelledSentences
from .finetuned import FinetuningConfig, train_network

LIBRARIES = ("torch", "transformers")


@dataclass(frozen=True, kw_only=True)
class LoraConfig(FinetuningConfig):
    """Settings of a training.

    The base may be the folder of a LoRA classifier of the same rank, which is trained on. What is
    kept is a mean of the weights before and after (Wortsman et al. 2022, "Robust fine-tuning of
    zero-shot models"). bfloat16 takes half the time on processors that have it; scores are
    computed in float32.
    """

    rank: Count = setting(16, "of what is added to the encoder's projections")
    learning_rate: Positive = setting(1e-3, "the highest, after the warm-up")
    kept: Share = setting(0.0, "the share of what the base had learned that stays")
    dtype: Literal["float32", "bfloat16"] = setting("bfloat16", "of most products in training")


Config = LoraConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: LoraConfig) -> LoraModel:
    """Train on labelled sentences, on the processor.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
        InputError: it is not a BERT.
    """
    state = torch.random.get_rng_state()
    torch.manual_seed(config.seed)  # the additions, the head and dropout
    try:
        network, tokenizer, source = _start(styles, config)
        before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
        network.halves = config.dtype == "bfloat16"
        hooks = network.listen()
        longest = min(config.max_tokens, longest_input(network, tokenizer))
        train_network(network, tokenizer, data, config, longest)
        for hook in hooks:
            hook.remove()
    finally:
        torch.random.set_rng_state(state)
    after = network.half().float().state_dict()
    means = {k: (1 - config.kept) * after[k] + config.kept * before[k] for k in after}
    network.load_state_dict(means)
    network.half().float()  # as it will be stored
    return LoraModel(tuple(styles), network, tokenizer, source)


def _start(styles: Sequence[str], config: LoraConfig) -> tuple[LoraNetwork, Any, str]:
    """A fresh network, or that of the classifier to go on from; its tokenizer; its encoder."""
    if not (Path(config.base) / MODEL_FILE).is_file():
        return *fresh_network(config.base, styles, config.rank), config.base
    network, tokenizer, source, _ = LoraModel.parts(Path(config.base))
    return network, tokenizer, source
