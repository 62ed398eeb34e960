"""Fine-tuning by TRL's SFTTrainer and PEFT, with this project's order, curve and checkpoints.

The trainer computes steps, gradients and several processes (``accelerate launch``: data parallel,
FSDP, DeepSpeed). Added here, so that an adapter is trained like every other system: batches are a
pure function of the seed and the step, and so is dropout; rows of a step are of like length; the
learning curve is written as it comes; the weights that validate best are kept; Ctrl-C ends after a
checkpoint, and a checkpoint counts only when all of it was written.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ...errors import InputError, require
from ...files import make_folder, temporary_folder, write_json
from ...metrics.scorers.fitting import (
    BEST,
    BEST_SCORE,
    CHECKPOINT,
    last_checkpoint,
    mark_complete,
    seed_of,
)
from ...pace import Pace, paced, stopped
from ..training.curve import Curve, terms_text
from ..training.loop import check_finite
from ..training.run import Run, half_of
from ..training.sampler import Order
from .base import Adapter, Base, longest_row, quiet
from .config import AdapterConfig
from .records import Row

_IGNORED = -100


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


@dataclass(frozen=True)
class Tuned:
    """What came of a training: the adapter that validates best, and its scores."""

    adapter: Adapter
    step: int
    scores: Mapping[str, float]


@dataclass(frozen=True)
class Shares:
    """How a step's rows are shared: ``parts`` times ``micro`` rows in each of the processes."""

    batch: int
    micro: int
    parts: int

    @classmethod
    def of(cls, n_rows: int, config: AdapterConfig, processes: int) -> Shares:
        """The largest micro-batches that divide a process's share; what is learned is the same.

        Raises:
            InputError: a batch cannot be shared by that many processes.
        """
        batch = min(config.batch_size, n_rows - n_rows % processes)
        if batch == 0 or batch % processes:
            raise InputError(
                f"{processes} processes cannot share batches of {batch or n_rows} rows: choose a "
                "batch_size that is a multiple"
            )
        share = batch // processes
        most = min(config.micro_batch, share)
        micro = next(n for n in range(most, 0, -1) if share % n == 0)
        return cls(batch, micro, share // micro)


def tune(
    base: Base,
    train: Sequence[Row],
    held: Sequence[Row],
    config: AdapterConfig,
    run: Run,
    recipe: str,
) -> Tuned:
    """Teach a new adapter of a base model.

    Args:
        base: the model, whose own weights stay as they are.
        train: rows to learn from.
        held: rows whose loss chooses the weights.
        config: settings.
        run: where and how.
        recipe: of the system: a checkpoint of another one is refused.

    Raises:
        InputError: the base has no such layers, it cannot be quantised here, the loss is not a
            number, or there is nothing to resume.
        IntegrityError: the checkpoint to continue from is damaged.
        KeyboardInterrupt: after a checkpoint was written.
        MissingExtraError: trl or peft is not installed.
    """
    for library, extra in (("accelerate", "train"), ("peft", "llm"), ("trl", "llm")):
        require(library, extra)
    half = half_of(run.precision, run.device)
    with _folder_of(run) as folder, quiet():
        model = base.load(config.quantization, run.device, half=half)
        _check_layers(model, config, base)
        arguments = _arguments(folder, len(train), len(held), config, run, half=half)
        order = Order([len(r.ids) for r in train], _batch(arguments), config.seed, config.grouping)
        start = last_checkpoint(folder, recipe, run.resume)
        trainer = _trainer_class()(
            model=model,
            args=arguments,
            train_dataset=_dataset(train, config.loss),
            eval_dataset=_dataset(sorted(held, key=lambda row: len(row.ids)), "completion"),
            processing_class=base.tokenizer(),
            peft_config=_lora(config),
            callbacks=[],
        )
        trainer.order = order
        trainer.words_a_row = sum(len(row.ids) - row.n_prompt for row in held) / len(held)
        _learn(trainer, folder, config, run, recipe, start)
        score = json.loads((folder / BEST_SCORE).read_bytes())
        scores = {"selection": -score["loss"], "loss": score["loss"]}
        return Tuned(Adapter.read(folder / BEST), score["step"], scores)


def _learn(
    trainer: Any, folder: Path, config: AdapterConfig, run: Run, recipe: str, start: Path | None
) -> None:
    from transformers.trainer_callback import PrinterCallback

    steps: int = trainer.args.max_steps
    done = 0 if start is None else int(start.name.removeprefix(CHECKPOINT))
    first = bool(trainer.args.process_index == 0)
    curve = Curve.of(run, recipe, done, written=first)
    trainer.remove_callback(PrinterCallback)  # it prints to standard output
    kept = run.folder is not None
    agree = partial(_in_any, trainer.accelerator)
    pacing = paced(done, steps, run.save_every, shown=first, agree=agree)
    with closing(curve), pacing as pace:
        keeper = Keeper(trainer, folder, recipe, curve, pace, steps, config.seed, first, kept)
        trainer.add_callback(callback_of(keeper))
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
    if pace.stop() and trainer.state.global_step < steps:
        raise KeyboardInterrupt(stopped(trainer.state.global_step, kept=kept))
    trainer.accelerator.wait_for_everyone()


def _in_any(accelerator: Any, here: bool) -> bool:
    """Whether it is so in any process."""
    import torch

    if accelerator.num_processes == 1:
        return here
    each = torch.tensor(float(here), device=accelerator.device)
    return bool(accelerator.reduce(each, reduction="sum") > 0)


@lru_cache(maxsize=1)
def _trainer_class() -> type:
    """SFTTrainer that takes its rows from an :class:`~..training.sampler.Order`."""
    from torch.utils.data import Sampler
    from trl import SFTTrainer

    class Ordered(Sampler[int]):
        """All rows of an epoch, batch after batch; processes and parts share them in this order."""

        def __init__(self, order: Order) -> None:
            self._order, self._epoch = order, 0

        def set_epoch(self, epoch: int) -> None:
            self._epoch = epoch

        def __len__(self) -> int:
            return self._order.steps_per_epoch * len(self._order.at(0))

        def __iter__(self) -> Iterator[int]:
            each = self._order.steps_per_epoch
            for step in range(self._epoch * each, (self._epoch + 1) * each):
                yield from map(int, self._order.at(step))

    class OrderedTrainer(SFTTrainer):  # type: ignore[misc]
        order: Order
        words_a_row: float  # of validation

        def prediction_step(self, model: Any, inputs: Any, *rest: Any, **how: Any) -> Any:
            """So that the mean of all rows, each with this loss, is that of all words.

            How many rows a batch has is about memory, and decides nothing.
            """
            words = int((inputs["labels"][:, 1:] != _IGNORED).sum())
            loss, *others = super().prediction_step(model, inputs, *rest, **how)
            return loss * words / (len(inputs["labels"]) * self.words_a_row), *others

        def _get_train_sampler(self, train_dataset: Any = None) -> Any:  # noqa: ARG002
            return Ordered(self.order)

    return OrderedTrainer


def _arguments(
    folder: Path, n_train: int, n_held: int, config: AdapterConfig, run: Run, *, half: bool
) -> Any:
    from accelerate.state import AcceleratorState
    from trl import SFTConfig

    from ...metrics.scorers.device import Placement

    on_cpu = Placement(run.device).resolve() == "cpu"
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    # An earlier training of this process may have had another precision, or device.
    AcceleratorState._reset_state(reset_partial_state=processes == 1)
    shares = Shares.of(n_train, config, processes)
    epoch = max(1, n_train // shares.batch)
    steps = max(1, round(epoch * config.epochs))
    arguments = SFTConfig(
        output_dir=str(folder),
        use_cpu=on_cpu,
        bf16=half,
        ddp_backend="gloo" if on_cpu and processes > 1 else None,
        per_device_train_batch_size=shares.micro,
        gradient_accumulation_steps=shares.parts,
        per_device_eval_batch_size=max(1, min(2 * shares.micro, n_held)),
        max_steps=steps,
        learning_rate=config.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=min(config.warm_up, steps - 1),
        optim="adamw_torch",
        max_grad_norm=config.clip,
        gradient_checkpointing=config.checkpointing,
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
        eval_strategy="steps",
        eval_steps=min(config.validate_every, epoch, steps),
        prediction_loss_only=True,
        save_strategy="no",  # the pace says when
        save_total_limit=2,
        logging_steps=1,
        logging_nan_inf_filter=False,
        disable_tqdm=True,
        report_to="none",
        ddp_find_unused_parameters=False,
        seed=config.seed,
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # one a process, whatever else is visible
    return arguments


def _batch(arguments: Any) -> int:
    micro, parts = arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps
    return int(micro * parts * arguments.world_size)


def _lora(config: AdapterConfig) -> Any:
    from peft import LoraConfig

    names = target_names(config.target_modules)
    return LoraConfig(
        r=config.r,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        bias="none",
        target_modules=names if isinstance(names, str) else list(names),
        task_type="CAUSAL_LM",
    )


def target_names(text: str) -> str | tuple[str, ...]:
    """The layers that get an adapter.

    >>> target_names("q_proj, v_proj")
    ('q_proj', 'v_proj')
    >>> target_names("all-linear")
    'all-linear'
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return "all-linear" if names == ("all-linear",) else names


def _check_layers(model: Any, config: AdapterConfig, base: Base) -> None:
    """Raise :class:`InputError` if a name that was given is no linear layer of the model."""
    import torch
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()
    there = sorted(
        {
            name.rpartition(".")[2]
            for name, module in model.named_modules()
            if isinstance(module, torch.nn.Linear | Conv1D) and module is not head
        }
    )
    wanted = target_names(config.target_modules)
    lacking = [] if isinstance(wanted, str) else [name for name in wanted if name not in there]
    if lacking or not wanted:
        raise InputError(
            f"target_modules: {base.identity.name} has no layer {lacking[0] if lacking else ''!r}. "
            f"It has {', '.join(there)}; all-linear takes all of them"
        )
    if config.cutoff > longest_row(model.config):
        raise InputError(
            f"cutoff is {config.cutoff}, but {base.identity.name} reads "
            f"{longest_row(model.config)} tokens"
        )


def _dataset(rows: Sequence[Row], loss: str) -> Any:
    from datasets import Dataset

    ids = [list(row.ids) for row in rows]
    labels = [
        list(row.ids)
        if loss == "all"
        else [_IGNORED] * row.n_prompt + list(row.ids[row.n_prompt :])
        for row in rows
    ]
    return Dataset.from_dict({"input_ids": ids, "labels": labels})


@contextmanager
def _folder_of(run: Run) -> Iterator[Path]:
    """Where checkpoints and the best weights are while it lasts."""
    if run.folder is not None:
        make_folder(run.folder)
        yield run.folder
        return
    with temporary_folder() as folder:
        yield folder
