"""Where and how a training takes place: nothing here belongs to what is learned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from ...errors import InputError
from ...metrics.scorers.device import Device, Placement
from ...pace import SAVE_EVERY
from ...settings import NotNegative, setting

Precision = Literal["auto", "float32", "bfloat16"]
Resume = Literal["auto", "yes", "no"]


@dataclass(frozen=True)
class Run:
    """Where and how a training takes place; its recipe does not depend on this.

    Attributes:
        folder: for checkpoints and the curve while it lasts; ``None`` keeps none. A whole training
            makes one of its own in it, and removes that one alone.
        device: where the networks are.
        precision: of the forward pass; ``auto`` takes bfloat16 on a GPU that has it.
        save_every: seconds between checkpoints; what is learned does not depend on it.
        tensorboard: for TensorBoard's event files, in a folder for each training; they stay there.
        resume: ``auto`` continues from a checkpoint if there is one, ``no`` begins anew; ``yes`` is
            ``auto`` but for :meth:`continues`.
    """

    folder: Path | None = None
    device: Device = setting("auto", "auto, cpu, cuda or mps")
    precision: Precision = setting(
        "auto", "auto, float32 or bfloat16; auto: bfloat16 on a GPU that has it"
    )
    save_every: NotNegative = setting(SAVE_EVERY, "seconds between checkpoints")
    tensorboard: Path | None = setting(
        None, "folder for TensorBoard's event files, which stay there"
    )
    resume: Resume = "auto"

    def continues(self, folder: Path) -> bool:
        """Whether a training goes on from a checkpoint in a folder, its own or one of a phase.

        Raises:
            InputError: ``resume`` requires one, and there is none.
        """
        # As save_checkpoint names them, and transformers.
        found = any(folder.rglob("step-*")) or any(folder.rglob("checkpoint-*"))
        if self.resume == "yes" and not found:
            raise InputError(f"nothing to resume: {folder} has no checkpoint")
        return found and self.resume != "no"


IN_MEMORY = Run()


def half_of(precision: str, device: str) -> bool:
    """Whether a model computes in bfloat16; see :class:`Run`.

    Raises:
        InputError: this GPU has none, or there is no such device.
    """
    import torch

    on_gpu = Placement(cast(Device, device)).resolve() == "cuda"
    has_it = on_gpu and torch.cuda.is_bf16_supported()
    if precision == "bfloat16" and on_gpu and not has_it:
        raise InputError("--precision bfloat16: this GPU has none; use --precision float32")
    return precision == "bfloat16" or (precision == "auto" and has_it)
