"""The device, number type and batches of the models that score."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from ...chat.settings import Handling
from ...errors import InputError, require, unknown_name

if TYPE_CHECKING:
    import numpy as np

Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["float32", "bfloat16", "float16"]

M = TypeVar("M")
_NAMES = {"cuda": "CUDA", "mps": "MPS"}


@dataclass(frozen=True)
class Placement:
    """How models compute. The benchmark uses float32; any other type is part of the signature.

    Attributes:
        device: ``auto`` takes NVIDIA's (or AMD's) GPU if there is one, but never ``mps``, Apple's.
        dtype: the number type.
        batch_size: the most sentences at once; ``None`` leaves it to the models, which limit the
            tokens of a batch. It does not change a score, so no signature states it.
        asking: how patiently a chat server is asked, and within which limits. No score depends on
            it either.

    Raises:
        UnknownNameError: no such device or number type.
        InputError: a batch without a sentence.
    """

    device: Device = "auto"
    dtype: Dtype = "float32"
    batch_size: int | None = None
    asking: Handling = field(default_factory=Handling, compare=False)

    def __post_init__(self) -> None:
        if self.device not in get_args(Device):
            raise unknown_name("device", self.device, get_args(Device))
        if self.dtype not in get_args(Dtype):
            raise unknown_name("number type", self.dtype, get_args(Dtype))
        if self.batch_size is not None and self.batch_size < 1:
            raise InputError(f"the batch size must be at least 1, not {self.batch_size}")

    @property
    def signed_dtype(self) -> str | None:
        """The number type for signatures; ``None`` for the benchmark's own."""
        return None if self.dtype == "float32" else self.dtype

    def resolve(self) -> str:
        """``cpu``, ``cuda`` or ``mps``.

        Raises:
            InputError: the device is not here, or does not compute in the number type.
            MissingExtraError: torch is not installed.
        """
        torch = require("torch", "embedded")
        there = {
            "cpu": True,
            "cuda": bool(torch.cuda.is_available()),
            "mps": bool(torch.backends.mps.is_available()),
        }
        wanted = ("cuda" if there["cuda"] else "cpu") if self.device == "auto" else self.device
        if not there[wanted]:
            raise InputError(
                f"--device {wanted}: torch {torch.__version__} finds no {_NAMES[wanted]} device "
                f"here. Use --device cpu, or install a torch build with {_NAMES[wanted]}"
            )
        if wanted == "cuda":
            if self.dtype == "bfloat16" and not torch.cuda.is_bf16_supported():
                raise InputError(
                    f"--dtype bfloat16: {torch.cuda.get_device_name()} does not compute in it. Use "
                    "--dtype float16 or float32"
                )
            # cuDNN prepares attention anew for each shape, and texts give each batch its own.
            torch.backends.cuda.enable_cudnn_sdp(False)
        return wanted

    def devices(self) -> list[str]:
        """Where models are, the first as :meth:`resolve` says: on CUDA, each GPU that torch sees.

        One process of several that share the GPUs, as ``torchrun`` starts, has its own alone.

        Raises:
            InputError: see :meth:`resolve`.
        """
        first = self.resolve()
        if first != "cuda" or int(os.environ.get("WORLD_SIZE") or "1") > 1:
            return [first]
        import torch

        return [f"cuda:{i}" for i in range(torch.cuda.device_count())]


HERE = Placement()


def copies(model: Any, placement: Placement) -> list[Any]:
    """A model of torch, and a copy of it on each further device that has room."""
    first, *others = placement.devices()
    found = [model]
    if others:
        model.cpu()  # a copy would be made where the model is, which may have no room for two
        with suppress(RuntimeError):  # without room on one, the ones before it do the work
            found += (deepcopy(model).to(device) for device in others)
        model.to(first)
    return found


def spread(
    models: Sequence[M],
    lengths: Sequence[int],
    max_tokens: int,
    max_items: int | None,
    work: Callable[[M, np.ndarray], None],
) -> None:
    """Have items worked on in batches by several models, each taking the next one when it is free.

    Args:
        models: one, or copies of it on several devices.
        lengths: of the items, see :func:`.base.length_sorted_batches`.
        max_tokens: in a batch; fewer where there would not be a batch for each model.
        max_items: in a batch; ``None`` for no limit.
        work: gets a model and a batch's places, and keeps what it finds: it runs in a thread for
            each model.
    """
    import torch

    from .base import length_sorted_batches

    if len(models) > 1:
        max_tokens = max(1, min(max_tokens, -(-sum(lengths) // len(models))))
    batches = list(length_sorted_batches(lengths, max_tokens, max_items))
    if len(models) == 1 or len(batches) == 1:
        with torch.inference_mode():
            for batch in batches:
                work(models[0], batch)
        return
    waiting, lock, ended = iter(batches), Lock(), Event()

    def run(model: M) -> None:
        with torch.inference_mode():
            while not ended.is_set():
                with lock:
                    batch = next(waiting, None)
                if batch is None:
                    return
                work(model, batch)

    with ThreadPoolExecutor(len(models)) as pool:
        try:
            for one in as_completed([pool.submit(run, model) for model in models]):
                one.result()
        finally:
            ended.set()  # so that the others end too, also after Ctrl-C
