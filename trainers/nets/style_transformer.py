"""The Style Transformer's networks: a generator that is told a style, and a discriminator.

Dai et al. (ACL 2019), "Style Transformer", sections 3.2 and 3.3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.vocabulary import END, PAD
from .transformer import Decoder, Encoder, KeysValues, Shape, Words


class Reader(nn.Module):
    """Encodes a sentence with a style before it."""

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        self.words = Words(n_words, shape.dimension, max_length, PAD)
        self.styles = nn.Embedding(2, shape.dimension)
        self.encoder = Encoder(shape)
        nn.init.normal_(self.styles.weight, std=shape.dimension**-0.5)

    def embed(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, T + 1, D), the first of the style (B); and their mask, true at words."""
        places = torch.arange(words.shape[1], device=words.device)
        mask = F.pad(places < lengths[:, None], (1, 0), value=True)  # the style is always seen
        return torch.cat([self.styles(styles)[:, None], self.words(words)], dim=1), mask

    def forward(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """The memory (B, T + 1, D) of a sentence to be written in a style (B), and its mask."""
        vectors, mask = self.embed(words, lengths, styles)
        return self.encoder(vectors, mask), mask


class Generator(nn.Module):
    """Reads a sentence with a style before it; writes words one after the other (section 3.2)."""

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.reader = Reader(n_words, shape, max_length)
        self.start = nn.Parameter(torch.randn(shape.dimension) * shape.dimension**-0.5)
        self.decoder = Decoder(shape)
        self.output = nn.Linear(shape.dimension, n_words)

    def teach(self, words: Tensor, lengths: Tensor, styles: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given the words before it."""
        memory, mask = self.reader(words, lengths, styles)
        start = self.start.expand(len(target), 1, -1)
        before = torch.cat([start, self.reader.words(target[:, :-1])], dim=1)
        vectors, _ = self.decoder(before, self.decoder.memory(memory), mask)
        logits: Tensor = self.output(vectors)
        return logits

    def unroll(
        self, words: Tensor, lengths: Tensor, styles: Tensor, *, temperature: float
    ) -> Tensor:
        """Soft words (B, S, V) until every sentence has ended, ``max_length`` at most.

        Gradients flow through them. What a sentence has behind its ``END`` means nothing:
        :func:`lengths_of` leaves it out.

        Args:
            words: ids (B, T), or soft words (B, T, V).
            lengths: (B,), the end included.
            styles: (B,), to write in.
            temperature: of the words' probabilities.
        """
        memory, mask = self.reader(words, lengths, styles)
        seen_memory, seen = self.decoder.memory(memory), None
        vector = self.start.expand(len(memory), 1, -1)
        written = []
        ended = torch.zeros(len(memory), dtype=torch.bool, device=memory.device)
        for place in range(self.max_length):
            vectors, seen = self.decoder(vector, seen_memory, mask, seen)
            logits = self.output(vectors)  # (B, 1, V)
            written.append(F.softmax(logits / temperature, dim=-1))
            ended |= logits[:, 0].argmax(dim=-1) == END
            if ended.all():
                break
            vector = self.reader.words(written[-1], first=place)
        return torch.cat(written, dim=1)

    def write(
        self, words: Tensor, lengths: Tensor, styles: Tensor, *, forbidden: Sequence[int] = ()
    ) -> Tensor:
        """The likeliest words' ids (B, S), at least one a sentence; ``PAD`` after ``END``.

        A sentence that has ended is computed no further. Takes what :meth:`unroll` takes.

        Args:
            words: ids (B, T), or soft words (B, T, V).
            lengths: (B,), the end included.
            styles: (B,), to write in.
            forbidden: ids that are never written.
        """
        memory, mask = self.reader(words, lengths, styles)
        seen_memory, seen = self.decoder.memory(memory), None
        vector = self.start.expand(len(memory), 1, -1)
        rows = torch.arange(len(memory), device=memory.device)  # of the sentences that go on
        ids = torch.full((len(memory), self.max_length), PAD, device=memory.device)
        for place in range(self.max_length):
            vectors, seen = self.decoder(vector, seen_memory, mask, seen)
            logits = self.output(vectors[:, 0])
            logits[:, [*forbidden, *(() if place else (END,))]] = -torch.inf
            word = logits.argmax(dim=-1)
            ids[rows, place] = word
            on = (word != END).nonzero()[:, 0]
            if len(on) == 0:
                break
            if len(on) < len(word):
                rows, word, mask = rows[on], word[on], mask[on]
                seen_memory, seen = _of(on, seen_memory), _of(on, seen)
            vector = self.reader.words(word[:, None], first=place)
        return ids[:, : place + 1]


def _of(rows: Tensor, layers: list[KeysValues]) -> list[KeysValues]:
    """The keys and values of these rows."""
    return [(keys[rows], values[rows]) for keys, values in layers]


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

    def doubt(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """``-log p`` (B) that these are sentences of these styles: what a generator lowers."""
        wanted = torch.ones_like(styles) if self.conditional else styles + 1
        return F.cross_entropy(self(words, lengths, styles), wanted, reduction="none")

    def losses(
        self,
        words: Tensor,
        styles: Tensor,
        repeated: tuple[Tensor, Tensor],
        rewritten: tuple[Tensor, Tensor],
    ) -> dict[str, Tensor]:
        """What it minimises (the paper's Algorithm 2), each term summed over sentences.

        Args:
            words: real sentences (B, T).
            styles: theirs (B).
            repeated: words and lengths of their rewrites in their own styles, which count as real.
            rewritten: words and lengths of their rewrites in the other styles.
        """
        real = (words, lengths_of(words))
        losses = {
            "real": self.doubt(*real, styles).sum(),
            "repeated": self.doubt(*repeated, styles).sum(),
        }
        wrong = {"rewritten": rewritten, **({"mismatched": real} if self.conditional else {})}
        for name, text in wrong.items():
            verdict = self(*text, 1 - styles)
            no = torch.zeros_like(styles)
            losses[name] = F.cross_entropy(verdict, no, reduction="sum")
        return losses


def lengths_of(words: Tensor) -> Tensor:
    """Lengths (B,) of ids or soft words: up to the first likeliest ``END``, which counts."""
    ids = words.argmax(dim=-1) if words.is_floating_point() else words
    ends = ids == END
    first = ends.int().argmax(dim=1) + 1
    return torch.where(ends.any(dim=1), first, ids.shape[1])
