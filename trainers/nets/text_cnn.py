"""Convolutions over a sentence and their maxima over time (Kim 2014), for discriminators.

It reads vectors, so that a word may be soft, or a hidden state of another network.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm


class TextCnn(nn.Module):
    """Features of a sentence.

    Args:
        dimension: D, of the vectors.
        widths: of the windows, in places.
        filters: for each width.
        slope: of the activation below 0: 0 is ReLU.
        spectral: whether convolutions are divided by their spectral norm (Miyato et al. 2018).
    """

    def __init__(
        self,
        dimension: int,
        widths: Sequence[int],
        filters: int,
        *,
        slope: float = 0.0,
        spectral: bool = False,
    ) -> None:
        super().__init__()
        self.widths, self.slope = tuple(widths), slope
        self.features = filters * len(self.widths)
        convolutions = [nn.Conv1d(dimension, filters, width) for width in self.widths]
        self.convolutions = nn.ModuleList(
            spectral_norm(one) if spectral else one for one in convolutions
        )

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Features (B, ``features``) of vectors (B, T, D) whose first ``lengths`` (B) places count.

        Places behind the end are zero, and a window that begins there is left out; a sentence's
        first window always counts.
        """
        places = torch.arange(vectors.shape[1], device=vectors.device)
        inside = places < lengths[:, None]  # (B, T)
        columns = (vectors * inside[..., None]).transpose(1, 2)  # (B, D, T)
        found = []
        for width, convolution in zip(self.widths, self.convolutions, strict=True):
            windows = F.leaky_relu(convolution(F.pad(columns, (0, width - 1))), self.slope)
            found.append(windows.masked_fill(~inside[:, None], -torch.inf).amax(dim=2))
        return torch.cat(found, dim=1)
