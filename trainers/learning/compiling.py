"""``--compile``: the layers of the networks go through ``torch.compile``.

Layer by layer: a loss as a whole has Python in it (which sentences, how long), which would be
compiled anew at every step, while the layers of a stack are equal, and the same at every length.
Their code is compiled once, and their weights keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from ...errors import InputError

_COMPILERS = ("torch._dynamo", "torch._inductor", "triton")


def compile_layers(network: nn.Module) -> int:
    """Compile, in place, every layer of every stack; returns how many there are.

    Nothing happens yet: a layer is compiled when it is first used.

    Raises:
        InputError: the network has no stack of layers.
    """
    layers = list(_layers(network))
    if not layers:
        raise InputError("--compile true: this system has no stack of layers to compile; leave it")
    for layer in layers:
        layer.compile(dynamic=True)
    return len(layers)


def refused_by_compiler(error: Exception) -> InputError | None:
    """What to tell of an error of the compiler's; ``None`` if it is somebody else's."""
    if not type(error).__module__.startswith(_COMPILERS):
        return None
    lines = str(error).strip().splitlines()
    reason = f": {lines[0]}" if lines else ""
    return InputError(
        f"--compile true: torch.compile fails here ({type(error).__name__}{reason}). It needs a "
        "C++ compiler on a CPU, and Triton on a GPU; or leave --compile away"
    )


def _layers(module: nn.Module) -> Iterator[nn.Module]:
    """The items of the outermost lists of modules."""
    for child in module.children():
        if isinstance(child, nn.ModuleList):
            yield from child
        else:
            yield from _layers(child)
