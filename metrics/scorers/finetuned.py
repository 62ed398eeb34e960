"""Fine-tune the embedded encoder, or one that was fine-tuned before, in minutes on a laptop.

Unlike :mod:`.transformer`, which keeps the paper's settings, it is made for a small model on a
processor: sentences of similar length share a batch, the word embeddings stay as they are (half of
MiniLM's weights, which a few thousand sentences cannot improve), and the learning rate warms up
and falls, since it is several times the paper's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import JsonValue

from ...settings import Count, Natural, NotNegative, Positive, Share, setting
from .artefacts import portable_folder
from .encoder_files import EMBEDDED_ENCODER, encoder_folder
from .fitting import resumable, with_new_head
from .train import ClassifierConfig, LabelledSentences
from .transformer import TransformerModel, longest_input
from .weights import read_tokenizer

LIBRARIES = ("torch", "transformers")
_SORTED_TOGETHER = 50  # batches whose sentences are sorted by length together


@dataclass(frozen=True, kw_only=True)
class FinetuningConfig(ClassifierConfig):
    """Settings of a fine-tuning, of all weights or of few."""

    base: str = setting(EMBEDDED_ENCODER, "Hub id or local folder of the pretrained model")
    epochs: Positive = setting(1.5, "passes over the sentences; may be a fraction")
    most_sentences: Natural = setting(0, "how many are used, chosen at random; 0 for all")
    least_steps: Natural = setting(1, "a small corpus is read several times, to take so many")
    batch_size: Count = setting(32, "sentences a step")
    learning_rate: Positive = setting(1e-4, "the highest, after the warm-up; then it falls to 0")
    warm_up: Share = setting(0.06, "share of the steps in which the rate rises")
    betas: tuple[Share, Share] = setting((0.9, 0.98), "of AdamW, such as [0.9, 0.98]")
    epsilon: Positive = setting(1e-6, "of AdamW")
    weight_decay: NotNegative = setting(0.01, "of AdamW")
    max_gradient: Positive = setting(1.0, "longer gradients are cut to this length")
    max_tokens: Count = setting(64, "longer training sentences are cut")

    def settings(self) -> dict[str, JsonValue]:
        """The settings without local paths: a local base is identified by its content."""
        settings = super().settings()
        if Path(self.base).is_dir():
            settings["base"] = portable_folder(Path(self.base), "folder")
        return settings


@dataclass(frozen=True, kw_only=True)
class FinetunedConfig(FinetuningConfig):
    """Settings of the fine-tuning of all weights."""

    frozen_layers: Natural = setting(0, "the lowest layers, which keep their weights")


Config = FinetunedConfig


def fit(
    data: LabelledSentences, styles: Sequence[str], config: FinetunedConfig
) -> TransformerModel:
    """Fine-tune on labelled sentences, in float32, on the processor.

    Raises:
        MissingScorerError: the pretrained weights cannot be found or downloaded.
        MissingExtraError: the embedded encoder's package is not installed.
    """
    state = torch.random.get_rng_state()
    torch.manual_seed(config.seed)  # the new head and dropout
    try:
        model, tokenizer = _pretrained(encoder_folder(config.base), styles)
        _freeze(model, config.frozen_layers)
        longest = min(config.max_tokens, longest_input(model, tokenizer))
        train_network(model, tokenizer, data, config, longest)
    finally:
        torch.random.set_rng_state(state)
    return TransformerModel(tuple(styles), model, tokenizer, range(len(styles)))


def _pretrained(folder: Path, styles: Sequence[str]) -> tuple[Any, Any]:
    model = with_new_head(folder, styles)
    # A path in the configuration would make equal trainings differ.
    model.config._name_or_path = ""
    tokenizer = read_tokenizer(folder)
    tokenizer.name_or_path = ""
    return model, tokenizer


def _freeze(model: Any, layers: int) -> None:
    """Keep the embeddings and the lowest layers as they are."""
    frozen = ("embeddings.", *(f"encoder.layer.{i}." for i in range(layers)))
    for name, parameter in model.base_model.named_parameters():
        if name.startswith(frozen):
            parameter.requires_grad = False


def _chosen(n: int, config: FinetuningConfig) -> list[int]:
    """The indices of the sentences that are used, in their order."""
    if not 0 < config.most_sentences < n:
        return list(range(n))
    return sorted(random.Random(config.seed).sample(range(n), config.most_sentences))


def train_network(
    model: Any, tokenizer: Any, data: LabelledSentences, config: FinetuningConfig, longest: int
) -> None:
    """Train what is not frozen on sentences cut after so many tokens; ends in evaluation mode."""
    chosen = _chosen(len(data), config)
    texts, labels = [data.sentences[i] for i in chosen], [data.labels[i] for i in chosen]
    encoded = tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
    trained = [p for p in model.parameters() if p.requires_grad]
    decay = config.weight_decay  # of matrices, not of biases and norms
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(
        groups, lr=config.learning_rate, betas=config.betas, eps=config.epsilon
    )
    per_epoch = -(-len(encoded) // config.batch_size)
    steps = max(config.least_steps, int(per_epoch * config.epochs), 1)
    rng, padding = random.Random(config.seed), model.config.pad_token_id or 0
    epochs = range(-(-steps // per_epoch))
    batches = (b for _ in epochs for b in _batches(encoded, config.batch_size, rng))
    model.train()
    with resumable(model, optimiser, batches, steps) as left:
        for step, batch in left:
            for group in optimiser.param_groups:
                group["lr"] = config.learning_rate * schedule(step, steps, config.warm_up)
            ids, mask = _padded([encoded[i] for i in batch], padding)
            logits = model(input_ids=ids, attention_mask=mask).logits
            target = torch.tensor([labels[i] for i in batch])
            optimiser.zero_grad(set_to_none=True)
            torch.nn.functional.cross_entropy(logits, target).backward()
            torch.nn.utils.clip_grad_norm_(trained, config.max_gradient)
            optimiser.step()
    model.eval()


def schedule(step: int, steps: int, warm_up: float) -> float:
    """Which share of the highest learning rate a step has: up in a line, then down in a line.

    >>> [schedule(step, 6, 0.34) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    rising = int(warm_up * steps)
    return (step + 1) / rising if step < rising else (steps - step) / (steps - rising)


def _batches(encoded: Sequence[Sequence[int]], size: int, rng: random.Random) -> list[list[int]]:
    """One epoch: every index once, in batches of similar length and random order."""
    order = list(range(len(encoded)))
    rng.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), size * _SORTED_TOGETHER):
        some = sorted(order[start : start + size * _SORTED_TOGETHER], key=lambda i: len(encoded[i]))
        parts = [some[i : i + size] for i in range(0, len(some), size)]
        rng.shuffle(parts)
        batches += parts
    return batches


def _padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask: two of shape (B, longest)."""
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), padding, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return ids, mask
