"""Training a reward's style classifier: it reads the rows of ids that its system writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer

from ...errors import InputError
from .checkpoints import has_checkpoint
from .loop import Learner, Terms, Update, learn
from .order import Order
from .run import Run

_SHARE = 20  # one row in so many chooses the weights
_NAME = "classifier"


@dataclass(frozen=True)
class ReaderFit:
    """How a classifier is trained.

    Attributes:
        optimizer: of its weights.
        steps: how many there are.
        batch_size: rows a step.
        rate: the first learning rate.
        decay: what the rate is multiplied by every ``decay_every`` steps.
        decay_every: steps.
        validate_every: steps between validations.
        seed: of order and dropout.
    """

    optimizer: Callable[[nn.Module], Optimizer]
    steps: int
    batch_size: int
    rate: float
    decay: float = 1.0
    decay_every: int = 1000
    validate_every: int = 1000
    seed: int = 0


def fit_reader(
    network: nn.Module,
    sides: Sequence[Sequence[Sequence[int]]],
    fit: ReaderFit,
    run: Run,
    recipe: str,
) -> tuple[Mapping[str, float], Run]:
    """Train a network, which maps ids (B, T) and lengths (B) to logits (B, 2), and freeze it.

    Args:
        network: keeps the weights of the highest accuracy on rows that it did not learn from.
        sides: rows of ids of the source and of the target style.
        fit: how.
        run: where; checkpoints and curve are in a folder ``classifier`` of its folder.
        recipe: of the system that it is for.

    Returns:
        ``accuracy`` in [0, 1], of the rows that it did not learn from; and the run of the phase
        after it, which need not have begun before a stop.

    Raises:
        InputError: a style has fewer than 2 rows; ``run.resume`` requires a checkpoint, and neither
            this phase nor the one after it has one.
    """
    if min(map(len, sides)) < 2:
        raise InputError("a style has fewer than 2 sentences to train the reward's classifier on")
    folder = None if run.folder is None else run.folder / _NAME
    there = [one for one in (run.folder, folder) if one is not None]
    if run.resume == "yes" and there and not any(map(has_checkpoint, there)):
        raise InputError(f"nothing to resume: {run.folder} has no checkpoint")
    # Either of the two phases may be the one that was stopped.
    following = replace(run, resume="auto") if run.resume == "yes" else run
    learner = _ReaderLearner(network, sides, fit)
    learned = learn(learner, replace(following, folder=folder), f"{recipe}/{_NAME}")
    return {"accuracy": learned.scores["selection"]}, following


class _ReaderLearner(Learner):
    def __init__(
        self, network: nn.Module, sides: Sequence[Sequence[Sequence[int]]], fit: ReaderFit
    ) -> None:
        self.network = network
        self.optimizers = {_NAME: fit.optimizer(network)}
        self.steps, self.validate_every, self.seed = fit.steps, fit.validate_every, fit.seed
        self._fit = fit
        self._rows = [row for side in sides for row in side]
        self._labels: np.ndarray = np.repeat([0, 1], [len(side) for side in sides])
        held: list[int] = []
        for label in (0, 1):
            places = np.flatnonzero(self._labels == label)
            random = np.random.default_rng([fit.seed, label])
            held += list(random.choice(places, max(1, len(places) // _SHARE), replace=False))
        self._held = np.array(held)
        self._learned = np.setdiff1d(np.arange(len(self._rows)), self._held)
        self._order = Order([len(self._rows[i]) for i in self._learned], fit.batch_size, fit.seed)

    def update(self, step: int) -> Update:
        rate = self._fit.rate * self._fit.decay ** (step // self._fit.decay_every)
        return Update(_NAME, (_NAME,), self._loss, self._order, step, rates={_NAME: rate})

    def _loss(self, batch: np.ndarray) -> Terms:
        logits, labels = self._logits(self._learned[batch])
        return {"style": F.cross_entropy(logits, labels, reduction="sum") / len(batch)}

    def _logits(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        device = next(self.network.parameters()).device
        ids, lengths = content_batch([self._rows[i] for i in chosen], device)
        return self.network(ids, lengths), torch.tensor(self._labels[chosen], device=device)

    def validate(self) -> Mapping[str, float]:
        right = 0
        for start in range(0, len(self._held), 256):
            logits, labels = self._logits(self._held[start : start + 256])
            right += int((logits.argmax(dim=1) == labels).sum())
        return {"selection": right / len(self._held)}


def content_batch(rows: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of ids as (B, T), at least one place wide, and their lengths (B)."""
    width = max(1, *map(len, rows))
    whole = [[*row, *[0] * (width - len(row))] for row in rows]
    return (
        torch.tensor(whole, device=device),
        torch.tensor([len(row) for row in rows], device=device),
    )
