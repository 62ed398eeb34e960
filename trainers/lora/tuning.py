"""Fine-tuning by TRL's SFTTrainer and PEFT, with this project's order, curve and checkpoints.

The trainer computes steps, gradients and several processes (``accelerate launch``: data parallel,
FSDP, DeepSpeed). Added here, so that an adapter is trained like every other system: batches are a
pure function of the seed and the step, and so is dropout; rows of a step are of like length; the
learning curve is written as it comes; the weights that validate best are kept; Ctrl-C ends after a
checkpoint. Imported when something is trained: the libraries take seconds.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate.state import AcceleratorState
from datasets import Dataset
from peft import LoraConfig
from torch.utils.data import SequentialSampler
from transformers import TrainerCallback
from transformers.pytorch_utils import Conv1D
from trl import SFTConfig, SFTTrainer

from ...errors import InputError
from ...files import make_folder, temporary_folder, write_json
from ...metrics.scorers.device import Placement
from ...metrics.scorers.fitting import (
    BEST,
    BEST_SCORE,
    last_checkpoint,
    seed_of,
    step_of,
    train_paced,
)
from ..training.curve import Curve, terms_text
from ..training.loop import check_finite
from ..training.run import Run, half_of
from ..training.sampler import Order
from .base import Adapter, Base, longest_row, quiet
from .config import AdapterConfig
from .records import Row

_IGNORED = -100


@dataclass(frozen=True)
class Tuned:
    """What came of a training: the adapter that validates best, and its scores."""

    adapter: Adapter
    step: int
    scores: Mapping[str, float]


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
        recipe: of the system, which names TensorBoard's folder.

    Raises:
        InputError: the base has no such layers, it cannot be quantised here, or the loss is
            not a number.
        IntegrityError: the checkpoint to continue from is damaged.
        KeyboardInterrupt: after a checkpoint was written.
    """
    half = half_of(run.precision, run.device)
    place = temporary_folder() if run.folder is None else nullcontext(run.folder)
    with place as folder, quiet():
        make_folder(folder)
        model = base.load(config.quantization, run.device, half=half)
        _check_fit(model, config, base)
        arguments = _arguments(folder, len(train), len(held), config, run, half=half)
        micro, parts = arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps
        batch = micro * parts * arguments.world_size
        order = Order([len(r.ids) for r in train], batch, config.seed, config.grouping)
        rows = [int(i) for step in range(arguments.max_steps) for i in order.at(step)]
        trainer = _Trainer(
            model=model,
            args=arguments,
            train_dataset=_dataset(train, config.loss).select(rows),
            eval_dataset=_dataset(sorted(held, key=lambda row: len(row.ids)), "completion"),
            processing_class=base.tokenizer(),
            peft_config=LoraConfig(
                r=config.r,
                lora_alpha=config.alpha,
                lora_dropout=config.dropout,
                bias="none",
                target_modules=target_names(config.target_modules),
                task_type="CAUSAL_LM",
            ),
        )
        trainer.words_a_row = sum(len(row.ids) - row.n_prompt for row in held) / len(held)
        start = last_checkpoint(folder, run.resume)
        first = arguments.process_index == 0
        with closing(Curve.of(run, recipe, step_of(start), written=first)) as curve:
            keeper = Keeper(trainer, folder, curve)
            trainer.add_callback(keeper)
            kept = run.folder is not None
            train_paced(trainer, start, every=run.save_every, kept=kept, text=keeper.text)
        trainer.accelerator.wait_for_everyone()
        score = json.loads((folder / BEST_SCORE).read_bytes())
        scores = {"selection": -score["loss"], "loss": score["loss"]}
        return Tuned(Adapter.read(folder / BEST), score["step"], scores)


class _Trainer(SFTTrainer):  # type: ignore[misc]
    """Takes its rows as they come; the validation loss is a mean over words."""

    words_a_row: float  # of validation

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return SequentialSampler(train_dataset)

    def prediction_step(self, model: Any, inputs: Any, *rest: Any, **how: Any) -> Any:
        """So that the mean of all rows, each with this loss, is that of all words.

        How many rows a batch has is about memory, and decides nothing.
        """
        words = int((inputs["labels"][:, 1:] != _IGNORED).sum())
        loss, *others = super().prediction_step(model, inputs, *rest, **how)
        return loss * words / (len(inputs["labels"]) * self.words_a_row), *others


class Keeper(TrainerCallback):  # type: ignore[misc]
    """Told of every step: seeds it, and keeps its loss and the weights that validate best.

    Attributes:
        trainer: of transformers.
        folder: for the best weights, ``best``, and their step and loss, ``best.json``.
        curve: where losses and validations go.
        best: the lowest validation loss so far.
    """

    def __init__(self, trainer: Any, folder: Path, curve: Curve) -> None:
        self.trainer, self.folder, self.curve = trainer, folder, curve
        kept = folder / BEST_SCORE
        self.best = json.loads(kept.read_bytes())["loss"] if kept.is_file() else math.inf
        self._terms: Mapping[str, float] = {}

    def on_step_begin(self, *given: Any, **_: Any) -> None:
        """Dropout is a function of the step: a training that goes on draws what it would have."""
        args, state, _control = given
        torch.manual_seed(seed_of(args.seed, state.global_step, args.process_index))

    def on_step_end(self, *given: Any, **_: Any) -> None:
        """The last step is validated."""
        args, state, control = given
        control.should_evaluate |= state.global_step >= args.max_steps

    def on_log(self, *given: Any, logs: Any = None, **_: Any) -> None:
        """Keep a step's loss."""
        step = given[1].global_step
        if "loss" in logs:
            self._terms = {"adapter/loss": float(logs["loss"])}
            check_finite(self._terms, step - 1)
            self.curve.add({"step": step, **self._terms})

    def on_evaluate(self, *given: Any, metrics: Any = None, **_: Any) -> None:
        """Keep the weights if they are the best so far."""
        args, state, _control = given
        step, loss = state.global_step, round(float(metrics["eval_loss"]), 6)
        check_finite({"validation/loss": loss}, step - 1)
        self.curve.add({"step": step, "validation/selection": -loss, "validation/loss": loss})
        if loss < self.best:
            self.best = loss
            self.trainer.save_model(str(self.folder / BEST))
            if args.process_index == 0:
                write_json(self.folder / BEST_SCORE, {"step": step, "loss": loss})

    def text(self, room: int) -> str:
        """The last loss, for the bar."""
        return terms_text(self._terms, room)


def _arguments(
    folder: Path, n_train: int, n_held: int, config: AdapterConfig, run: Run, *, half: bool
) -> Any:
    on_cpu = Placement(run.device).resolve() == "cpu"
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    # An earlier training of this process may have had another precision, or device.
    AcceleratorState._reset_state(reset_partial_state=processes == 1)
    micro, parts = shares_of(n_train, config, processes)
    epoch = n_train // (micro * parts * processes)
    steps = max(1, round(epoch * config.epochs))
    arguments = SFTConfig(
        output_dir=str(folder),
        use_cpu=on_cpu,
        bf16=half,
        ddp_backend="gloo" if on_cpu and processes > 1 else None,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=parts,
        per_device_eval_batch_size=min(2 * micro, n_held),
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


def shares_of(n_rows: int, config: AdapterConfig, processes: int) -> tuple[int, int]:
    """Rows at once, and how often, in each process: the most that divide its share of a batch.

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
    micro = next(n for n in range(min(config.micro_batch, share), 0, -1) if share % n == 0)
    return micro, share // micro


def target_names(text: str) -> str | list[str]:
    """The layers that get an adapter.

    >>> target_names("q_proj, v_proj")
    ['q_proj', 'v_proj']
    >>> target_names("all-linear")
    'all-linear'
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    return "all-linear" if names == ["all-linear"] else names


def _check_fit(model: Any, config: AdapterConfig, base: Base) -> None:
    """Raise :class:`InputError` if the model lacks a layer, or reads shorter rows."""
    head = model.get_output_embeddings()
    linear = {
        name.rpartition(".")[2]
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear | Conv1D) and module is not head
    }
    wanted = target_names(config.target_modules)
    lacking = [] if isinstance(wanted, str) else [name for name in wanted if name not in linear]
    if lacking or not wanted:
        raise InputError(
            f"target_modules: {base.identity.name} has no layer {lacking[0] if lacking else ''!r}. "
            f"It has {', '.join(sorted(linear))}; all-linear takes all of them"
        )
    if config.cutoff > longest_row(model.config):
        raise InputError(
            f"cutoff is {config.cutoff}, but {base.identity.name} reads "
            f"{longest_row(model.config)} tokens"
        )


def _dataset(rows: Sequence[Row], loss: str) -> Dataset:
    ids = [list(row.ids) for row in rows]
    ignored = [0 if loss == "all" else row.n_prompt for row in rows]
    labels = [[_IGNORED] * n + row[n:] for row, n in zip(ids, ignored, strict=True)]
    return Dataset.from_dict({"input_ids": ids, "labels": labels})
