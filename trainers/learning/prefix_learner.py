"""Fine-tuning of a model that reads a prefix and writes a suffix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from .loop import Learner, Terms, Update, warmed_up
from .prefix_lm import PrefixLM
from .sampler import Order

Pair = tuple[str, str]


@dataclass(frozen=True)
class Tuning:
    """How such a model is fine-tuned: AdamW without weight decay, its rate falling in a line to 0.

    Attributes:
        epochs: over all pairs.
        batch_size: pairs a step.
        learning_rate: at the start.
        clip: the largest norm of the gradient.
        grouping: batches that are sorted by length together.
        validate_every: steps between validations.
        seed: of the order.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    clip: float
    grouping: int
    validate_every: int
    seed: int


class PrefixLearner(Learner):
    """Cross-entropy on suffixes; the weights with the lowest held-out perplexity are kept."""

    def __init__(
        self, model: PrefixLM, train: Sequence[Pair], held_out: Sequence[Pair], tuning: Tuning
    ) -> None:
        self.network, self._model, self._tuning = model.model, model, tuning
        self._prefixes, self._suffixes = _encoded(model, train)
        self._held_prefixes, self._held_suffixes = _encoded(model, held_out)
        self._order = Order(
            [len(p) + len(s) for p, s in zip(self._prefixes, self._suffixes, strict=True)],
            tuning.batch_size,
            tuning.seed,
            tuning.grouping,
        )
        self.steps = tuning.epochs * self._order.steps_per_epoch
        self.validate_every, self.seed = tuning.validate_every, tuning.seed
        self.optimizers = {
            "model": torch.optim.AdamW(
                self.network.parameters(), lr=tuning.learning_rate, eps=1e-8, weight_decay=0.0
            )
        }

    def update(self, step: int) -> Update:
        """The same loss at every step; the learning rate falls."""
        return Update(
            name="model",
            optimizers=("model",),
            loss=self._loss,
            order=self._order,
            number=step,
            rates={"model": self._tuning.learning_rate * warmed_up(step, 0, self.steps)},
            clip=self._tuning.clip,
        )

    def _loss(self, batch: np.ndarray) -> Terms:
        """The mean over the tokens of the batch's suffixes, their ends included."""
        n_tokens = sum(len(self._suffixes[i]) for i in batch)
        summed = self._model.summed_loss(
            [self._prefixes[i] for i in batch], [self._suffixes[i] for i in batch]
        )
        return {"loss": summed / n_tokens}

    def validate(self) -> Mapping[str, float]:
        """Perplexity per token of held-out suffixes."""
        total, size = 0.0, 64
        for start in range(0, len(self._held_suffixes), size):
            some = slice(start, start + size)
            total += float(
                self._model.summed_loss(self._held_prefixes[some], self._held_suffixes[some])
            )
        loss = total / sum(map(len, self._held_suffixes))
        return {"selection": -loss, "perplexity": float(np.exp(min(loss, 100.0)))}


def _encoded(model: PrefixLM, pairs: Sequence[Pair]) -> tuple[list[list[int]], list[list[int]]]:
    return model.prefixes([p for p, _ in pairs]), model.suffixes([s for _, s in pairs])
