"""The Style Transformer's networks: a generator that is told a style, and a discriminator.

Dai et al. (ACL 2019), "Style Transformer", sections 3.2 and 3.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.vocabulary import END, PAD
from .transformer import Decoder, Encoder, Shape, Words


class Generator(nn.Module):
    """Reads a sentence with a style before it; writes words (section 3.2)."""

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.words = Words(n_words, shape.dimension, max_length, PAD)
        self.styles = nn.Embedding(2, shape.dimension)
        self.start = nn.Parameter(torch.randn(shape.dimension) * shape.dimension**-0.5)
        self.encoder = Encoder(shape)
        self.decoder = Decoder(shape)
        self.output = nn.Linear(shape.dimension, n_words)
        nn.init.normal_(self.styles.weight, std=shape.dimension**-0.5)

    def encode(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """The memory (B, T + 1, D) of a sentence to be written in a style (B), and its mask."""
        style = self.styles(styles)[:, None]
        places = torch.arange(words.shape[1], device=words.device)
        mask = F.pad(places < lengths[:, None], (1, 0), value=True)  # the style is always seen
        return self.encoder(torch.cat([style, self.words(words)], dim=1), mask), mask

    def teach(self, words: Tensor, lengths: Tensor, styles: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given the words before it."""
        memory, mask = self.encode(words, lengths, styles)
        start = self.start.expand(len(target), 1, -1)
        before = torch.cat([start, self.words(target[:, :-1])], dim=1)
        vectors, _ = self.decoder(before, self.decoder.memory(memory), mask)
        logits: Tensor = self.output(vectors)
        return logits

    def unroll(
        self,
        words: Tensor,
        lengths: Tensor,
        styles: Tensor,
        *,
        temperature: float | None,
        forbidden: Sequence[int] = (),
    ) -> Tensor:
        """Write ``max_length`` words.

        Args:
            words: ids (B, T), or soft words (B, T, V).
            lengths: (B,), the end included.
            styles: (B,), to write in.
            temperature: of soft words (B, L, V), through which gradients flow; ``None`` for the
                likeliest words, as ids (B, L).
            forbidden: ids that are never written.
        """
        memory, mask = self.encode(words, lengths, styles)
        seen_memory, seen = self.decoder.memory(memory), None
        vector = self.start.expand(len(memory), 1, -1)
        written = []
        for place in range(self.max_length):
            vectors, seen = self.decoder(vector, seen_memory, mask, seen)
            logits = self.output(vectors)  # (B, 1, V)
            if temperature is None:
                if forbidden:
                    logits[..., list(forbidden)] = -torch.inf
                word = logits.argmax(dim=-1)
            else:
                word = F.softmax(logits / temperature, dim=-1)
            written.append(word)
            vector = self.words(word, first=place)
        return torch.cat(written, dim=1)


class Discriminator(nn.Module):
    """Tells styles, and sentences from rewrites (section 3.3.3): classes of the first place."""

    def __init__(self, n_words: int, shape: Shape, max_length: int, *, conditional: bool) -> None:
        super().__init__()
        self.conditional = conditional
        self.words = Words(n_words, shape.dimension, max_length, PAD)
        self.place = nn.Parameter(torch.randn(shape.dimension) * shape.dimension**-0.5)
        self.styles = nn.Embedding(2, shape.dimension)
        self.encoder = Encoder(shape)
        self.output = nn.Linear(shape.dimension, 2 if self.conditional else 3)

    def forward(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """Logits (B, C): multi: a rewrite, style 0, style 1; conditional: does not fit, fits."""
        before = [self.place.expand(len(words), 1, -1)]
        if self.conditional:
            before.append(self.styles(styles)[:, None])
        places = torch.arange(words.shape[1], device=words.device)
        mask = F.pad(places < lengths[:, None], (len(before), 0), value=True)
        encoded = self.encoder(torch.cat([*before, self.words(words)], dim=1), mask)
        logits: Tensor = self.output(encoded[:, 0])
        return logits


def lengths_of(words: Tensor) -> Tensor:
    """Lengths (B,) of ids or soft words: up to the first likeliest ``END``, which counts."""
    ids = words.argmax(dim=-1) if words.is_floating_point() else words
    ends = ids == END
    first = ends.int().argmax(dim=1) + 1
    return torch.where(ends.any(dim=1), first, ids.shape[1])
