"""The network that compares the tokens of two sentences: which have no counterpart, what is kept.

Each token of one sentence is compared with what it is aligned to in the other (decomposable
attention: Parikh, Täckström, Das and Uszkoreit 2016, sections 3.1 and 3.2), one transformer layer
looks at both sentences together, and the score is read from all tokens and from the worst one:
one content word that is swapped hardly moves a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_FAR = -1e4  # a number that no maximum or softmax selects


class MeaningNetwork(nn.Module):
    """From the unit token vectors of two sentences, at K layers, to one logit.

    Args:
        layers: K.
        width: D, of the encoder's vectors.
        inner: size of a token's projection.
        hidden: size of a compared token.
        dropout: while it is trained.
    """

    def __init__(
        self,
        layers: int,
        width: int,
        inner: int = 96,
        hidden: int = 128,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.inner = inner
        self.project = nn.ModuleList(nn.Linear(width, inner, bias=False) for _ in range(layers))
        self.sharpness = nn.Parameter(torch.full((layers,), 8.0))
        self.compare = nn.Sequential(
            nn.Linear(4 * inner + layers + 2, hidden),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
        )
        self.norm = nn.LayerNorm(hidden)
        self.together = nn.TransformerEncoderLayer(
            hidden, 4, 2 * hidden, dropout, "gelu", batch_first=True, norm_first=True
        )
        self.token = nn.Linear(hidden, 1)
        self.drop = nn.Dropout(dropout)
        self.read = nn.Sequential(nn.Linear(4 * hidden + 6, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(
        self,
        first: Sequence[Tensor],
        first_real: Tensor,
        second: Sequence[Tensor],
        second_real: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Compare B pairs.

        Args:
            first: K tensors of shape (B, T1, D), rows of unit length.
            first_real: which of its tokens are no padding: shape (B, T1), bool.
            second: K tensors of shape (B, T2, D).
            second_real: as ``first_real``.

        Returns:
            The logit that the meaning is kept, shape (B,), and for each token of the first and
            then of the second sentence the logit that it has no counterpart, shape (B, T1 + T2).
        """
        cosines = [x @ y.transpose(1, 2) for x, y in zip(first, second, strict=True)]
        both = first_real[:, :, None] & second_real[:, None, :]
        one, two = self._projected(first), self._projected(second)
        attention = 8 * (one @ two.transpose(1, 2)) / self.inner
        for sharpness, cosine in zip(self.sharpness, cosines, strict=True):
            attention = attention + sharpness * cosine
        attention = attention.masked_fill(~both, _FAR)
        best = [cosine.masked_fill(~both, -1) for cosine in cosines]
        compared = [
            self._compared(
                one, attention.softmax(2) @ two, torch.stack([c.amax(2) for c in best], -1), 0
            ),
            self._compared(
                two,
                attention.softmax(1).transpose(1, 2) @ one,
                torch.stack([c.amax(1) for c in best], -1),
                1,
            ),
        ]
        real = torch.cat([first_real, second_real], 1)
        states = self.norm(torch.cat(compared, 1))
        states = self.together(states, src_key_padding_mask=~real)
        tokens = self.token(states).squeeze(-1)
        split = first_real.shape[1]
        features = [
            *_pooled(states[:, :split], tokens[:, :split], first_real),
            *_pooled(states[:, split:], tokens[:, split:], second_real),
            sentence_cosines(first[-1], first_real, second[-1], second_real)[:, None],
            sentence_cosines(first[0], first_real, second[0], second_real)[:, None],
        ]
        return self.read(self.drop(torch.cat(features, -1))).squeeze(-1), tokens

    def _projected(self, vectors: Sequence[Tensor]) -> Tensor:
        total: Any = sum(p(x) for p, x in zip(self.project, vectors, strict=True))
        return F.layer_norm(total, (self.inner,))

    def _compared(self, own: Tensor, aligned: Tensor, best: Tensor, side: int) -> Tensor:
        which = torch.zeros_like(own[..., :2])
        which[..., side] = 1
        parts = [own, aligned, (own - aligned).abs(), own * aligned, best, which]
        compared: Tensor = self.compare(torch.cat(parts, -1))
        return compared


def sentence_cosines(
    first: Tensor, first_real: Tensor, second: Tensor, second_real: Tensor
) -> Tensor:
    """Cosine of the sums of two sentences' unit token vectors: shape (B,)."""
    one = (first * first_real[..., None]).sum(1)
    two = (second * second_real[..., None]).sum(1)
    return F.cosine_similarity(one, two, dim=-1)


def _pooled(states: Tensor, tokens: Tensor, real: Tensor) -> tuple[Tensor, ...]:
    """Mean and maximum of the states, the worst token, and the share without counterpart."""
    count = real.sum(1, keepdim=True)
    return (
        (states * real[..., None]).sum(1) / count,
        states.masked_fill(~real[..., None], _FAR).amax(1),
        tokens.masked_fill(~real, _FAR).amax(1, keepdim=True),
        (tokens.sigmoid() * real).sum(1, keepdim=True) / count,
    )
