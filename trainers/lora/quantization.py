"""Where and in which number type a base model computes: 4 or 8 bits, bfloat16, float32."""

from __future__ import annotations

import os
from typing import Any, Literal

from ...errors import InputError, require

Quantization = Literal["4bit", "8bit", "none"]


def local_device(place: str) -> str:
    """The device of this process among those that were launched together."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if place == "cuda" else place


def check_quantization(quantization: Quantization, place: str) -> None:
    """Find out, before a model is loaded, whether it can be quantised here.

    Raises:
        InputError: bitsandbytes is missing, or does not compute on this device.
    """
    advice = "Choose --quantization none, or 8bit or 4bit where it can"
    try:
        bits = require("bitsandbytes", "quantize")
        require("accelerate", "train")
    except ImportError as error:
        raise InputError(f"--quantization {quantization}: {error}. {advice}") from error
    where = local_device(place)
    try:
        _compute(quantization, (128, 128), where)
    except Exception as error:  # of many kinds: a missing library, an operator, an old GPU
        raise InputError(
            f"--quantization {quantization}: bitsandbytes {bits.__version__} cannot do it on "
            f"{where}: {error}. {advice}"
        ) from error


def check_layers(model: Any, quantization: Quantization) -> None:
    """Find out whether a quantised model's layers compute: on some CPUs only wide ones do.

    A layer of the narrowest one's shape is tried; the model itself is left as it is.

    Raises:
        InputError: they do not.
    """
    from bitsandbytes.nn import Linear4bit, Linear8bitLt

    kinds = (Linear4bit, Linear8bitLt)
    layers = [layer for layer in model.modules() if isinstance(layer, kinds)]
    if not layers:
        return
    shape = min((layer.in_features, layer.out_features) for layer in layers)
    try:
        _compute(quantization, shape, model.device)
    except Exception as error:
        raise InputError(
            f"--quantization {quantization}: layers of this model, {shape[0]} wide, cannot be "
            f"computed so on {model.device}: {error}. Choose --quantization none"
        ) from error


def _compute(quantization: Quantization, shape: tuple[int, int], where: Any) -> None:
    """What a layer of a shape does in training, and in generation, which is another way."""
    import torch
    from bitsandbytes import nn

    layer = (
        nn.Linear4bit(*shape, quant_type="nf4", compress_statistics=True)
        if quantization == "4bit"
        else nn.Linear8bitLt(*shape, has_fp16_weights=False)
    ).to(where)
    row = torch.ones(2, shape[0], device=where, requires_grad=True)
    layer(row).float().sum().backward()
    with torch.no_grad():
        layer.eval()(row.detach())


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
