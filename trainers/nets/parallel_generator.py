"""NAST's generator: writes all words at once, each from the source word that it is aligned to.

Huang et al. (Findings of ACL 2021), "NAST: A Non-Autoregressive Generator with Word Alignment for
Unsupervised Text Style Transfer", section 3.
"""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.vocabulary import END, UNKNOWN
from .alignment import PositionModel, Slots, align, fresh
from .style_transformer import Reader, lengths_of
from .transformer import Decoder, Shape

Input = Literal["encoded", "raw"]


class ParallelGenerator(nn.Module):
    """Reads a sentence with a style before it; writes its words at once.

    Args:
        n_words: V.
        shape: of encoder, decoder and position model.
        max_length: words of a sentence, its end included.
        learnable: whether words may be left out and added; otherwise one is written for each.
        reads: what the decoder reads of a source word: its encoding, or its vector.
    """

    def __init__(
        self, n_words: int, shape: Shape, max_length: int, *, learnable: bool, reads: Input
    ) -> None:
        super().__init__()
        self.reads = reads
        self.reader = Reader(n_words, shape, max_length)
        self.decoder = Decoder(shape)
        self.output = nn.Linear(shape.dimension, n_words)
        self.positions = PositionModel(shape, max_length) if learnable else None

    def teach(
        self, words: Tensor, lengths: Tensor, styles: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, S, V) of the words of ``target`` (B, S), and the summed loss of the jumps.

        Simple alignment takes the target's words at the places of ``words``: S is T, and there is
        no loss of jumps.

        Args:
            words: ids (B, T) or soft words (B, T, V).
            lengths: (B), the end included.
            styles: (B), to write in.
            target: ids (B, S).
        """
        memory, mask, inputs = self._read(words, lengths, styles)
        if self.positions is None:
            return self._written(inputs, mask, memory, mask), None
        written = lengths_of(target)
        with torch.no_grad():
            vectors = self.reader.words.vectors.weight
            blanks = vectors.clone()
            blanks[UNKNOWN] = 0.0  # a blank is as far from every word as no word at all
            found = words @ blanks if words.is_floating_point() else blanks[words]
            places = align(found, lengths, vectors[target], written)
        slots = self._slots(inputs, lengths)
        scores = self.positions.teach(slots, memory, mask, places)
        loss = self.positions.loss(scores, places, lengths, written)
        return self._at(slots, places, written, memory, mask), loss

    def write(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, S, V) of all words of a rewrite, and how many (B) there are."""
        memory, mask, inputs = self._read(words, lengths, styles)
        if self.positions is None:
            return self._written(inputs, mask, memory, mask), lengths
        slots = self._slots(inputs, lengths)
        places, written = self.positions.walk(slots, memory, mask)
        return self._at(slots, places, written, memory, mask), written

    def _read(
        self, words: Tensor, lengths: Tensor, styles: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        vectors, mask = self.reader.embed(words, lengths, styles)
        memory = self.reader.encoder(vectors, mask)
        return memory, mask, memory if self.reads == "encoded" else vectors

    def _slots(self, inputs: Tensor, lengths: Tensor) -> Slots:
        vectors = self.reader.words.vectors.weight
        return Slots(inputs, lengths, vectors[UNKNOWN], vectors[END])

    def _at(
        self, slots: Slots, places: Tensor, written: Tensor, memory: Tensor, mask: Tensor
    ) -> Tensor:
        start = F.pad(places, (1, 0))
        seen = torch.arange(start.shape[1], device=places.device) <= written[:, None]
        return self._written(slots.at(start, fresh(places)), seen, memory, mask)

    def _written(self, slots: Tensor, seen: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        vectors, _ = self.decoder(slots, self.decoder.memory(memory), mask, own_mask=seen)
        logits: Tensor = self.output(vectors[:, 1:])  # the style is not a word
        return logits
