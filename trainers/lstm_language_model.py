"""Train an LSTM language model on the sentences of one style with torch.

Mir et al. (2019) score with LSTM language models, without code or settings of them: sizes and rates
here are our own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch

from ..errors import TooLittleError
from ..metrics.scorers.lstm_language_model import (
    END,
    PAD,
    LstmLanguageModel,
    LstmNetwork,
    LstmShape,
    next_word_loss,
    padded,
)
from ..settings import Count, Positive, Share, setting
from .classifiers.textcnn import bucketed_batches
from .learning.loop import resumable

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
