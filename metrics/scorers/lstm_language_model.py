"""An LSTM language model of one style (Hochreiter and Schmidhuber 1997): ``language_model=lstm``.

Words are what whitespace separates; rare ones are read and predicted as one unknown word, as in the
n-gram models. A sentence's probability does not depend on the sentences beside it.

Mir et al. (2019) score with LSTM language models, without code or settings of them: sizes and rates
here are our own.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save
from torch import Tensor, nn

from ...errors import TooLittleError
from ...files import read_text, write_bytes, write_json
from ...settings import Count, Positive, Share, setting
from .base import SentenceMemo, length_sorted_batches
from .fitting import bucketed_batches, resumable

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
        network: trained by :func:`tstbench.metrics.scorers.lstm_language_model.fit`.
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
                scores[batch] = -loss.cpu().double().sum(dim=1).numpy() / np.log(10)
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


LIBRARIES = ("torch",)


@dataclass(frozen=True, kw_only=True)
class LstmConfig:
    """Settings of an LSTM language model."""

    epochs: Count = setting(5, "passes over the sentences")
    min_steps: Count = setting(200, "a small corpus gets more epochs")
    batch_size: Count = setting(64, "sentences a step")
    learning_rate: Positive = setting(2e-3, "of Adam")
    clip: Positive = setting(1.0, "longest gradient")
    min_count: Count = setting(2, "how often a word must occur")
    dimension: Count = setting(128, "numbers per word")
    hidden: Count = setting(256, "numbers of a state")
    layers: Count = setting(1, "LSTM layers")
    dropout: Share = setting(0.3, "dropout")
    hold_out: Share = setting(0.05, "share of the sentences that its perplexity is measured on")
    seed: int = setting(0, "of everything random")

    def settings(self) -> dict[str, int | float]:
        """Everything that can change the model."""
        return asdict(self)


def fit(sentences: Sequence[str], config: LstmConfig) -> tuple[LstmLanguageModel, dict[str, float]]:
    """Train on sentences of one style, with a progress bar.

    Args:
        sentences: N sentences, tokens separated by spaces.
        config: the settings.

    Returns:
        The model, and its perplexity (ends of sentences counted) on the sentences held out.

    Raises:
        InputError: there is nothing to train on.
    """
    order = np.random.default_rng(config.seed)
    places = order.permutation(len(sentences))
    aside = int(config.hold_out * len(sentences))
    held_out, learned = ([sentences[i] for i in some] for some in (places[:aside], places[aside:]))
    counts = Counter(word for sentence in learned for word in sentence.split())
    vocabulary = sorted(word for word, count in counts.items() if count >= config.min_count)
    if not vocabulary:
        raise TooLittleError(
            f"no word occurs {config.min_count} times: give more text or a lower --min-count"
        )
    shape = LstmShape(
        n_words=len(vocabulary) + END + 1,
        dimension=config.dimension,
        hidden=config.hidden,
        layers=config.layers,
        dropout=config.dropout,
    )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = LstmNetwork(shape).to(device)
        model = LstmLanguageModel(vocabulary, network)
        rows = model.rows(learned)
        lengths = [len(row) for row in rows]
        optimizer = torch.optim.Adam(network.train().parameters(), lr=config.learning_rate)
        epoch_steps = -(-len(rows) // config.batch_size)
        epochs = max(config.epochs, -(-config.min_steps // epoch_steps))
        batches = (
            batch
            for _ in range(epochs)
            for batch in bucketed_batches(lengths, config.batch_size, order)
        )
        with resumable(network, optimizer, batches, epochs * epoch_steps) as left:
            for _, batch in left:
                ids = padded([rows[i] for i in batch]).to(device)
                loss = next_word_loss(network, ids).sum() / (ids[:, 1:] != PAD).sum()
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), config.clip)
                optimizer.step()
        network.cpu().eval()
    return model, {"held_out_perplexity": _perplexity(model, held_out)} if held_out else {}


def _perplexity(model: LstmLanguageModel, sentences: Sequence[str]) -> float:
    counted = int(model.words(sentences).sum()) + len(sentences)
    return float(math.pow(10, -model.log10_probability(sentences).sum() / counted))
