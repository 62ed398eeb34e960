"""NAST's generator: writes all words at once, each from the source word that it is aligned to.

Huang et al. (Findings of ACL 2021), "NAST: A Non-Autoregressive Generator with Word Alignment for
Unsupervised Text Style Transfer", section 3.

The learnable alignment is of section 3.2 and the appendix. A written word is at a place of
the source: 0 is the style before it, 1 to L its words, L + 1 beyond its end. Places never go back;
a jump from one word to the next is at most :data:`MAX_JUMP` places. A jump of 0 writes a word that
the source does not have, of 2 or 3 leaves source words out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.vocabulary import END, UNKNOWN
from .style_transformer import Reader, lengths_of
from .transformer import Decoder, Shape

MAX_JUMP = 3
_NEVER = 1e9  # a cost that only a sentence without a possible alignment pays


def align(source: Tensor, lengths: Tensor, target: Tensor, target_lengths: Tensor) -> Tensor:
    """The cheapest places of a target's words in a source, by dynamic programme.

    A word at a new place costs the squared distance of its vector to the source word's; one
    without a source word costs its own squared length.

    Args:
        source: word vectors (B, T, D).
        lengths: of the sources (B).
        target: word vectors (B, S, D).
        target_lengths: (B).

    Returns:
        Places (B, S), from 1; ``lengths + 1`` behind a target's end. The last word is at most
        :data:`MAX_JUMP` places before ``lengths + 1``. Where no such alignment exists (a source
        three times as long as its target), a jump is longer.
    """
    size, width = source.shape[:2]
    alone = target.square().sum(dim=-1) + 1e-6  # (B, S)
    distance = torch.cdist(
        target, source, compute_mode="donot_use_mm_for_euclid_dist"
    ).square()  # (B, S, T)
    places = torch.arange(width, device=source.device)
    distance = distance.masked_fill(places >= lengths[:, None, None], _NEVER)
    never = source.new_full((size, MAX_JUMP), _NEVER)
    cost = distance[:, 0].clone()
    cost[:, MAX_JUMP:] = _NEVER
    jumps = []
    for word in range(1, target.shape[1]):
        before = torch.cat([never, cost], dim=1)  # (B, MAX_JUMP + T)
        options = [cost + alone[:, word, None]]
        for jump in range(1, MAX_JUMP + 1):
            options.append(before[:, MAX_JUMP - jump :][:, :width] + distance[:, word])
        cheapest, jump_here = torch.stack(options).min(dim=0)
        inside = (word < target_lengths)[:, None]
        cost = torch.where(inside, cheapest, cost)
        jumps.append(torch.where(inside, jump_here, 0))
    far = places < lengths[:, None] - MAX_JUMP
    place = cost.masked_fill(far, 2 * _NEVER).argmin(dim=1)  # (B,), from 0
    found = [place]
    for jump_here in reversed(jumps):
        place = (place - jump_here.gather(1, place[:, None])[:, 0]).clamp(min=0)
        found.append(place)
    path = torch.stack(found[::-1], dim=1) + 1
    behind = torch.arange(target.shape[1], device=path.device) >= target_lengths[:, None]
    return torch.where(behind, lengths[:, None] + 1, path)


class Slots:
    """What the decoder reads at each place of a source.

    Args:
        inputs: vectors (B, T + 1, D), the first of the style.
        lengths: of the sources (B).
        blank: vector (D) of a word without a source word.
        end: vector (D) of what is beyond the end.
    """

    def __init__(self, inputs: Tensor, lengths: Tensor, blank: Tensor, end: Tensor) -> None:
        beyond = torch.arange(inputs.shape[1], device=inputs.device) > lengths[:, None]
        filled = torch.where(beyond[..., None], end, inputs)
        self.lengths, self.blank = lengths, blank
        more = end.expand(len(inputs), MAX_JUMP + 1, -1)
        self.vectors = torch.cat([filled, more], dim=1)  # (B, T + 5, D)

    def at(self, places: Tensor, fresh: Tensor) -> Tensor:
        """Vectors (B, S, D) at places (B, S); the blank where a word is ``fresh`` (B, S)."""
        index = places[..., None].expand(-1, -1, self.vectors.shape[2])
        return torch.where(fresh[..., None], self.blank, self.vectors.gather(1, index))


class PositionModel(nn.Module):
    """Predicts each jump from the words at the places so far."""

    def __init__(self, shape: Shape, max_length: int, layers: int = 3) -> None:
        super().__init__()
        self.max_length = max_length
        self.positions = nn.Embedding(max_length + 1, shape.dimension)
        self.decoder = Decoder(replace(shape, layers=layers))
        self.query = nn.Linear(shape.dimension, shape.dimension)
        self.key = nn.Linear(shape.dimension, shape.dimension)
        self.bias = nn.Linear(shape.dimension, MAX_JUMP + 1)
        nn.init.normal_(self.positions.weight, std=shape.dimension**-0.5)

    def teach(self, slots: Slots, memory: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        """Scores (B, S + 1, 4) of the jumps from 0 and from each of the places (B, S)."""
        start = F.pad(places, (1, 0))
        order = torch.arange(start.shape[1], device=places.device)
        vectors = slots.at(start, fresh(places)) + self.positions(order)
        hidden, _ = self.decoder(vectors, self.decoder.memory(memory), mask)
        return self._scores(hidden, start, self.key(slots.vectors), self.key(slots.blank))

    def loss(self, scores: Tensor, places: Tensor, lengths: Tensor, written: Tensor) -> Tensor:
        """Sum of ``-log p`` of the jumps: to each place, and from the last one beyond the end.

        Args:
            scores: (B, S + 1, 4), of :meth:`teach`.
            places: (B, S).
            lengths: of the sources (B).
            written: lengths of the targets (B); jumps behind them do not count.
        """
        path = torch.cat([F.pad(places, (1, 0)), lengths[:, None] + 1], dim=1)
        jumps = path.diff(dim=1).clamp(0, MAX_JUMP)  # (B, S + 1)
        counts = torch.arange(jumps.shape[1], device=jumps.device) <= written[:, None]
        losses = F.cross_entropy(scores.transpose(1, 2), jumps, reduction="none")
        return (losses * counts).sum()

    @torch.no_grad()
    def walk(self, slots: Slots, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The likeliest jump, one after the other, until all are beyond their ends.

        Returns:
            Places (B, S), and the number of words (B) that are written, 1 at least.
        """
        seen_memory, seen = self.decoder.memory(memory), None
        keys, blank = self.key(slots.vectors), self.key(slots.blank)
        place = torch.zeros(len(memory), 1, dtype=torch.long, device=memory.device)
        is_fresh, last = torch.zeros_like(place, dtype=torch.bool), slots.lengths[:, None] + 1
        jumps = torch.arange(MAX_JUMP + 1, device=memory.device)
        places = []
        for step in range(self.max_length):
            vector = slots.at(place, is_fresh) + self.positions.weight[step]
            hidden, seen = self.decoder(vector, seen_memory, mask, seen)
            scores = self._scores(hidden, place, keys, blank)[:, 0]
            if step == 0:  # the first word is one of the source's
                scores = scores.masked_fill((jumps == 0) | (jumps >= last), -torch.inf)
            jump = scores.argmax(dim=1, keepdim=True)
            is_fresh, place = jump == 0, torch.minimum(place + jump, last)
            places.append(place)
            if (place == last).all():
                break
        path = torch.cat(places, dim=1)
        return path, (path < last).sum(dim=1)

    def _scores(self, hidden: Tensor, places: Tensor, keys: Tensor, blank: Tensor) -> Tensor:
        asked = self.query(hidden)  # (B, S, D)
        reach = places[..., None] + torch.arange(1, MAX_JUMP + 1, device=places.device)
        index = reach.flatten(1)[..., None].expand(-1, -1, keys.shape[2])
        offered = keys.gather(1, index).unflatten(1, reach.shape[1:])  # (B, S, 3, D)
        moves = (offered @ asked[..., None])[..., 0]
        scores = torch.cat([(asked @ blank)[..., None], moves], dim=2) / keys.shape[2] ** 0.5
        biased: Tensor = scores + self.bias(hidden)
        return biased


def fresh(places: Tensor) -> Tensor:
    """Which of the style and the words at places (B, S) have no source word: (B, S + 1)."""
    return F.pad(F.pad(places, (1, 0)).diff(dim=1) == 0, (1, 0))


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
