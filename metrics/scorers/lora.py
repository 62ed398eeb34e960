"""A classifier in a megabyte: what low-rank additions (LoRA) change in an encoder, and a head.

The encoder's weights stay what they were, and a product of two narrow matrices is added to each of
its projections (Hu et al. 2022, section 4.1). Only what was learned is kept, in halves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from ...errors import InputError, IntegrityError
from ...files import read_text, write_bytes, write_json
from ...settings import Count, Positive, Share, setting
from .device import HERE, Placement
from .encoder_files import HASHED, check_same_encoder, encoder_folder
from .finetuned import FinetuningConfig, train_network
from .meaning_network import LowRank
from .packed_bert import is_packable
from .train import LabelledSentences
from .transformer import TransformerModel, longest_input
from .weights import load_pretrained, weights_digest

MODEL_FILE = "model.json"
WEIGHTS_FILE = "weights.safetensors"
SCALE = 2.0  # of what is added
_WIDEST = 4_096  # a file of somebody else cannot ask for more memory than that takes


class LoraNetwork(nn.Module):
    """From token ids to logits: an encoder, additions to its projections, and a linear head.

    Args:
        encoder: a transformers ``BertModel`` with its pooler; only :meth:`merge` changes it.
        styles: how many.
        rank: of the matrices that are added.
    """

    def __init__(self, encoder: Any, styles: int, rank: int) -> None:
        super().__init__()
        self._encoder = [encoder.requires_grad_(False)]  # a list: not of our parameters
        self.rank, self.halves = rank, False  # whether it is trained in bfloat16
        self._parts = [part for part in encoder.modules() if isinstance(part, nn.Linear)]
        self._low = [LowRank(part.in_features, part.out_features, rank) for part in self._parts]
        self.added = nn.ModuleList(self._low)
        self.drop = nn.Dropout(0.1)
        self.classifier = nn.Linear(encoder.config.hidden_size, styles)

    @property
    def base_model(self) -> Any:
        """The encoder."""
        return self._encoder[0]

    @property
    def config(self) -> Any:
        """The encoder's configuration."""
        return self.base_model.config

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.classifier.weight.device

    def listen(self) -> list[Any]:
        """Add while the encoder computes, to train; returns the hooks, to be removed."""

        def hook(added: nn.Module) -> Any:
            return lambda _part, inputs, output: output + SCALE * added(inputs[0])

        pairs = zip(self._parts, self.added, strict=True)
        return [part.register_forward_hook(hook(added)) for part, added in pairs]

    @torch.no_grad()
    def merge(self) -> None:
        """Add to the encoder's own weights, once."""
        for part, added in zip(self._parts, self._low, strict=True):
            part.weight += SCALE * (added.up @ added.down)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SequenceClassifierOutput:
        """Logits of B sentences: shape (B, S)."""
        with torch.autocast("cpu", torch.bfloat16, enabled=self.halves):
            states = self.base_model(input_ids=input_ids, attention_mask=attention_mask)
        logits = self.classifier(self.drop(states.pooler_output.float()))
        return SequenceClassifierOutput(logits=logits)


class LoraModel(TransformerModel):
    """A trained network, merged, and its tokenizer.

    Args:
        styles: S names.
        network: its additions are merged here.
        tokenizer: the encoder's.
        source: Hub id or folder of the encoder.
        batch_size: the most sentences in a batch.
    """

    def __init__(
        self, styles: tuple[str, ...], network: LoraNetwork, tokenizer: Any, source: str,
        batch_size: int | None = None,
    ) -> None:  # fmt: skip
        network.merge()
        super().__init__(styles, network, tokenizer, range(len(styles)), batch_size)
        self._source = source

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.safetensors``: only what was learned, in halves."""
        settings = {
            "styles": self.styles,
            "encoder": {
                "model": self._source,
                "hash": weights_digest(encoder_folder(self._source), HASHED),
            },
            "rank": self._model.rank,
        }
        write_json(folder / MODEL_FILE, settings)
        weights = {k: v.half().contiguous() for k, v in self._model.state_dict().items()}
        write_bytes(folder / WEIGHTS_FILE, save(weights))

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> LoraModel:
        """Read back what :meth:`save` wrote; raises like :meth:`parts`."""
        network, tokenizer, model, styles = cls.parts(folder, placement)
        return cls(styles, network, tokenizer, model, placement.batch_size)

    @staticmethod
    def parts(
        folder: Path, placement: Placement = HERE
    ) -> tuple[LoraNetwork, Any, str, tuple[str, ...]]:
        """A stored network, not merged, its tokenizer, its encoder's name and its styles.

        Raises:
            MissingScorerError: the encoder's weights cannot be found or downloaded.
            IntegrityError: they are not those it was trained on, or the files are damaged.
        """
        try:
            settings = json.loads(read_text(folder / MODEL_FILE))
            model, digest = str(settings["encoder"]["model"]), str(settings["encoder"]["hash"])
            styles, rank = tuple(settings["styles"]), int(settings["rank"])
            if not 1 <= rank <= _WIDEST:
                raise ValueError(f"a rank from 1 to {_WIDEST} is needed")
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityError(f"{folder / MODEL_FILE} is not a LoRA classifier's") from error
        check_same_encoder(folder, model, digest)
        network, tokenizer = fresh_network(model, styles, rank, placement)
        weights = load_file(folder / WEIGHTS_FILE)
        try:
            network.load_state_dict(
                {k: v.to(network.classifier.weight) for k, v in weights.items()}
            )
        except RuntimeError as error:
            raise IntegrityError(
                f"{folder / WEIGHTS_FILE} does not fit the network that {MODEL_FILE} describes"
            ) from error
        return network, tokenizer, model, styles


def fresh_network(
    model: str, styles: Sequence[str], rank: int, placement: Placement = HERE
) -> tuple[LoraNetwork, Any]:
    """An untrained network over its own copy of an encoder, and the tokenizer.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
        InputError: it is not a BERT.
    """
    encoder, tokenizer = load_pretrained(encoder_folder(model), placement, "AutoModel", pooled=True)
    if not is_packable(encoder.config) or encoder.pooler is None:
        raise InputError(f"LoRA classifiers are built on a BERT with a pooler, but {model} is none")
    network = LoraNetwork(encoder, len(styles), rank)
    return network.to(device=encoder.device, dtype=encoder.dtype), tokenizer


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
