"""What happens beside the trainer's steps: curve, best weights, whole checkpoints, Ctrl-C."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...console import say
from ...errors import InputError, IntegrityError
from ...files import folder_digest, write_json
from ..learning.curve import Curve, terms_text
from ..learning.loop import check_finite, seed_of
from ..learning.pace import Pace, paced, stopped
from ..learning.run import IN_MEMORY, Run

CHECKPOINT = "checkpoint-"  # as transformers names them
BEST, BEST_SCORE = "best", "best.json"
_COMPLETE = "complete.json"


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
            _mark(self.folder / f"{CHECKPOINT}{step}", self.recipe)


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


def train_paced(trainer: Any, folder: Path, recipe: str | None) -> None:
    """Run a trainer of one process as it is, but for checkpoints, which the pace asks for.

    Args:
        trainer: of transformers; what it draws comes from torch's random numbers, which its
            checkpoints have.
        folder: for checkpoints.
        recipe: of the model; ``None`` keeps none.

    Raises:
        IntegrityError: the checkpoint to continue from is damaged.
        KeyboardInterrupt: after a checkpoint was written.
    """
    from transformers import TrainerCallback
    from transformers.trainer_callback import PrinterCallback

    start = last_checkpoint(folder, IN_MEMORY, recipe) if recipe else None
    done = int(start.name.removeprefix(CHECKPOINT)) if start else 0
    per_epoch = len(trainer.get_train_dataloader())
    with paced(done, int(trainer.args.num_train_epochs * per_epoch)) as pace:

        class Callback(TrainerCallback):  # type: ignore[misc]
            def on_step_end(self, *given: Any, **_: Any) -> None:
                _arguments, state, control = given
                control.should_save = pace.after(state.global_step) and recipe is not None
                control.should_training_stop |= pace.stop()

            def on_save(self, *given: Any, **_: Any) -> None:
                _mark(folder / f"{CHECKPOINT}{given[1].global_step}", recipe or "")

        trainer.remove_callback(PrinterCallback)  # it prints to standard output
        trainer.add_callback(Callback())
        trainer.train(resume_from_checkpoint=str(start) if start else None)
        if pace.stop():
            raise KeyboardInterrupt(stopped(trainer.state.global_step, kept=recipe is not None))


def _mark(checkpoint: Path, recipe: str) -> None:
    """A checkpoint is whole from now on."""
    content = {"recipe": recipe, "digest": folder_digest(checkpoint)}
    write_json(checkpoint / _COMPLETE, content)


def last_checkpoint(folder: Path, run: Run, recipe: str) -> Path | None:
    """The newest checkpoint that was written to its end; ``None`` to begin.

    Raises:
        InputError: it is of another training, or one is required and there is none.
        IntegrityError: it is damaged.
    """
    if run.resume == "no":
        for old in (*folder.glob(f"{CHECKPOINT}*"), folder / BEST):
            shutil.rmtree(old, ignore_errors=True)
        (folder / BEST_SCORE).unlink(missing_ok=True)
    found = sorted(
        (path.parent for path in folder.glob(f"{CHECKPOINT}*/{_COMPLETE}")),
        key=lambda path: int(path.name.removeprefix(CHECKPOINT)),
    )
    if not found:
        if run.resume == "yes":
            raise InputError(f"nothing to resume: {folder} has no checkpoint")
        (folder / BEST_SCORE).unlink(missing_ok=True)
        return None
    newest = found[-1]
    try:
        content = json.loads((newest / _COMPLETE).read_bytes())
        known = (content["recipe"], content["digest"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise IntegrityError(
            f"{newest} is damaged ({error!r}): begin anew with --restart"
        ) from error
    if known[0] != recipe:
        raise InputError(f"{newest} is a checkpoint of another training: remove {folder}")
    if known[1] != folder_digest(newest, skip=[_COMPLETE]):
        raise IntegrityError(
            f"{newest} is damaged (its files do not match their digest): begin anew with --restart"
        )
    say(f"continuing at step {newest.name.removeprefix(CHECKPOINT)}")
    return newest
