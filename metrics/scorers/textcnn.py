"""Convolutional style classifier (Kim 2014): windows of 3, 4 and 5 words, maximum over time.

A sentence's distribution does not depend on its batch: every sentence is padded by a window's
width on both sides, and windows that contain none of its words are excluded from the maximum.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save
from torch import Tensor, nn

from ...files import read_text, write_bytes, write_json
from ...settings import Count, Positive, Share, setting
from ..text import words
from .base import length_sorted_batches
from .device import HERE, Placement
from .fitting import bucketed_batches, resumable
from .linear import softmax
from .train import ClassifierConfig, LabelledSentences

PAD, UNKNOWN = 0, 1  # ids; the vocabulary's first word has id 2
MAX_TOKENS = 16_384  # padded words in a batch


@dataclass(frozen=True)
class TextCnnShape:
    """The shape of the network."""

    n_styles: int
    n_words: int  # PAD and UNKNOWN included
    dimension: int = 64
    widths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100  # for each width
    dropout: float = 0.5


class TextCnn(nn.Module):
    """Kim's network (2014, section 2), without the static copy of the word vectors."""

    def __init__(self, shape: TextCnnShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.n_words, shape.dimension, padding_idx=PAD)
        with torch.no_grad():  # Kim's range; torch's unit normal would swamp what is learned
            self.embedding.weight.uniform_(-0.25, 0.25)[PAD] = 0.0
        self.convolutions = nn.ModuleList(
            nn.Conv1d(shape.dimension, shape.filters, width, padding=width - 1)
            for width in shape.widths
        )
        self.dropout = nn.Dropout(shape.dropout)
        self.output = nn.Linear(shape.filters * len(shape.widths), shape.n_styles)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits of shape (B, S) for word ids of shape (B, T), right-padded with ``PAD``."""
        lengths = (ids != PAD).sum(dim=1, keepdim=True).clamp(min=1)  # (B, 1)
        vectors = self.embedding(ids).transpose(1, 2)  # (B, D, T)
        strongest = []
        for width, convolution in zip(self.shape.widths, self.convolutions, strict=True):
            windows = F.relu(convolution(vectors))  # (B, F, T + width - 1)
            ends = torch.arange(windows.shape[2], device=ids.device)
            outside = ends >= lengths + width - 1  # (B, T + width - 1)
            strongest.append(windows.masked_fill(outside.unsqueeze(1), 0.0).amax(dim=2))
        logits: Tensor = self.output(self.dropout(torch.cat(strongest, dim=1)))
        return logits


class TextCnnModel:
    """A trained network and its vocabulary.

    Args:
        styles: S names.
        vocabulary: words, in id order from 2.
        network: trained by :func:`~tstbench.metrics.scorers.textcnn.fit`.
    """

    def __init__(
        self, styles: tuple[str, ...], vocabulary: Sequence[str], network: TextCnn
    ) -> None:
        self.styles = styles
        self._ids = {word: i for i, word in enumerate(vocabulary, start=UNKNOWN + 1)}
        self._network = network.eval()

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64."""
        rows = [word_ids(self._ids, sentence) for sentence in sentences]
        logits = np.empty((len(rows), len(self.styles)))
        device = next(self._network.parameters()).device
        with torch.inference_mode():
            for batch in length_sorted_batches([len(row) for row in rows], MAX_TOKENS):
                ids = pad_rows([rows[i] for i in batch]).to(device)
                logits[batch] = self._network(ids).cpu().numpy()
        return softmax(logits)

    def save(self, folder: Path) -> None:
        """Write ``model.json``, ``vocabulary.json`` and ``weights.safetensors``."""
        shape = asdict(self._network.shape)
        write_json(folder / "model.json", {"styles": self.styles, "shape": shape})
        write_json(folder / "vocabulary.json", list(self._ids))
        state = {name: tensor.contiguous() for name, tensor in self._network.state_dict().items()}
        write_bytes(folder / "weights.safetensors", save(state))

    @classmethod
    def load(cls, folder: Path, _placement: Placement = HERE) -> TextCnnModel:
        """Read back what :meth:`save` wrote."""
        settings = json.loads(read_text(folder / "model.json"))
        shape = TextCnnShape(**{**settings["shape"], "widths": tuple(settings["shape"]["widths"])})
        network = TextCnn(shape)
        network.load_state_dict(load_file(folder / "weights.safetensors"))
        vocabulary = json.loads(read_text(folder / "vocabulary.json"))
        return cls(tuple(settings["styles"]), vocabulary, network)


def word_ids(ids: dict[str, int], sentence: str) -> list[int]:
    """Ids of the sentence's words; an empty sentence is one unknown word.

    >>> word_ids({"good": 2}, "Good food"), word_ids({"good": 2}, " ")
    ([2, 1], [1])
    """
    return [ids.get(word, UNKNOWN) for word in words(sentence)] or [UNKNOWN]


def pad_rows(rows: Sequence[Sequence[int]]) -> Tensor:
    """Right-pad ids to one shape (B, T), int64.

    >>> pad_rows([[5], [6, 7]]).tolist()
    [[5, 0], [6, 7]]
    """
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (width - len(row))] for row in rows])


LIBRARIES = ("torch",)


@dataclass(frozen=True, kw_only=True)
class TextCnnConfig(ClassifierConfig):
    """Kim's network, with word vectors learned here and Adam instead of Adadelta."""

    epochs: Count = setting(3, "passes over the sentences")
    min_steps: Count = setting(200, "a small corpus gets more epochs")
    batch_size: Count = setting(128, "sentences a step")
    learning_rate: Positive = setting(1e-3, "of Adam")
    min_count: Count = setting(2, "how often a word must occur")
    dimension: Count = setting(64, "numbers per word")
    widths: tuple[Count, ...] = setting((3, 4, 5), "words that a filter reads, such as [3, 4, 5]")
    filters: Count = setting(100, "filters of each width")
    dropout: Share = setting(0.5, "dropout")


Config = TextCnnConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: TextCnnConfig) -> TextCnnModel:
    """Train on labelled sentences, with a progress bar; the global random state is restored."""
    vocabulary = frequent_words(data.sentences, config.min_count)
    ids = {word: i for i, word in enumerate(vocabulary, start=UNKNOWN + 1)}
    rows = [word_ids(ids, sentence) for sentence in data.sentences]
    labels = torch.tensor(data.labels)
    shape = TextCnnShape(
        n_styles=len(styles),
        n_words=len(vocabulary) + UNKNOWN + 1,
        dimension=config.dimension,
        widths=config.widths,
        filters=config.filters,
        dropout=config.dropout,
    )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    order = np.random.default_rng(config.seed)
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = TextCnn(shape).to(device).train()
        optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
        epoch_steps = -(-len(data) // config.batch_size)
        epochs = max(config.epochs, -(-config.min_steps // epoch_steps))
        lengths = [len(row) for row in rows]
        batches = (
            batch
            for _ in range(epochs)
            for batch in bucketed_batches(lengths, config.batch_size, order)
        )
        with resumable(network, optimizer, batches, epochs * epoch_steps) as left:
            for _, batch in left:
                logits = network(pad_rows([rows[i] for i in batch]).to(device))
                loss = F.cross_entropy(logits, labels[batch].to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return TextCnnModel(tuple(styles), vocabulary, network.cpu())


def frequent_words(sentences: Sequence[str], min_count: int) -> list[str]:
    """Words that occur ``min_count`` times or more, the most frequent first, ties by spelling.

    >>> frequent_words(["b a", "a b c"], 2)
    ['a', 'b']
    """
    counts = Counter(word for sentence in sentences for word in words(sentence))
    kept = [(-count, word) for word, count in counts.items() if count >= min_count]
    return [word for _, word in sorted(kept)]
