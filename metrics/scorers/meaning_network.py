"""The network that reads two sentences together: a fine-tuned encoder and a small head.

The encoder is BERT (Devlin, Chang, Lee and Toutanova 2019, section 3); its weights stay what they
were, and a product of two narrow matrices is added to each of its projections (LoRA: Hu et al.
2022, section 4.1). A token of the two sentences is marked as of the first or the second, and with
how alike the most similar token of the other sentence is: which words have no counterpart need not
be found out by attention first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_FAR = -1e4  # a number that no maximum or softmax selects
_FEATURES = 3  # of a token: see :func:`alikeness`


class MeaningNetwork(nn.Module):
    """From the token ids of two sentences to one logit.

    Args:
        encoder: a transformers ``BertModel``; its tensors are shared, and never changed.
        rank: of the matrices that are added.
        scale: of what they add.
        hidden: size of the head's layer.
        dropout: while it is trained.
    """

    def __init__(
        self, encoder: Any, rank: int = 16, scale: float = 2.0, hidden: int = 128,
        dropout: float = 0.1,
    ) -> None:  # fmt: skip
        super().__init__()
        self._merged = False
        self._encoder = [encoder.eval().requires_grad_(False)]  # a list: not of our parameters
        self.rank, self.scale, self.hidden = rank, scale, hidden
        width = encoder.config.hidden_size
        self.side = nn.Embedding(2, width)
        self.alike = nn.Linear(_FEATURES, width)
        self.added = nn.ModuleList(
            LowRank(part.in_features, part.out_features, rank)
            for layer in encoder.encoder.layer
            for part in _projections(layer)
        )
        self.drop = nn.Dropout(dropout)
        self.token = nn.Linear(width, 1)
        self.read = nn.Sequential(
            nn.Linear(4 * width + 4, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 1)
        )
        for weights in (self.side.weight, self.alike.weight):
            nn.init.normal_(weights, std=0.01)
        nn.init.zeros_(self.alike.bias)

    @property
    def encoder(self) -> Any:
        """The encoder, unchanged."""
        return self._encoder[0]

    def _additions(self) -> list[LowRank]:
        return [one for one in self.added if isinstance(one, LowRank)]

    @torch.no_grad()
    def merge(self) -> None:
        """Add what is added to the encoder's own weights: quicker, and no more training after it."""
        parts = [part for layer in self.encoder.encoder.layer for part in _projections(layer)]
        if not self._merged:
            for part, added in zip(parts, self._additions(), strict=True):
                part.weight += self.scale * (added.up @ added.down)
        self._merged = True

    def forward(
        self, ids: Tensor, sides: Tensor, real: Tensor, alike: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Compare B pairs.

        Args:
            ids: token ids of ``[CLS] first [SEP] second [SEP]``: shape (B, T).
            sides: 0 for tokens of the first sentence, 1 for those of the second: (B, T).
            real: which tokens are no padding: (B, T), bool.
            alike: see :func:`alikeness`: (B, T, 3).

        Returns:
            The logit that the meaning is kept, shape (B,), and for each token the logit that the
            other sentence does not say it, shape (B, T).
        """
        embeddings = self.encoder.embeddings
        places = embeddings.position_embeddings.weight[: ids.shape[1]]
        x = embeddings.word_embeddings(ids) + places + embeddings.token_type_embeddings.weight[0]
        x = embeddings.LayerNorm(x + self.side(sides) + self.alike(alike))
        seen = real[:, None, None, :]
        for number, layer in enumerate(self.encoder.encoder.layer):
            x = self._layer(x, layer, self._additions()[6 * number : 6 * number + 6], seen)
        return self._head(x, sides, real)

    def _layer(self, x: Tensor, layer: Any, added: Sequence[nn.Module], seen: Tensor) -> Tensor:
        heads = self.encoder.config.num_attention_heads
        parts = _projections(layer)

        def product(i: int, y: Tensor) -> Tensor:
            own: Tensor = parts[i](y)
            return own if self._merged else own + self.scale * added[i](y)

        query, key, value = (
            # Attention is computed in float32: its gradients in bfloat16 are slow on processors.
            product(i, x).view(*x.shape[:2], heads, -1).transpose(1, 2).float()
            for i in range(3)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        mixed = product(3, mixed.transpose(1, 2).flatten(2))
        x = layer.attention.output.LayerNorm(x + mixed)
        inner = product(5, F.gelu(product(4, x)))
        after: Tensor = layer.output.LayerNorm(x + inner)
        return after

    def _head(self, x: Tensor, sides: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        tokens = self.token(x).squeeze(-1)
        means, worst, share = [], [], []
        for side in (0, 1):
            mine = real & (sides == side)
            count = mine.sum(1, keepdim=True)
            means.append((x * mine[..., None]).sum(1) / count)
            worst.append(tokens.masked_fill(~mine, _FAR).amax(1, keepdim=True))
            share.append((tokens.sigmoid() * mine).sum(1, keepdim=True) / count)
        most = x.masked_fill(~real[..., None], _FAR).amax(1)
        pooled = [x[:, 0], most, means[0] * means[1], (means[0] - means[1]).abs()]
        states = torch.cat([self.drop(torch.cat(pooled, -1)), *worst, *share], -1)
        return self.read(states).squeeze(-1), tokens


class LowRank(nn.Module):
    """What is added to a projection: two narrow matrices, at first nothing."""

    def __init__(self, inside: int, outside: int, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.randn(rank, inside) / inside**0.5)
        self.up = nn.Parameter(torch.zeros(outside, rank))

    def forward(self, x: Tensor) -> Tensor:
        """What is added to the projection of x."""
        return F.linear(F.linear(x, self.down), self.up)


def _projections(layer: Any) -> tuple[Any, ...]:
    attention = layer.attention
    return (
        attention.self.query, attention.self.key, attention.self.value,
        attention.output.dense, layer.intermediate.dense, layer.output.dense,
    )  # fmt: skip


def alikeness(words: Tensor, first: Sequence[int], second: Sequence[int]) -> Tensor:
    """Of each token, how alike the most similar one of the other sentence is.

    Args:
        words: unit vectors of the vocabulary: shape (V, D).
        first: token ids of the first sentence.
        second: token ids of the second sentence.

    Returns:
        Of the tokens of ``[CLS] first [SEP] second [SEP]``: whether the other sentence has the same
        token, the highest cosine with one of it, and 1 for these tokens, so that the special ones
        (zeros) differ: shape (T, 3).
    """
    count = len(first) + len(second) + 3
    found = torch.zeros(count, _FEATURES)
    if first and second:
        table = words[list(first)] @ words[list(second)].T
        best = torch.cat([table.amax(1), table.amax(0)])
        rows = torch.cat([torch.arange(1, len(first) + 1), torch.arange(len(first) + 2, count - 1)])
        found[rows] = torch.stack([(best > 0.999).float(), best, torch.ones_like(best)], -1)
    return found
