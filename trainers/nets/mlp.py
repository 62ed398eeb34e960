"""Small feed-forward networks, with batch normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn


def normalised_mlp(
    sizes: Sequence[int], *, slope: float = 0.0, first_is_normalised: bool
) -> nn.Sequential:
    """Linear layers, (leaky) ReLU after all but the last, batch normalisation before it.

    A batch is always normalised by its own mean and variance, also when the network does not learn:
    nothing depends on the batches before it.

    Args:
        sizes: of the input, of each hidden layer, of the output.
        slope: of the activation below 0: 0 is ReLU.
        first_is_normalised: whether the first hidden layer is normalised as well.
    """
    layers: list[nn.Module] = []
    for index, (before, after) in enumerate(pairwise(sizes)):
        linear = nn.Linear(before, after)
        nn.init.normal_(linear.weight, std=0.02)
        nn.init.zeros_(linear.bias)
        layers.append(linear)
        if index == len(sizes) - 2:
            break
        if index > 0 or first_is_normalised:
            layers.append(nn.BatchNorm1d(after, track_running_stats=False))
        layers.append(nn.LeakyReLU(slope))
    return nn.Sequential(*layers)
