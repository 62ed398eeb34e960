"""Train the convolutional classifier (Kim 2014) with torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F

from ...metrics.scorers.textcnn import (
    UNKNOWN,
    TextCnn,
    TextCnnModel,
    TextCnnShape,
    pad_rows,
    word_ids,
)
from ...metrics.scorers.words import words
from ...settings import Count, Positive, Share, setting
from ..learning.loop import resumable
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("torch",)
_POOL = 50  # batches whose sentences are sorted by length together


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


def bucketed_batches(
    lengths: Sequence[int], size: int, order: np.random.Generator
) -> Iterator[np.ndarray]:
    """One epoch of batches, in random order, each with sentences of similar length.

    Yields:
        Indices, shape (B,), B <= size; together, each index once.
    """
    widths = np.asarray(lengths)
    shuffled = order.permutation(len(widths))
    batches = []
    for start in range(0, len(shuffled), size * _POOL):
        pool = shuffled[start : start + size * _POOL]
        pool = pool[np.argsort(widths[pool], kind="stable")]
        batches += [pool[i : i + size] for i in range(0, len(pool), size)]
    for i in order.permutation(len(batches)):
        yield batches[i]
