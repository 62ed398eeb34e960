"""A pre-norm Transformer whose words may be soft, and whose decoder keeps what it has seen.

A sentence is ids (B, T), or rows of word probabilities (B, T, V) through which gradients flow to
whoever produced them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm

from .words import PAD

KeysValues = tuple[Tensor, Tensor]  # each (B, H, T, D / H)


@dataclass(frozen=True)
class Shape:
    """Size of a Transformer.

    Attributes:
        dimension: D.
        heads: H, of each attention.
        layers: of each stack.
        dropout: after each sub-layer.
    """

    dimension: int
    heads: int
    layers: int
    dropout: float = 0.0


class Words(nn.Module):
    """Word vectors of ids, or of soft words; with positions, which start at 0."""

    def __init__(self, n_words: int, dimension: int, max_length: int, pad: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_words, dimension, padding_idx=pad)
        self.positions = nn.Embedding(max_length, dimension)
        scale = dimension**-0.5
        with torch.no_grad():
            self.vectors.weight.normal_(std=scale)[pad] = 0.0
            self.positions.weight.normal_(std=scale)

    def forward(self, words: Tensor, first: int = 0) -> Tensor:
        """Vectors (B, T, D) of ids (B, T) or rows (B, T, V); ``first``: position of word 0."""
        vectors = words @ self.vectors.weight if words.is_floating_point() else self.vectors(words)
        positions = torch.arange(first, first + words.shape[1], device=words.device)
        summed: Tensor = vectors + self.positions(positions)
        return summed


class Attention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query = nn.Linear(shape.dimension, shape.dimension)
        self.key_value = nn.Linear(shape.dimension, 2 * shape.dimension)
        self.output = nn.Linear(shape.dimension, shape.dimension)

    def keys_values(self, seen: Tensor) -> KeysValues:
        """Keys and values of vectors (B, T, D)."""
        keys, values = self.key_value(seen).chunk(2, dim=-1)
        return self._split(keys), self._split(values)

    def forward(
        self,
        asking: Tensor,
        seen: KeysValues,
        mask: Tensor | None = None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """Vectors (B, S, D) for queries (B, S, D); ``mask`` (B, T) is true where one may look."""
        found = F.scaled_dot_product_attention(
            self._split(self.query(asking)),
            *seen,
            attn_mask=None if mask is None else mask[:, None, None, :],
            is_causal=causal,
        )
        together: Tensor = self.output(found.transpose(1, 2).flatten(2))
        return together

    def _split(self, vectors: Tensor) -> Tensor:
        return vectors.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class _Layer(nn.Module):
    def __init__(self, shape: Shape, *, crosses: bool) -> None:
        super().__init__()
        self.own = Attention(shape)
        self.own_norm = nn.LayerNorm(shape.dimension, eps=1e-6)
        if crosses:
            self.cross = Attention(shape)
            self.cross_norm = nn.LayerNorm(shape.dimension, eps=1e-6)
        self.feed = nn.Sequential(
            nn.LayerNorm(shape.dimension, eps=1e-6),
            nn.Linear(shape.dimension, 4 * shape.dimension),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(4 * shape.dimension, shape.dimension),
        )
        self.dropout = nn.Dropout(shape.dropout)


class EncoderLayer(_Layer):
    """Self-attention, then a feed-forward network."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, crosses=False)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D)."""
        normed = self.own_norm(x)
        x = x + self.dropout(self.own(normed, self.own.keys_values(normed), mask))
        return x + self.dropout(self.feed(x))


class Encoder(nn.Module):
    """A stack of layers, with a norm at the end."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.dimension, eps=1e-6)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D); ``mask`` (B, T) is true at words."""
        for layer in self.layers:
            x = layer(x, mask)
        normed: Tensor = self.norm(x)
        return normed


class DecoderLayer(_Layer):
    """Self-attention, causal unless all words are there; attention to the memory; feed-forward."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape, crosses=True)

    def forward(
        self,
        x: Tensor,
        before: KeysValues | None,
        memory: KeysValues,
        mask: Tensor,
        own_mask: Tensor | None = None,
    ) -> tuple[Tensor, KeysValues]:
        """(B, S, D) to (B, S, D), and the keys and values of all words so far.

        ``before`` is of the words before ``x``, which is then one word. With an ``own_mask``
        (B, S), words see each other where it is true, also those after them.
        """
        normed = self.own_norm(x)
        keys, values = self.own.keys_values(normed)
        if before is not None:
            keys = torch.cat([before[0], keys], dim=2)
            values = torch.cat([before[1], values], dim=2)
        causal = own_mask is None and before is None and x.shape[1] > 1
        attended = self.own(normed, (keys, values), own_mask, causal=causal)
        x = x + self.dropout(attended)
        x = x + self.dropout(self.cross(self.cross_norm(x), memory, mask))
        return x + self.dropout(self.feed(x)), (keys, values)


class Decoder(nn.Module):
    """A stack of layers, at once over a whole sentence or word by word."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.dimension, eps=1e-6)

    def memory(self, encoded: Tensor) -> list[KeysValues]:
        """What the layers look at, computed once for a sentence."""
        return [layer.cross.keys_values(encoded) for layer in self.layers]  # type: ignore[union-attr, operator]

    def forward(
        self,
        x: Tensor,
        memory: list[KeysValues],
        mask: Tensor,
        before: list[KeysValues] | None = None,
        *,
        own_mask: Tensor | None = None,
    ) -> tuple[Tensor, list[KeysValues]]:
        """Vectors (B, S, D), and what the next call takes as ``before``.

        ``own_mask`` (B, S): for words that are all there already and see each other.
        """
        seen = []
        for index, layer in enumerate(self.layers):
            past = None if before is None else before[index]
            x, own = layer(x, past, memory[index], mask, own_mask)
            seen.append(own)
        return self.norm(x), seen


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


def summed_word_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Sum of ``-log p`` over the words of ``target`` (B, T), padding apart: not a mean."""
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum"
    )
