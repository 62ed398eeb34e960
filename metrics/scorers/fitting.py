"""What trainings share, here and of systems: checkpoints, steps that go on, batches, schedules.

A checkpoint has weights and optimisers as safetensors, the rest as JSON; no pickle. Those of
transformers' own trainer are as it writes them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from ...console import say
from ...errors import InputError, IntegrityError, TSTBenchError
from ...files import atomic_folder, folder_digest, read_text, write_json
from ...pace import current, paced, stopped
from .weights import read_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel

B = TypeVar("B")

CHECKPOINT = "checkpoint-"  # as transformers names them
BEST, BEST_SCORE = "best", "best.json"
_POOL = 50  # batches whose sentences are sorted by length together
_PREFIX = "step-"
_STATE = "state.json"
_KEPT = 2
_RANDOM, _RANDOM_CUDA = "random", "random/cuda"


@dataclass(frozen=True)
class Progress:
    """How far a training has come.

    Attributes:
        step: steps done.
        best_step: the step whose weights validate best so far; ``None`` before the first time.
        best_score: their score.
    """

    step: int = 0
    best_step: int | None = None
    best_score: float | None = None


def save_checkpoint(
    folder: Path,
    progress: Progress,
    recipe: str,
    network: nn.Module,
    optimizers: Mapping[str, Optimizer],
) -> None:
    """Write a checkpoint, whole or not at all, and remove all but the newest two."""
    with atomic_folder(folder / f"{_PREFIX}{progress.step:09d}", ours=_is_checkpoint) as scratch:
        save_weights(network, scratch / "weights.safetensors")
        scalars: dict[str, Any] = {}
        tensors: dict[str, Tensor] = {}
        for name, optimizer in optimizers.items():
            state = optimizer.state_dict()
            scalars[name] = {"groups": state["param_groups"], "state": {}}
            for index, entry in state["state"].items():
                plain = scalars[name]["state"].setdefault(str(index), {})
                for key, value in entry.items():
                    if isinstance(value, Tensor):
                        tensors[f"{name}/{index}/{key}"] = value.detach().cpu().contiguous()
                    else:
                        plain[key] = value
        _save({**tensors, **_random_state()}, scratch / "optimizers.safetensors")
        write_json(
            scratch / _STATE,
            {
                "progress": asdict(progress),
                "recipe": recipe,
                "optimizers": scalars,
                "digest": folder_digest(scratch),
            },
        )
    for old in _checkpoints(folder)[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(
    folder: Path, recipe: str, network: nn.Module, optimizers: Mapping[str, Optimizer]
) -> Progress | None:
    """Restore the newest checkpoint, and torch's random numbers; ``None`` if there is none.

    Raises:
        InputError: it is of another recipe.
        IntegrityError: it is damaged.
    """
    found = _checkpoints(folder)
    if not found:
        return None
    newest = found[-1]
    try:
        content = json.loads(read_text(newest / _STATE))
        if content["recipe"] != recipe:
            raise InputError(f"{newest} is a checkpoint of another training: remove {folder}")
        if folder_digest(newest, skip=[_STATE]) != content["digest"]:
            raise IntegrityError(_damaged(newest, "its files do not match their digest"))
        network.load_state_dict(load_file(newest / "weights.safetensors"))
        tensors = load_file(newest / "optimizers.safetensors")
        torch.set_rng_state(tensors.pop(_RANDOM))
        if _RANDOM_CUDA in tensors and torch.cuda.is_available():
            torch.cuda.set_rng_state(tensors[_RANDOM_CUDA])
        for name, optimizer in optimizers.items():
            optimizer.load_state_dict(_optimizer_state(content["optimizers"][name], name, tensors))
        return Progress(**content["progress"])
    except TSTBenchError:
        raise
    except (KeyError, ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
        raise IntegrityError(_damaged(newest, repr(error))) from error


def _random_state() -> dict[str, Tensor]:
    state = {_RANDOM: torch.get_rng_state()}
    return state | ({_RANDOM_CUDA: torch.cuda.get_rng_state()} if torch.cuda.is_available() else {})


def save_weights(network: nn.Module, path: Path) -> None:
    """Write a network's weights as safetensors; tied tensors once each.

    Raises:
        InputError: they cannot be written: the disk is full, or the folder takes nothing.
    """
    _save({n: t.detach().cpu().clone() for n, t in network.state_dict().items()}, path)


def load_weights(path: Path) -> dict[str, Tensor]:
    """Read the weights that validated best so far.

    Raises:
        IntegrityError: the file is missing or damaged.
    """
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise IntegrityError(
            f"{path}, the best weights of an interrupted training, cannot be read ({error}): begin "
            "anew with --restart"
        ) from error


def _save(tensors: Mapping[str, Tensor], path: Path) -> None:
    try:
        save_file(dict(tensors), path)
    except (SafetensorError, OSError) as error:
        path.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written: {error}. Make room on that disk, or set TSTBENCH_HOME to a "
            "folder on another one; the training then continues from its last checkpoint"
        ) from error


def _optimizer_state(
    content: Mapping[str, Any], name: str, tensors: Mapping[str, Tensor]
) -> dict[str, Any]:
    state: dict[int, dict[str, Any]] = {
        int(index): dict(entry) for index, entry in content["state"].items()
    }
    for key, tensor in tensors.items():
        if key.startswith(f"{name}/"):
            _owner, index, field = key.split("/")
            state[int(index)][field] = tensor
    groups = [
        {k: tuple(v) if k == "betas" else v for k, v in group.items()}
        for group in content["groups"]
    ]
    return {"state": state, "param_groups": groups}


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob(f"{_PREFIX}*") if p.is_dir()) if folder.is_dir() else []


def _is_checkpoint(folder: Path) -> bool:
    return (folder / _STATE).is_file()


def _damaged(folder: Path, why: str) -> str:
    return f"the checkpoint {folder} is damaged ({why}): remove it to continue from an earlier one"


@contextmanager
def resumable(
    network: nn.Module, optimizer: Optimizer, batches: Iterable[B], steps: int
) -> Iterator[Iterator[tuple[int, B]]]:
    """The steps that are left of a training with a loop of its own, and their batches.

    Its checkpoints are those of :func:`.pace.training`, in which it takes place; they have the
    state of torch's random numbers, so that what follows does not depend on where it stopped.

    Args:
        network: all weights.
        optimizer: of them.
        batches: of all steps, drawn without torch's random numbers.
        steps: how many there are.

    Raises:
        IntegrityError: the checkpoint is damaged.
        KeyboardInterrupt: after a checkpoint was written.
    """
    now, optimizers = current(), {"all": optimizer}
    before = now and load_checkpoint(now.folder, now.recipe, network, optimizers)
    first = before.step if before else 0
    if first:
        say(f"continuing at step {first} of {steps}")
    with paced(first, steps) as pace:

        def left() -> Iterator[tuple[int, B]]:
            for step, batch in enumerate(islice(batches, first, steps), start=first):
                yield step, batch
                if pace.after(step + 1) and now is not None:
                    done = Progress(step + 1)
                    save_checkpoint(now.folder, done, now.recipe, network, optimizers)
                if pace.stop():
                    raise KeyboardInterrupt(stopped(step + 1, kept=now is not None))

        yield left()


def warmed_up(step: int, warm_up: int, steps: int) -> float:
    """A factor that rises to 1 in ``warm_up`` steps, then falls in a line to 0 at the end.

    Args:
        step: counted from 0.
        warm_up: steps in which it rises; 0 for none.
        steps: all steps.

    >>> [warmed_up(step, 2, 6) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    if step < warm_up:
        return (step + 1) / warm_up
    return (steps - step) / (steps - warm_up)


def seed_of(*parts: int) -> int:
    """A seed for torch that differs for different numbers."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> 1)


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


def with_new_head(folder: Path, styles: Sequence[str]) -> PreTrainedModel:
    """The model of a folder in float32, with an untrained head for these styles, in their order."""
    return read_model(
        folder,
        "AutoModelForSequenceClassification",
        new_head=True,
        settings={
            "num_labels": len(styles),
            "id2label": dict(enumerate(styles)),
            "label2id": {style: i for i, style in enumerate(styles)},
        },
        dtype=torch.float32,
    )


def train_paced(
    trainer: Any,
    start: Path | None,
    *,
    every: float | None = None,
    kept: bool = True,
    text: Callable[[int], str] = lambda _room: "",
) -> None:
    """Run a trainer as it is, but for checkpoints, which the pace asks for.

    Args:
        trainer: of transformers; what it draws comes from torch's random numbers, which its
            checkpoints have.
        start: the checkpoint to continue from, see :func:`last_checkpoint`.
        every: seconds between checkpoints; ``None`` for the usual two minutes.
        kept: whether checkpoints are written.
        text: for the bar, at most so many columns wide.

    Raises:
        IntegrityError: the checkpoint to continue from is damaged.
        KeyboardInterrupt: after a checkpoint was written.
    """
    from transformers import TrainerCallback
    from transformers.trainer_callback import PrinterCallback

    asked = trainer.args
    each = len(trainer.get_train_dataloader())
    steps = asked.max_steps if asked.max_steps > 0 else int(asked.num_train_epochs * each)
    any_process = partial(_in_any, trainer.accelerator)
    first = asked.process_index == 0
    with paced(step_of(start), steps, every, shown=first, agree=any_process) as pace:

        class Callback(TrainerCallback):  # type: ignore[misc]
            has_begun = False

            def on_step_begin(self, *_given: Any, **_: Any) -> None:
                self.has_begun = True  # all of the checkpoint was read

            def on_step_end(self, *given: Any, **_: Any) -> None:
                _arguments, state, control = given
                # A checkpoint is written by all processes, or by none.
                due = any_process(pace.after(state.global_step, text(pace.room)))
                control.should_save = due and kept
                control.should_training_stop |= pace.stop()

        trainer.remove_callback(PrinterCallback)  # it prints to standard output
        callback = Callback()
        trainer.add_callback(callback)
        try:
            trainer.train(resume_from_checkpoint=str(start) if start else None)
        except Exception as error:  # of damaged files: torch's, json's and safetensors' own
            if start is None or callback.has_begun or isinstance(error, torch.OutOfMemoryError):
                raise
            raise IntegrityError(
                f"{start} is damaged ({str(error).partition('. ')[0]}): use --restart to start "
                f"over, or remove {start.parent}"
            ) from error
    if pace.stop() and trainer.state.global_step < steps:
        raise KeyboardInterrupt(stopped(trainer.state.global_step, kept=kept))


def _in_any(accelerator: Any, here: bool) -> bool:
    """Whether it is so in any process."""
    if accelerator.num_processes == 1:
        return here
    each = torch.tensor(float(here), device=accelerator.device)
    return bool(accelerator.reduce(each, reduction="sum") > 0)


def step_of(checkpoint: Path | None) -> int:
    """The steps that were done when transformers wrote a checkpoint; 0 for none."""
    return int(checkpoint.name.removeprefix(CHECKPOINT)) if checkpoint else 0


def last_checkpoint(folder: Path, resume: str = "auto") -> Path | None:
    """The newest checkpoint that was written to its end; ``None`` to begin.

    Transformers writes the trainer's state last.
    """
    if resume == "no":
        for old in (*folder.glob(f"{CHECKPOINT}*"), folder / BEST):
            shutil.rmtree(old, ignore_errors=True)
    whole = [file.parent for file in folder.glob(f"{CHECKPOINT}*/trainer_state.json")]
    if whole:
        newest = max(whole, key=step_of)
        say(f"continuing at step {step_of(newest)}")
        return newest
    (folder / BEST_SCORE).unlink(missing_ok=True)
    return None
