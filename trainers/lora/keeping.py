"""What happens beside the trainer's steps: curve, best weights, whole checkpoints, Ctrl-C."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...files import write_json
from ...metrics.scorers.fitting import BEST, BEST_SCORE, CHECKPOINT, mark_complete, seed_of
from ...pace import Pace
from ..learning.curve import Curve, terms_text
from ..learning.loop import check_finite


@dataclass
class Keeper:
    """Told of every step.

    Attributes:
        trainer: of transformers.
        folder: for checkpoints and the best weights.
        recipe: of the system.
        curve: where losses and validations go.
        pace: shows a step's losses, hears Ctrl-C, and says when to keep a checkpoint.
        steps: how many there are.
        seed: of dropout.
        first: whether this process writes.
        keeps: whether checkpoints are written.
        best: the lowest validation loss so far.
    """

    trainer: Any
    folder: Path
    recipe: str
    curve: Curve
    pace: Pace
    steps: int
    seed: int
    first: bool
    keeps: bool
    best: float = field(init=False, default=math.inf)
    _text: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if (self.folder / BEST_SCORE).is_file() and (self.folder / BEST).is_dir():
            self.best = json.loads((self.folder / BEST_SCORE).read_bytes())["loss"]

    def before_step(self, step: int, process: int) -> None:
        """Dropout is a function of the step: a training that goes on draws what it would have."""
        import torch

        torch.manual_seed(seed_of(self.seed, step, process))

    def after_step(self, step: int, control: Any) -> None:
        """The last step is validated; after Ctrl-C, this step was the last."""
        if step >= self.steps:
            control.should_evaluate = True
        due = [self.pace.after(step, self._text)]
        if self.trainer.args.world_size > 1:  # a checkpoint is written by all, or by none
            from accelerate.utils import broadcast_object_list

            broadcast_object_list(due)
        control.should_save = self.keeps and due[0]
        control.should_training_stop |= self.pace.stop()

    def heard(self, step: int, logs: Mapping[str, float]) -> None:
        """A step's loss."""
        if "loss" not in logs:
            return
        terms = {"adapter/loss": float(logs["loss"])}
        check_finite(terms, step - 1)
        self.curve.add({"step": step, **terms})
        self._text = terms_text(terms, self.pace.room)

    def validated(self, step: int, loss: float) -> None:
        """Keep the weights if they are the best so far."""
        check_finite({"validation/loss": loss}, step - 1)
        loss = round(loss, 6)
        self.curve.add({"step": step, "validation/selection": -loss, "validation/loss": loss})
        if loss < self.best:
            self.best = loss
            self.trainer.save_model(str(self.folder / BEST))
            if self.first:
                write_json(self.folder / BEST_SCORE, {"step": step, "loss": loss})

    def saved(self, step: int) -> None:
        """A checkpoint is one from now on."""
        if self.first:
            mark_complete(self.folder / f"{CHECKPOINT}{step}", self.recipe)


def callback_of(keeper: Keeper) -> Any:
    """The keeper as a callback of transformers."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, *given: Any, **_: Any) -> None:
            arguments, state, _control = given
            keeper.before_step(state.global_step, arguments.process_index)

        def on_step_end(self, *given: Any, **_: Any) -> None:
            _arguments, state, control = given
            keeper.after_step(state.global_step, control)

        def on_log(self, *given: Any, logs: Any = None, **_: Any) -> None:
            keeper.heard(given[1].global_step, logs or {})

        def on_evaluate(self, *given: Any, metrics: Any = None, **_: Any) -> None:
            keeper.validated(given[1].global_step, float(metrics["eval_loss"]))

        def on_save(self, *given: Any, **_: Any) -> None:
            keeper.saved(given[1].global_step)

    return Callback()
