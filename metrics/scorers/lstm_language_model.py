"""An LSTM language model of one style (Hochreiter and Schmidhuber 1997): ``language_model=lstm``.

Words are what whitespace separates; rare ones are read and predicted as one unknown word, as in the
n-gram models. A sentence's probability does not depend on the sentences beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save
from torch import Tensor, nn

from ...files import read_text, write_bytes, write_json
from .batching import SentenceMemo, length_sorted_batches
from .weights import within_size

PAD, UNKNOWN, END = 0, 1, 2  # ids; END also begins; the vocabulary's first word has id 3
_MAX_TOKENS = 4_096  # padded words in a batch: each has a logit for every word of the vocabulary


@dataclass(frozen=True)
class LstmShape:
    """The shape of the network."""

    n_words: int  # PAD, UNKNOWN and END included
    dimension: int
    hidden: int
    layers: int
    dropout: float


class LstmNetwork(nn.Module):
    """Word vectors, LSTM layers, and a score for each word that may be next."""

    def __init__(self, shape: LstmShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.n_words, shape.dimension, padding_idx=PAD)
        between = shape.dropout if shape.layers > 1 else 0.0
        self.lstm = nn.LSTM(
            shape.dimension, shape.hidden, shape.layers, batch_first=True, dropout=between
        )
        self.dropout = nn.Dropout(shape.dropout)
        self.output = nn.Linear(shape.hidden, shape.n_words)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of the word after each, (B, T, V), for ids of shape (B, T), padded on the right."""
        states, _ = self.lstm(self.dropout(self.embedding(ids)))
        logits: Tensor = self.output(self.dropout(states))
        return logits


class LstmLanguageModel:
    """A trained network and its vocabulary.

    Args:
        vocabulary: words, in id order from 3.
        network: trained by :func:`tstbench.trainers.lstm_language_model.fit`.
        name: for signatures, such as ``lstm-positive:yelp``.
        hash: of the artefact's files.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        network: LstmNetwork,
        *,
        name: str = "lstm",
        hash: str = "",  # noqa: A002 - as the scorers' interface calls it
    ) -> None:
        self.vocabulary, self._network = list(vocabulary), network.eval()
        self.name, self.hash = name, hash
        self._scores = SentenceMemo(self._score)

    def log10_probability(self, sentences: Sequence[str]) -> np.ndarray:
        """log10 P(words, end of sentence) of each sentence: shape (N,), float64, at most 0."""
        return self._scores(sentences)

    def words(self, sentences: Sequence[str]) -> np.ndarray:
        """The number of words in each sentence, not counting the end: shape (N,), int64."""
        return np.array([len(sentence.split()) for sentence in sentences], dtype=np.int64)

    def rows(self, sentences: Sequence[str]) -> list[list[int]]:
        """The ids of each sentence's words, between two ENDs."""
        ids = self._ids
        return [[END, *(ids.get(word, UNKNOWN) for word in s.split()), END] for s in sentences]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary, start=END + 1)}

    def _score(self, sentences: list[str]) -> np.ndarray:
        rows, scores = self.rows(sentences), np.empty(len(sentences))
        device = next(self._network.parameters()).device
        with torch.inference_mode():
            for batch in length_sorted_batches([len(row) for row in rows], _MAX_TOKENS):
                ids = padded([rows[i] for i in batch]).to(device)
                loss = next_word_loss(self._network, ids)
                scores[batch] = -loss.double().sum(dim=1).cpu().numpy() / np.log(10)
        return scores

    def save(self, folder: Path) -> None:
        """Write ``model.json``, ``vocabulary.json`` and ``weights.safetensors``."""
        write_json(folder / "model.json", {"shape": asdict(self._network.shape)})
        write_json(folder / "vocabulary.json", self.vocabulary)
        state = {name: tensor.contiguous() for name, tensor in self._network.state_dict().items()}
        write_bytes(folder / "weights.safetensors", save(state))

    @classmethod
    def load(cls, folder: Path, name: str, digest: str) -> LstmLanguageModel:
        """Read back what :meth:`save` wrote."""
        shape = LstmShape(**json.loads(read_text(folder / "model.json"))["shape"])
        with within_size(folder):
            network = LstmNetwork(shape)
        network.load_state_dict(load_file(folder / "weights.safetensors"))
        vocabulary = json.loads(read_text(folder / "vocabulary.json"))
        return cls(vocabulary, network, name=name, hash=digest)


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Ids of one shape (B, T), int64, padded on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])


def next_word_loss(network: LstmNetwork, ids: Tensor) -> Tensor:
    """-ln P of each word after the first, 0 for padding: (B, T - 1) for ids of shape (B, T)."""
    logits = network(ids[:, :-1]).float()
    return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], ignore_index=PAD, reduction="none")
