"""The device, number type and batches of the models that score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from ...chat.settings import Handling
from ...errors import InputError, require, unknown_name

Device = Literal["auto", "cpu", "cuda"]
Dtype = Literal["float32", "bfloat16", "float16"]


@dataclass(frozen=True)
class Placement:
    """How models compute. The benchmark uses float32; any other type is part of the signature.

    Attributes:
        device: ``auto`` takes the GPU if there is one.
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
        """``cpu`` or ``cuda``.

        Raises:
            InputError: ``cuda`` was requested, but torch finds no such device.
            MissingExtraError: torch is not installed.
        """
        torch = require("torch", "embedded")
        there = bool(torch.cuda.is_available())
        if self.device == "cuda" and not there:
            raise InputError(
                f"--device cuda: torch {torch.__version__} finds no CUDA device here. Use "
                "--device cpu, or install a torch build with CUDA"
            )
        return "cuda" if there and self.device != "cpu" else "cpu"


HERE = Placement()
