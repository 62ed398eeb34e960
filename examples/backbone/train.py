"""Backbones: small pretrained language models, for machines without the weights of the large ones.

Systems such as STRAP and TYB fine-tune a pretrained model, by its Hub id or a folder. This trains
such a folder from scratch, on the training sentences at hand:

- ``bart`` (Lewis et al. 2020): rebuilds sentences whose spans were replaced by masks (text
  infilling, section 2.2), with a loss over all tokens of the sentence;
- ``gpt2`` and ``llama``: predict the next token in blocks of sentences.

What comes of it has the formats of the real ones, but not their knowledge: it has seen some hundred
thousand sentences. A small model does not come to copy from its context by itself in so short a
time; ``repeated`` lets causal models read some sentences twice in a row, which teaches it.
"""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tstbench.console import say
from tstbench.files import atomic_folder, write_json, write_jsonl, write_text
from tstbench.metrics.scorers.fitting import warmed_up
from tstbench.pace import training
from tstbench.settings import as_json
from tstbench.store import canonical, data_fingerprint
from tstbench.trainers.training.backbones import (
    BackboneFamily,
    byte_level_tokenizer,
    random_model,
)
from tstbench.trainers.training.curve import CURVE_FILE
from tstbench.trainers.training.loop import Learned, Learner, Terms, Update, learn
from tstbench.trainers.training.run import IN_MEMORY, Run
from tstbench.trainers.training.sampler import Order

from .config import BackboneConfig
from .denoising import infilled
from .text import BackboneText

CARD_FILE = "backbone.json"
_IGNORED = -100
_STD = 0.02  # of all three families' random weights


class _Learner(Learner):
    """What both kinds of backbone share: rows of ids, and a loss per token of a batch."""

    def __init__(self, model: Any, config: BackboneConfig, rows: Sequence[Sequence[int]]) -> None:
        self.network, self._model, self._config = model, model, config
        self.steps, self.validate_every, self.seed = (
            config.steps,
            config.validate_every,
            config.seed,
        )
        drawn = np.random.default_rng(config.seed).permutation(len(rows))
        n_held = min(config.hold_out, len(rows) // 2)
        self._held = [rows[i] for i in drawn[:n_held]]
        self._rows = [rows[i] for i in drawn[n_held:]]
        self._order = Order(
            [len(row) for row in self._rows], config.batch_size, config.seed, grouping=50
        )
        self.optimizers = {
            "model": torch.optim.AdamW(
                model.parameters(),
                lr=config.learning_rate,
                betas=(0.9, 0.98),
                weight_decay=config.weight_decay,
            )
        }

    def update(self, step: int) -> Update:
        config = self._config
        rate = config.learning_rate * warmed_up(step, int(config.warm_up * self.steps), self.steps)
        return Update(
            name="model",
            optimizers=("model",),
            loss=partial(self._loss, step),
            order=self._order,
            number=step,
            rates={"model": rate},
            clip=config.clip,
        )

    def _loss(self, step: int, batch: np.ndarray) -> Terms:
        """Cross-entropy per token of the batch."""
        rows = [self._rows[i] for i in batch]
        # Of the step and the sentence, whatever its batch.
        noise = [np.random.default_rng([self.seed, step, int(i)]) for i in batch]
        n_tokens = sum(self._n_learned(self._rows[i]) for i in batch)
        return {"loss": self._summed_loss(rows, noise) / n_tokens}

    def validate(self) -> Mapping[str, float]:
        total, n_tokens = 0.0, 0
        for start in range(0, len(self._held), self._config.batch_size):
            rows = self._held[start : start + self._config.batch_size]
            noise = [np.random.default_rng([self.seed, start + i]) for i in range(len(rows))]
            total += float(self._summed_loss(rows, noise))
            n_tokens += sum(map(self._n_learned, rows))
        loss = total / n_tokens
        return {"selection": -loss, "loss": loss}

    @abstractmethod
    def _n_learned(self, row: Sequence[int]) -> int:
        """The tokens of a row that the loss is summed over."""

    @abstractmethod
    def _summed_loss(
        self, rows: Sequence[Sequence[int]], noise: Sequence[np.random.Generator]
    ) -> Tensor:
        """The sum over the tokens of these rows."""


class _Denoiser(_Learner):
    """BART: ``<s> a <mask> d </s>`` is read, ``<s> a b c d </s>`` is written."""

    def __init__(
        self, model: Any, config: BackboneConfig, rows: Sequence[Sequence[int]], tokenizer: Any
    ) -> None:
        super().__init__(model, config, rows)
        self._tokenizer = tokenizer

    def _n_learned(self, row: Sequence[int]) -> int:
        return len(row)

    def _summed_loss(
        self, rows: Sequence[Sequence[int]], noise: Sequence[np.random.Generator]
    ) -> Tensor:
        config, device = self._config, self._model.device
        read = [
            [row[0], *self._noisy(row[1:-1], random, config), row[-1]]
            for row, random in zip(rows, noise, strict=True)
        ]
        words = _padded(read, self._tokenizer.pad_token_id).to(device)
        labels = _padded(rows, _IGNORED).to(device)
        logits = self._model(
            input_ids=words, attention_mask=words != self._tokenizer.pad_token_id, labels=labels
        ).logits
        return _summed(logits, labels)

    def _noisy(
        self, ids: Sequence[int], random: np.random.Generator, config: BackboneConfig
    ) -> list[int]:
        return infilled(
            ids,
            random,
            ratio=config.mask_ratio,
            mean_span=config.mean_span,
            mask=self._tokenizer.mask_token_id,
        )


class _Predictor(_Learner):
    """GPT-2 and Llama: the next token of a block."""

    def _n_learned(self, row: Sequence[int]) -> int:
        return len(row) - 1

    def _summed_loss(
        self,
        rows: Sequence[Sequence[int]],
        noise: Sequence[np.random.Generator],  # noqa: ARG002 - there is none
    ) -> Tensor:
        words = torch.tensor(rows, device=self._model.device)
        return _summed(self._model(input_ids=words).logits[:, :-1], words[:, 1:])


def train_backbone(
    text: BackboneText,
    family: BackboneFamily,
    config: BackboneConfig,
    folder: Path | str,
    run: Run = IN_MEMORY,
) -> Learned:
    """Train a tokenizer and a model, and write them as a checkpoint of transformers.

    ``AutoModel.from_pretrained(folder)`` and ``AutoTokenizer.from_pretrained(folder)`` read it. It
    appears whole or not at all; an earlier backbone at its place is replaced.

    Args:
        text: to learn from.
        family: of the model.
        config: its sizes, and how it learns.
        folder: to write.
        run: where and how; without a folder, checkpoints are in ``$TSTBENCH_HOME/runs``.

    Raises:
        InputError: the folder contains something else, or a setting does not fit another.
    """
    shape = config.shape  # refused before anything is computed
    card = _card(text, family, config)
    recipe = hashlib.sha256(canonical(card)).hexdigest()
    with ExitStack() as held:
        work = held.enter_context(training(f"this {family}", "backbone", recipe, run.folder))
        scratch = held.enter_context(atomic_folder(folder, ours=_is_backbone))
        say(f"training {family} on {len(text.sentences):,} sentences")
        tokenizer = byte_level_tokenizer(
            text.sentences, family, config.vocabulary_size, config.positions
        )
        torch.manual_seed(config.seed)
        model = random_model(family, shape, tokenizer)
        if config.initial == "scaled":
            scale_weights(model)
        learner = _learner(family, model, config, text.sentences, tokenizer)
        run.continues(work)
        learned = learn(learner, replace(run, folder=work), recipe)
        model.to("cpu").save_pretrained(scratch)
        tokenizer.save_pretrained(scratch)
        scores = {"step": learned.step, **learned.scores}
        write_json(scratch / CARD_FILE, {**card, "scores": scores})
        write_jsonl(scratch / CURVE_FILE, [dict(row) for row in learned.curve])
        write_text(scratch / "README.md", _readme(card, scores))
    return learned


def scale_weights(model: Any) -> None:
    """Let a small model begin where it soon learns to copy.

    Learned positions begin as sinusoids (Vaswani et al. 2017, section 3.5), so that a place is like
    its neighbours, and like the same place in BART's other stack. BART's projections are widened:
    the usual standard deviation of 0.02 is that of models of 768 dimensions, and leaves little of
    what a narrower layer reads. Without both, a BART of 128 dimensions needs several times the
    steps until it copies. Llama has neither learned positions nor layers that need it.

    Args:
        model: of :func:`random_model`; changed in place.
    """
    dimension = int(model.config.hidden_size)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.weight is not _tied(model):
                sinusoids = _sinusoids(len(module.weight), dimension)
                module.weight.copy_(_STD * 2**0.5 * sinusoids)
            wide = isinstance(module, nn.Linear) and module.weight is not _tied(model)
            if wide and model.config.model_type == "bart":
                module.weight.mul_((768 / dimension) ** 0.5)


def _tied(model: Any) -> Tensor:
    """The embeddings of tokens, which are the output layer too."""
    weight: Tensor = model.get_input_embeddings().weight
    return weight


def _sinusoids(places: int, dimension: int) -> Tensor:
    """Shape (places, dimension); wavelengths from 2 pi to 1,000 times that: rows are short."""
    angles = torch.arange(places)[:, None] * torch.exp(
        torch.arange(0, dimension, 2) * (-math.log(1000.0) / dimension)
    )
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dimension]


def _learner(
    family: BackboneFamily,
    model: Any,
    config: BackboneConfig,
    sentences: Sequence[str],
    tokenizer: Any,
) -> _Learner:
    if family == "bart":
        longest = config.max_length
        rows = tokenizer(list(sentences), truncation=True, max_length=longest)["input_ids"]
        return _Denoiser(model, config, rows, tokenizer)
    ids = tokenizer(list(sentences), add_special_tokens=False)["input_ids"]
    return _Predictor(model, config, blocks(ids, tokenizer.eos_token_id, config))


def blocks(ids: Sequence[Sequence[int]], end: int, config: BackboneConfig) -> list[list[int]]:
    """Sentences one after the other, an end before each, cut into rows of ``max_length`` tokens.

    Args:
        ids: of each sentence.
        end: the token between sentences.
        config: a share ``repeated`` of the sentences follows itself.
    """
    random = np.random.default_rng(config.seed)
    twice = random.random(len(ids)) < config.repeated
    stream: list[int] = []
    for row, again in zip(ids, twice, strict=True):
        for _ in range(1 + int(again)):
            stream += [end, *row]
    stream += [end] * (config.max_length if len(stream) < 2 * config.max_length else 1)
    whole = len(stream) // config.max_length * config.max_length
    return [stream[i : i + config.max_length] for i in range(0, whole, config.max_length)]


def _summed(logits: Tensor, labels: Tensor) -> Tensor:
    return F.cross_entropy(
        logits.flatten(0, 1).float(), labels.flatten(), ignore_index=_IGNORED, reduction="sum"
    )


def _padded(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])


def _is_backbone(folder: Path) -> bool:
    return (folder / CARD_FILE).is_file()


def _card(text: BackboneText, family: BackboneFamily, config: BackboneConfig) -> dict[str, Any]:
    return {
        "family": family,
        "datasets": list(text.datasets),
        "n_sentences": len(text.sentences),
        "n_excluded": text.n_excluded,
        "data_fingerprint": data_fingerprint(text.sentences),
        "settings": as_json(config),
    }


def _readme(card: Mapping[str, Any], scores: Mapping[str, float]) -> str:
    settings = [f"| {name} | {value} |" for name, value in card["settings"].items()]
    head = "AutoModelForSeq2SeqLM" if card["family"] == "bart" else "AutoModelForCausalLM"
    lines = [
        f"# A small {card['family']}",
        "",
        f"A language model of the family {card['family']}, trained from scratch on "
        f"{card['n_sentences']:,} training sentences of {', '.join(card['datasets'])}; "
        f"{card['n_excluded']:,} were left out because they occur in a test split. It is there to "
        "be fine-tuned where the weights of a large model are missing, and knows no more than "
        "these sentences.",
        "",
        "```python",
        f"from transformers import {head}, AutoTokenizer",
        "",
        f'model = {head}.from_pretrained("<this folder>")',
        'tokenizer = AutoTokenizer.from_pretrained("<this folder>")',
        "```",
        "",
        f"- data fingerprint: `{card['data_fingerprint']}`",
        f"- loss per token of held-out text: {scores['loss']:.4f}, after {scores['step']} steps",
        "",
        "| setting | value |",
        "| --- | --- |",
        *settings,
    ]
    return "\n".join(lines) + "\n"
