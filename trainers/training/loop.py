"""The loop: steps over batches, resumable at any step.

Step *n* of a training depends on the weights before it, on the seed and on *n*, on nothing else:
its batch comes from :class:`~.sampler.Order`, its noise from a generator seeded with (seed, n).
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ...console import say
from ...errors import InputError
from ...files import sync
from ...metrics.scorers.device import Placement
from ...metrics.scorers.fitting import (
    Progress,
    load_checkpoint,
    load_weights,
    save_checkpoint,
    save_weights,
    seed_of,
)
from ...pace import paced, stopped
from .curve import Curve, terms_text
from .run import Run, half_of

Terms = Mapping[str, Tensor]  # name -> scalar, weighted


class Batches(Protocol):
    """Which sentences a step takes, such as :class:`~.sampler.Order`."""

    def at(self, step: int) -> np.ndarray:
        """The sentences of a step, as indices."""
        ...


@dataclass(frozen=True)
class Update:
    """One step of an optimiser.

    Attributes:
        name: for the curve: ``self``, ``discriminator``.
        optimizers: names of the optimisers that step; all other weights are frozen meanwhile.
        loss: of a batch (indices); the terms' sum is minimised.
        order: which batches the step takes.
        number: which of them: the count of earlier steps that took from this order.
        rates: learning rates of optimisers, by name; the others keep theirs.
        clip: the largest norm of the gradient, or ``None``.
    """

    name: str
    optimizers: tuple[str, ...]
    loss: Callable[[np.ndarray], Terms]
    order: Batches
    number: int
    rates: Mapping[str, float] = field(default_factory=dict)
    clip: float | None = None


class Learner(ABC):
    """What an algorithm adds to the loop.

    Attributes:
        network: all weights, in one module: what a checkpoint has.
        optimizers: by name; each has its own part of the weights.
        steps: how many there are.
        validate_every: steps between validations.
    """

    network: nn.Module
    optimizers: Mapping[str, Optimizer]
    steps: int
    validate_every: int
    seed: int

    @abstractmethod
    def update(self, step: int) -> Update:
        """What a step does: it follows from its number, counted from 0, and from ``network``."""

    @abstractmethod
    def validate(self) -> Mapping[str, float]:
        """Scores on validation data; the highest ``selection`` is kept."""

    def hear(self, terms: Mapping[str, float]) -> None:  # noqa: B027 - most need not know
        """Be told a step's losses.

        What a later step needs of them goes into a buffer of ``network``, so that a checkpoint has
        it.
        """


@dataclass(frozen=True)
class Learned:
    """What came of a training: the scores of the weights that were kept, and the curve."""

    step: int
    scores: Mapping[str, float]
    curve: tuple[Mapping[str, float | int | str], ...]


def learn(learner: Learner, run: Run, recipe: str) -> Learned:
    """Train until the last step; the weights that validate best are in the network afterwards.

    Args:
        learner: the algorithm.
        run: where and how.
        recipe: of the system: a checkpoint of another one is refused.

    Raises:
        InputError: no such device, or one without this precision; this is one of several processes.
        IntegrityError: the checkpoint is damaged.
        KeyboardInterrupt: after a checkpoint was written.
    """
    if (count := os.environ.get("WORLD_SIZE", "1")) != "1":
        raise InputError(
            f"this system learns in one process, not in {count}: start it without torchrun or "
            "accelerate launch"
        )
    half = half_of(run.precision, run.device)
    learner.network.to(Placement(run.device).resolve())
    progress = _resumed(learner, run, recipe)
    curve = Curve.of(run, recipe, progress.step)
    best = _Best(run, learner.network, progress)
    with closing(curve), paced(progress.step, learner.steps, run.save_every) as pace:
        for step in range(progress.step, learner.steps):
            try:
                terms = _step(learner, step, half=half)
            except RuntimeError as error:  # oneDNN's LSTM, on processors without AVX-512
                if half and "primitive" in str(error):
                    raise InputError(
                        "--precision bfloat16: this processor has none; use --precision float32"
                    ) from error
                raise
            check_finite(terms, step)
            curve.add({"step": step + 1, **terms})
            done = step + 1
            progress = replace(progress, step=done)
            if done % learner.validate_every == 0 or done == learner.steps:
                progress = _validated(learner, progress, best, curve)
            if pace.after(done, terms_text(terms, pace.room)) and run.folder is not None:
                save_checkpoint(run.folder, progress, recipe, learner.network, learner.optimizers)
            if pace.stop():
                raise KeyboardInterrupt(stopped(done, kept=run.folder is not None))
    best.restore()
    return Learned(progress.best_step or 0, curve.scores_at(progress.best_step), curve.rows)


def _step(learner: Learner, step: int, *, half: bool = False) -> dict[str, float]:
    """A step; returns its losses."""
    update = learner.update(step)
    moving = {p for name in update.optimizers for p in _weights(learner.optimizers[name])}
    parameters = list(learner.network.parameters())
    for parameter in parameters:
        parameter.requires_grad_(parameter in moving)
        parameter.grad = None
    learner.network.train()
    torch.manual_seed(seed_of(learner.seed, step, 0))
    with torch.autocast(parameters[0].device.type, torch.bfloat16, enabled=half):
        terms = update.loss(update.order.at(update.number))
    torch.stack(list(terms.values())).sum().backward()  # type: ignore[no-untyped-call]
    if update.clip is not None:
        nn.utils.clip_grad_norm_([p for p in parameters if p in moving], update.clip)
    for name in update.optimizers:
        for group in learner.optimizers[name].param_groups:
            group["lr"] = update.rates.get(name, group["lr"])
        learner.optimizers[name].step()
    named = {
        f"{update.name}/{name}": 0.0 + float(term.detach()) for name, term in terms.items()
    }  # no -0.0
    learner.hear(named)
    return named


def _weights(optimizer: Optimizer) -> Iterator[nn.Parameter]:
    return (p for group in optimizer.param_groups for p in group["params"])


def check_finite(terms: Mapping[str, float], step: int) -> None:
    """Raise :class:`InputError` if a loss of a step, counted from 0, is not a number."""
    bad = [name for name, value in terms.items() if not math.isfinite(value)]
    if bad:
        raise InputError(
            f"the loss {bad[0]} is not a number at step {step + 1}: lower the learning rate"
        )


class _Best:
    """The weights that validated best, in memory and, with a folder, on disk."""

    def __init__(self, run: Run, network: nn.Module, progress: Progress) -> None:
        self._network = network
        self._path = None if run.folder is None else run.folder / "best.safetensors"
        self._state: dict[str, Tensor] | None = None
        if progress.best_step is not None and self._path is not None:
            self._state = load_weights(self._path)

    def keep(self) -> None:
        self._state = {n: t.detach().cpu().clone() for n, t in self._network.state_dict().items()}
        if self._path is not None:
            scratch = self._path.with_suffix(".new")
            save_weights(self._network, scratch)
            sync(scratch)
            scratch.replace(self._path)

    def restore(self) -> None:
        if self._state is not None:
            self._network.load_state_dict(self._state)
        for parameter in self._network.parameters():
            parameter.requires_grad_(False)
            parameter.grad = None
        self._network.eval()


def _validated(learner: Learner, progress: Progress, best: _Best, curve: Curve) -> Progress:
    learner.network.eval()
    torch.manual_seed(seed_of(learner.seed, progress.step))
    with torch.no_grad():
        scores = {name: round(float(value), 6) for name, value in learner.validate().items()}
    curve.add({"step": progress.step, **{f"validation/{n}": v for n, v in scores.items()}})
    if progress.best_score is None or scores["selection"] > progress.best_score:
        best.keep()
        return replace(progress, best_step=progress.step, best_score=scores["selection"])
    return progress


def _resumed(learner: Learner, run: Run, recipe: str) -> Progress:
    if run.folder is None or run.resume == "no":
        return Progress()
    found = load_checkpoint(run.folder, recipe, learner.network, learner.optimizers)
    if found is None:
        return Progress()
    say(f"continuing at step {found.step} of {learner.steps}")
    return found
