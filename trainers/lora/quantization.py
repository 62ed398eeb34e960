"""Where and in which number type a base model computes: 4 or 8 bits, bfloat16, float32."""

from __future__ import annotations

import os
from typing import Any, Literal, cast

from ...errors import InputError, require
from ...metrics.scorers.device import Device, Placement

Quantization = Literal["4bit", "8bit", "none"]


def half_of(precision: str, device: str) -> bool:
    """Whether a model computes in bfloat16; see :class:`~..learning.run.Run`.

    Raises:
        InputError: this GPU has none, or there is no such device.
    """
    import torch

    on_gpu = Placement(cast(Device, device)).resolve() == "cuda"
    has_it = on_gpu and torch.cuda.is_bf16_supported()
    if precision == "bfloat16" and on_gpu and not has_it:
        raise InputError("--precision bfloat16: this GPU has none; use --precision float32")
    return precision == "bfloat16" or (precision == "auto" and has_it)


def local_device(place: str) -> str:
    """The device of this process among those that were launched together."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if place == "cuda" else place


def check_quantization(quantization: Quantization, place: str) -> None:
    """Find out, before a model is loaded, whether it can be quantised here.

    Raises:
        InputError: bitsandbytes is missing, or does not compute on this device.
    """
    import torch

    advice = "Choose --quantization none, or 8bit or 4bit where it can"
    try:
        bits = require("bitsandbytes", "quantize")
        require("accelerate", "train")
    except ImportError as error:
        raise InputError(f"--quantization {quantization}: {error}. {advice}") from error
    layer = (
        bits.nn.Linear4bit(64, 8, quant_type="nf4", compress_statistics=True)
        if quantization == "4bit"
        else bits.nn.Linear8bitLt(64, 8, has_fp16_weights=False)
    )
    where = local_device(place)
    try:
        layer = layer.to(where)
        row = torch.ones(2, 64, device=where, requires_grad=True)
        layer(row).float().sum().backward()
    except Exception as error:  # of many kinds: a missing library, an operator, an old GPU
        raise InputError(
            f"--quantization {quantization}: bitsandbytes {bits.__version__} cannot do it on "
            f"{where}: {error}. {advice}"
        ) from error


def bits_config(quantization: Quantization, dtype: Any) -> Any:
    """What transformers quantises a model by; ``dtype`` is what it computes in."""
    from transformers import BitsAndBytesConfig

    if quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    # QLoRA (Dettmers et al. 2023), sections 3 and 4: NormalFloat, constants quantised as well.
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=dtype,
    )
