"""Checkpoints of a training: weights and optimisers as safetensors, the rest as JSON; no pickle."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from ...errors import InputError, IntegrityError, TSTBenchError
from ...files import atomic_folder, folder_digest, read_text, write_json

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


def has_checkpoint(folder: Path) -> bool:
    """Whether there is a training in a folder to continue."""
    return bool(_checkpoints(folder))


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
