"""Which source word each written word comes from: NAST's learnable alignment.

Huang et al. (Findings of ACL 2021), section 3.2 and the appendix. A written word is at a place of
the source: 0 is the style before it, 1 to L its words, L + 1 beyond its end. Places never go back;
a jump from one word to the next is at most :data:`MAX_JUMP` places. A jump of 0 writes a word that
the source does not have, of 2 or 3 leaves source words out.
"""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

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
