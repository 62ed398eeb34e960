"""Where and how a training takes place: nothing here belongs to what is learned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...settings import Count, NotNegative, setting

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]
Resume = Literal["auto", "yes", "no"]
SAVE_EVERY = 120.0  # seconds


@dataclass(frozen=True)
class Run:
    """Where and how a training takes place; its recipe does not depend on this.

    Attributes:
        folder: for checkpoints and the curve while it lasts; ``None`` keeps none. A whole training
            makes one of its own in it, and removes that one alone.
        device: where the networks are.
        precision: of the forward pass; ``auto`` takes bfloat16 on a GPU that has it.
        accumulate: parts that a process splits its share of a batch into.
        compile: whether layers go through ``torch.compile``.
        save_every: seconds between checkpoints; what is learned does not depend on it.
        tensorboard: for TensorBoard's event files, in a folder for each training; they stay there.
        resume: ``auto`` continues from a checkpoint if there is one, ``yes`` requires one, ``no``
            begins anew.
    """

    folder: Path | None = None
    device: Device = setting("auto", "auto, cpu or cuda")
    precision: Precision = setting(
        "auto", "auto, float32 or bfloat16; auto: bfloat16 on a GPU that has it"
    )
    accumulate: Count = setting(1, "compute a batch in this many parts, to save memory")
    compile: bool = setting(False, "true: layers go through torch.compile")
    save_every: NotNegative = setting(SAVE_EVERY, "seconds between checkpoints")
    tensorboard: Path | None = setting(
        None, "folder for TensorBoard's event files, which stay there"
    )
    resume: Resume = "auto"


IN_MEMORY = Run()


def process_index() -> int:
    """Of this process among those of ``torchrun`` or ``accelerate launch``; 0 if it is alone."""
    return int(os.environ.get("RANK", "0"))
