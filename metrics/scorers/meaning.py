"""The meaning scorer: how much of what a sentence says another one keeps, whatever its style.

An encoder that reads both sentences together (:mod:`.meaning_network`), fine-tuned on made pairs:
rewrites of another style in which one content word or phrase was changed, left out or added, or
nothing was (``examples/meaning``). No human score was used to train it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save
from torch import Tensor

from ...errors import InputError, IntegrityError
from ...files import read_text, write_bytes, write_json
from .base import SentenceMemo, length_sorted_batches
from .device import HERE, Placement
from .encoder import TransformerEncoder, load_encoder
from .encoder_files import check_same_encoder, encoder_folder
from .meaning_network import MeaningNetwork, alikeness
from .transformer import longest_input
from .weights import load_pretrained

MODEL_FILE = "model.json"
WEIGHTS_FILE = "weights.safetensors"
_BATCH_TOKENS = 2_048
_WIDEST = 4_096  # a file of somebody else cannot ask for more memory than that takes

Ids = Sequence[int]


class PairReader:
    """Turns two sentences into what the network reads.

    Args:
        encoder: a transformers ``BertModel``.
        tokenizer: its tokenizer.
    """

    def __init__(self, encoder: Any, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        weights = encoder.embeddings.word_embeddings.weight.detach()
        self._words = F.normalize(weights.cpu(), dim=-1)  # pairs are put together there
        self._device = weights.device
        self.longest = (longest_input(encoder, tokenizer) - 3) // 2  # of one sentence, in tokens

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of N sentences, without special tokens, cut at :attr:`longest`."""
        if not texts:
            return []
        found = self.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return [some[: self.longest] for some in found]

    def batch(self, pairs: Sequence[tuple[Ids, Ids]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """B pairs as :meth:`~.meaning_network.MeaningNetwork.forward` takes them, padded."""
        start, stop = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        length = max(len(first) + len(second) for first, second in pairs) + 3
        ids = torch.zeros(len(pairs), length, dtype=torch.long)
        sides, real = torch.zeros_like(ids), torch.zeros(ids.shape, dtype=torch.bool)
        alike = torch.zeros(*ids.shape, 3)
        for row, (first, second) in enumerate(pairs):
            both = [start, *first, stop, *second, stop]
            ids[row, : len(both)] = torch.tensor(both)
            sides[row, len(first) + 2 : len(both)] = 1
            real[row, : len(both)] = True
            alike[row, : len(both)] = alikeness(self._words, first, second)
        return (
            ids.to(self._device),
            sides.to(self._device),
            real.to(self._device),
            alike.to(self._device),
        )


class MeaningModel:
    """A trained network, and the plain encoder for the sentences' cosine.

    Args:
        network: see :class:`~.meaning_network.MeaningNetwork`; it is merged.
        reader: of its encoder.
        encoder: the same model, last layer.
    """

    def __init__(
        self, network: MeaningNetwork, reader: PairReader, encoder: TransformerEncoder
    ) -> None:
        self.network = network.eval()
        self.network.merge()
        self.reader, self.encoder = reader, encoder
        self._kept = SentenceMemo(self._compute)

    def remember(self, sentences: Sequence[str]) -> None:
        """Encode sentences for the cosine, which the encoder then remembers."""
        self.encoder.token_vectors(sentences)

    def kept(self, sources: Sequence[str], outputs: Sequence[str]) -> np.ndarray:
        """P(meaning is kept) and sentence cosine of N pairs: shape (N, 2), float64.

        P is the sigmoid of the mean of the logits of both orders, so that it is symmetric. The
        cosine is between the means of the last layer's token vectors. Each distinct pair is scored
        once. A pair with an empty sentence has 0 and 0.

        Raises:
            InputError: unequal lengths.
        """
        if len(sources) != len(outputs):
            raise InputError(f"{len(sources)} sources but {len(outputs)} outputs: not aligned")
        pairs = list(zip(sources, outputs, strict=True))
        return self._kept(pairs).reshape(-1, 2)

    def _compute(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        scores = np.zeros((len(pairs), 2))
        texts = {text: i for i, text in enumerate(dict.fromkeys(t for p in pairs for t in p))}
        means = self.encoder.sentence_vectors(list(texts)).astype(np.float64)
        rows = np.array([(texts[a], texts[b]) for a, b in pairs])
        scores[:, 1] = (means[rows[:, 0]] * means[rows[:, 1]]).sum(1)
        ids = self.reader.ids(list(texts))
        lengths = [len(ids[a]) + len(ids[b]) + 3 for a, b in rows]
        scores[:, 0] = 1 / (1 + np.exp(-self._logits([(ids[a], ids[b]) for a, b in rows], lengths)))
        empty = [not a.strip() or not b.strip() for a, b in pairs]
        scores[empty] = 0.0
        return scores

    def _logits(self, pairs: Sequence[tuple[Ids, Ids]], lengths: Sequence[int]) -> np.ndarray:
        """The mean of both orders, for each pair of token ids."""
        found = np.zeros(len(pairs))
        with torch.inference_mode():
            for batch in length_sorted_batches(lengths, _BATCH_TOKENS):
                there = [pairs[i] for i in batch]
                back = [(second, first) for first, second in there]
                for some in (there, back):
                    found[batch] += self.network(*self.reader.batch(some))[0].cpu().double().numpy()
        return found / 2

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``weights.safetensors``: only what was learned, in halves."""
        settings = {
            "encoder": {"model": self.encoder.source, "hash": self.encoder.hash},
            "rank": self.network.rank,
            "scale": self.network.scale,
            "hidden": self.network.hidden,
        }
        write_json(folder / MODEL_FILE, settings)
        weights = {k: v.detach().half().contiguous() for k, v in self.network.state_dict().items()}
        write_bytes(folder / WEIGHTS_FILE, save(weights))

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> MeaningModel:
        """Read back what :meth:`save` wrote.

        Raises:
            MissingScorerError: the encoder's weights cannot be found or downloaded.
            IntegrityError: they are not those it was trained on, or the files are damaged.
        """
        try:
            settings = json.loads(read_text(folder / MODEL_FILE))
            rank, hidden = int(settings["rank"]), int(settings["hidden"])
            scale = float(settings["scale"])
            model, digest = str(settings["encoder"]["model"]), str(settings["encoder"]["hash"])
            if not (1 <= rank <= _WIDEST and 1 <= hidden <= _WIDEST):
                raise ValueError(f"sizes from 1 to {_WIDEST} are needed")
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityError(f"{folder / MODEL_FILE} is not a meaning scorer's") from error
        check_same_encoder(folder, model, digest)
        encoder = load_encoder(model, None, placement)
        network, reader = fresh_network(model, placement, rank=rank, scale=scale, hidden=hidden)
        weights = {k: v.float() for k, v in load_file(folder / WEIGHTS_FILE).items()}
        try:
            network.load_state_dict(weights)
        except RuntimeError as error:
            raise IntegrityError(
                f"{folder / WEIGHTS_FILE} does not fit the network that {MODEL_FILE} describes"
            ) from error
        return cls(network, reader, encoder)


def fresh_network(
    model: str,
    placement: Placement = HERE,
    *,
    rank: int = 16,
    scale: float = 2.0,
    hidden: int = 128,
) -> tuple[MeaningNetwork, PairReader]:
    """An untrained network over its own copy of an encoder, and the reader for it.

    Raises:
        MissingScorerError: the encoder's weights cannot be found or downloaded.
        InputError: it is not a BERT.
    """
    encoder, tokenizer = load_pretrained(
        encoder_folder(model), Placement(device=placement.device), "AutoModel"
    )
    if encoder.config.model_type != "bert":
        raise InputError(f"the meaning scorer needs a BERT, but {model} is not one")
    network = MeaningNetwork(encoder, rank, scale, hidden)
    return network.to(encoder.device), PairReader(encoder, tokenizer)
