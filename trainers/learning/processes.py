"""Several processes as one: accelerate finds the device and the others, we sum what they computed.

A step of these algorithms calls several networks several times, some of them frozen, which
``DistributedDataParallel`` does not allow; one sum over all gradients at the end of a step is
simple, and exact.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from ...errors import InputError, require
from ...metrics.scorers.device import Device, Placement
from .run import Run


def half_of(precision: str, device: str) -> bool:
    """Whether a model computes in bfloat16; see :class:`~.run.Run`.

    Raises:
        InputError: this GPU has none, or there is no such device.
    """
    on_gpu = Placement(cast(Device, device)).resolve() == "cuda"
    has_it = on_gpu and torch.cuda.is_bf16_supported()
    if precision == "bfloat16" and on_gpu and not has_it:
        raise InputError("--precision bfloat16: this GPU has none; use --precision float32")
    return precision == "bfloat16" or (precision == "auto" and has_it)


@dataclass(frozen=True)
class Processes:
    """This process among those that ``accelerate launch`` or ``torchrun`` started, or alone."""

    accelerator: Any

    @classmethod
    def start(cls, run: Run) -> Processes:
        """Find the device and the other processes.

        Raises:
            InputError: no such device, or it has no bfloat16.
            MissingExtraError: accelerate is not installed.
        """
        accelerate = require("accelerate", "train")
        half = half_of(run.precision, run.device)
        on_cpu = Placement(run.device).resolve() == "cpu"
        # An earlier training of this process may have had another precision, or device.
        alone = int(os.environ.get("WORLD_SIZE", "1")) == 1
        accelerate.state.AcceleratorState._reset_state(reset_partial_state=alone)
        return cls(accelerate.Accelerator(cpu=on_cpu, mixed_precision="bf16" if half else "no"))

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return torch.device(self.accelerator.device)

    @property
    def index(self) -> int:
        """Of this process, from 0."""
        return int(self.accelerator.process_index)

    @property
    def count(self) -> int:
        """Of all processes."""
        return int(self.accelerator.num_processes)

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files."""
        return bool(self.accelerator.is_main_process)

    def autocast(self) -> AbstractContextManager[None]:
        """The number type of the forward pass."""
        found: AbstractContextManager[None] = self.accelerator.autocast()
        return found

    def backward(self, loss: Tensor) -> None:
        """Add a loss's gradients."""
        self.accelerator.backward(loss)

    def wait(self) -> None:
        """Until all processes are here."""
        self.accelerator.wait_for_everyone()

    def any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        if self.count == 1:
            return here
        each = torch.tensor(float(here), device=self.device)
        return bool(self.accelerator.reduce(each, reduction="sum") > 0)

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace every gradient by its sum over processes."""
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:  # a part without sentences: the others still wait for it
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None])
        flat = self.accelerator.reduce(flat, reduction="sum")
        start = 0
        for parameter in parameters:
            size = parameter.numel()
            parameter.grad = flat[start : start + size].view_as(parameter).clone()
            start += size

    def sum_terms(self, terms: Mapping[str, Tensor], *, idle: bool) -> dict[str, float]:
        """Losses, for people, summed over processes.

        Args:
            terms: of this process's part of a batch; none if it has no sentences.
            idle: whether some process has none, which the others know; it still takes part.
        """
        if self.count == 1:
            return {name: float(value) for name, value in terms.items()}
        names = self._of_first(list(terms)) if idle else list(terms)
        if not names:
            return {}
        nothing = torch.zeros((), device=self.device)
        stacked = torch.stack([terms.get(name, nothing).float() for name in names])
        stacked = self.accelerator.reduce(stacked, reduction="sum")
        return dict(zip(names, stacked.tolist(), strict=True))

    def _of_first(self, names: Sequence[str]) -> list[str]:
        """The names that the first process has: its part of a batch is never empty."""
        own = list(json.dumps(names).encode()) if self.is_first else []
        length = torch.tensor(len(own), device=self.device)
        size = int(self.accelerator.reduce(length, reduction="sum"))
        told = torch.tensor(own or [0] * size, device=self.device)
        told = self.accelerator.reduce(told, reduction="sum")
        found: list[str] = json.loads(bytes(told.tolist()))
        return found
