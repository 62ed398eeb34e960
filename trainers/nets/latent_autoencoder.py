"""A Transformer autoencoder whose decoder sees one vector, and a classifier of that vector.

Wang et al. (NeurIPS 2019), "Controllable Unsupervised Text Attribute Transfer via Editing Entangled
Latent Representation", section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.vocabulary import END, PAD
from .transformer import Decoder, Encoder, Shape

HIDDEN = (100, 50)  # the classifier's hidden layers, as released


class SinusoidalWords(nn.Module):
    """Word vectors times sqrt(D), and fixed positions (Vaswani et al. 2017, sections 3.4, 3.5)."""

    positions: Tensor

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        dimension = shape.dimension
        self.vectors = nn.Embedding(n_words, dimension)
        self.dropout = nn.Dropout(shape.dropout)
        frequencies = 10000.0 ** (-torch.arange(0, dimension, 2) / dimension)
        angles = torch.arange(max_length)[:, None] * frequencies  # (T, D / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dimension]
        self.register_buffer("positions", waves, persistent=False)

    def forward(self, words: Tensor, first: int = 0) -> Tensor:
        """Vectors (B, T, D) of ids (B, T); ``first`` is the position of the first of them."""
        scaled = self.vectors(words) * self.vectors.embedding_dim**0.5
        placed = scaled + self.positions[first : first + words.shape[1]]
        return cast(Tensor, self.dropout(placed))


class LatentAutoencoder(nn.Module):
    """A sentence to one vector ``z``, and back.

    Args:
        n_words: V.
        shape: of both stacks.
        max_length: longest sentence, its end included.
        gru: whether a GRU reads the encoder's output before it is summed: in the paper's text,
            not in its code.
        mask_pads: whether padding is left out of the sum; if not, rows are padded to
            ``max_length``, so that a sentence's ``z`` does not depend on its batch.
    """

    def __init__(
        self, n_words: int, shape: Shape, max_length: int, *, gru: bool, mask_pads: bool
    ) -> None:
        super().__init__()
        self.max_length, self.mask_pads = max_length, mask_pads
        self.words = SinusoidalWords(n_words, shape, max_length)  # the decoder's too
        self.start = nn.Parameter(torch.zeros(1, shape.dimension))
        self.encoder, self.decoder = Encoder(shape), Decoder(shape)
        self.gru = nn.GRU(shape.dimension, shape.dimension, batch_first=True) if gru else None
        self.output = nn.Linear(shape.dimension, n_words)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def encode(self, words: Tensor) -> Tensor:
        """``z`` (B, D) of padded ids (B, T): the sum of sigmoid(encoder) over the words."""
        if not self.mask_pads:
            words = F.pad(words, (0, self.max_length - words.shape[1]), value=PAD)
        seen = words != PAD
        encoded = self.encoder(self.words(words), seen)
        if self.gru is not None:
            encoded, _ = self.gru(encoded + self.words.positions[: words.shape[1]])
        gates = torch.sigmoid(encoded)
        return (gates * seen[..., None] if self.mask_pads else gates).sum(dim=1)

    def teach(self, latent: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given ``z`` and the words before."""
        before = torch.cat([self._start(len(target)), self.words(target[:, :-1], first=1)], dim=1)
        memory, mask = self._memory(latent)
        vectors, _ = self.decoder(before, memory, mask)
        logits: Tensor = self.output(vectors)
        return logits

    def greedy(self, latent: Tensor, forbidden: Sequence[int] = ()) -> Tensor:
        """The likeliest words, one after the other: ids (B, L), L at most ``max_length``."""
        memory, mask = self._memory(latent)
        vector, seen = self._start(len(latent)), None
        ended = torch.zeros(len(latent), dtype=torch.bool, device=latent.device)
        written: list[Tensor] = []
        while len(written) < self.max_length and not ended.all():
            vectors, seen = self.decoder(vector, memory, mask, seen)
            logits = self.output(vectors)[:, -1]
            first = () if written else (END,)  # a rewrite has at least one word
            logits[:, [*forbidden, *first]] = -torch.inf
            word = logits.argmax(dim=-1, keepdim=True)
            written.append(word)
            ended |= word[:, 0] == END
            if len(written) < self.max_length:
                vector = self.words(word, first=len(written))
        return torch.cat(written, dim=1)

    def _start(self, batch: int) -> Tensor:
        # As a word of its own would be: scaled, at position 0.
        placed = self.start * self.start.shape[1] ** 0.5 + self.words.positions[:1]
        return self.words.dropout(placed).expand(batch, 1, -1)

    def _memory(self, latent: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        mask = torch.ones(len(latent), 1, dtype=torch.bool, device=latent.device)
        return self.decoder.memory(latent[:, None]), mask


class LatentClassifier(nn.Module):
    """The probability that ``z`` is of style 1, as a logit."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        first, second = HIDDEN
        self.layers = nn.Sequential(
            nn.Linear(dimension, first),
            nn.LeakyReLU(0.2),
            nn.Linear(first, second),
            nn.LeakyReLU(0.2),
            nn.Linear(second, 1),
        )

    def forward(self, latent: Tensor) -> Tensor:
        """Logits (B) of ``z`` (B, D)."""
        return cast(Tensor, self.layers(latent)[:, 0])


class Editor(nn.Module):
    """Both networks, and the weight of the edit that validation chose: what is trained and stored.

    Attributes:
        weight: scalar, see :func:`tstbench.trainers.ctat.edited`.
    """

    weight: Tensor

    def __init__(self, autoencoder: LatentAutoencoder, dimension: int, weight: float) -> None:
        super().__init__()
        self.autoencoder = autoencoder
        self.classifier = LatentClassifier(dimension)
        self.register_buffer("weight", torch.tensor(weight))
