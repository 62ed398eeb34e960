"""Rewards of a sentence that a system wrote: its style, its content, and which words earn them.

Everything is computed for a batch at once, and nothing carries a gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

BLEU_WEIGHTS = (0.25, 0.25, 0.25, 0.25)
_EPSILON = 0.1  # matches of an n-gram order that has none: smoothing 1 of Chen and Cherry (2014)


def style_probability(logits: Tensor, target: Tensor, *, top: float = 1.0) -> Tensor:
    """P(target style), at most ``top``: logits (B, S) and styles (B) to (B), in [0, 1]."""
    shares = logits.detach().float().softmax(dim=-1)
    return shares.gather(1, target[:, None])[:, 0].clamp(max=top)


def style_gap(logits: Tensor, target: Tensor) -> Tensor:
    """P(target) - P(source) of two styles: logits (B, 2) and styles (B) to (B), in [-1, 1]."""
    return 2 * style_probability(logits, target) - 1


def self_critical(sampled: Tensor, greedy: Tensor, *, only_better: bool = False) -> Tensor:
    """How much better a drawn sentence is than the likeliest one (Rennie et al. 2017); (B).

    Args:
        sampled: rewards of drawn sentences.
        greedy: rewards of the likeliest sentences for the same sources.
        only_better: whether a worse one counts as 0.
    """
    advantage = sampled - greedy
    return advantage.clamp(min=0) if only_better else advantage


def sentence_bleu(
    written: Tensor,
    written_lengths: Tensor,
    reference: Tensor,
    reference_lengths: Tensor,
    weights: Sequence[float] = BLEU_WEIGHTS,
) -> Tensor:
    """Sentence BLEU over ids, with smoothing 1; (B), float32, in [0, 1].

    N-grams are compared as a whole batch: place i of one sentence and place j of the other begin
    equal n-grams if their ids are equal, and i + 1 and j + 1 begin equal (n-1)-grams.

    Args:
        written: (B, T).
        written_lengths: (B): how many places count.
        reference: (B, U).
        reference_lengths: (B): how many places count.
        weights: of the n-gram orders, the shortest first.
    """
    there, wanted = _places(written, written_lengths), _places(reference, reference_lengths)
    same = there[:, :, None] & wanted[:, None, :] & (written[:, :, None] == reference[:, None, :])
    self_same = there[:, :, None] & there[:, None, :] & (written[:, :, None] == written[:, None])
    log_score = torch.zeros(len(written), device=written.device)
    first = None
    common, own = same, self_same
    for order, weight in enumerate(weights, start=1):
        if order > 1:
            common, own = _longer(common, same), _longer(own, self_same)
        # The k-th occurrence of an n-gram matches if the reference has it k times.
        occurrence = own.tril().sum(dim=2)  # (B, T)
        matches = ((occurrence > 0) & (occurrence <= common.sum(dim=2))).sum(dim=1).float()
        first = matches if first is None else first
        count = (written_lengths - order + 1).clamp(min=1)
        log_score += weight * (matches.where(matches > 0, _EPSILON) / count).log()
    shortage = 1 - reference_lengths / written_lengths.clamp(min=1)
    score = (log_score + shortage.clamp(max=0)).exp()
    return score * 0 if first is None else score.where(first > 0, 0.0)


def text_bleu(
    written: Sequence[str], references: Sequence[str], weights: Sequence[float] = BLEU_WEIGHTS
) -> Tensor:
    """Sentence BLEU over words between spaces, with smoothing 1; (B), in [0, 1]."""
    ids: dict[str, int] = {}

    def rows(texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        found = [[ids.setdefault(word, len(ids)) for word in text.split()] for text in texts]
        width = max(1, *map(len, found))
        padded = torch.tensor([[*row, *[-1] * (width - len(row))] for row in found])
        return padded, torch.tensor([len(row) for row in found])

    if not written:
        return torch.zeros(0)
    return sentence_bleu(*rows(written), *rows(references), weights)


def salience(
    attentions: Sequence[Tensor], *, last: int = 2, low: float = 0.2, high: float = 0.5
) -> Tensor:
    """How much a classifier's first place looks at each word; (B, T).

    Args:
        attentions: of each layer, (B, heads, T, T), rows sum to 1.
        last: the largest over the heads of this many last layers counts.
        low: the smallest salience.
        high: the largest.
    """
    looks = torch.stack([layer[:, :, 0].amax(dim=1) for layer in attentions[-last:]])
    return looks.amax(dim=0).clamp(low, high)


class DiversityMemory(nn.Module):
    """Which words the system has drawn too often lately; its state is in buffers, for checkpoints.

    A word that sentences of the last ``window`` steps have more than ``most`` times is penalised
    for ``duration`` steps. What a step draws counts from the next step on.
    """

    counts: Tensor
    drawn: Tensor
    until: Tensor
    step: Tensor

    def __init__(self, n_words: int, *, window: int = 10, most: int = 64, duration: int = 100):
        super().__init__()
        self._most, self._duration = most, duration
        self.register_buffer("counts", torch.zeros(window, n_words, dtype=torch.long))
        self.register_buffer("drawn", torch.zeros(n_words, dtype=torch.long))
        self.register_buffer("until", torch.zeros(n_words, dtype=torch.long))
        self.register_buffer("step", torch.zeros((), dtype=torch.long))

    def begin(self, step: int) -> None:
        """Take in what the step before drew; a second call changes nothing."""
        if int(self.step) == step:
            return
        self.counts[int(self.step) % len(self.counts)] = self.drawn
        self.drawn.zero_()
        self.step.fill_(step)
        worn = self.counts.sum(dim=0) > self._most
        self.until[worn] = step + self._duration

    def add(self, ids: Tensor, mask: Tensor) -> None:
        """Count the words of drawn sentences (B, T), where ``mask`` (B, T) is true."""
        found = ids[mask]
        self.drawn.index_add_(0, found, torch.ones_like(found))

    def factor(self, ids: Tensor, penalty: float = 0.5) -> Tensor:
        """``penalty`` for penalised words, 1 for the others; (B, T)."""
        worn = self.until[ids] > self.step
        return torch.where(worn, penalty, 1.0)


def _places(ids: Tensor, lengths: Tensor) -> Tensor:
    return torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]


def _longer(shorter: Tensor, single: Tensor) -> Tensor:
    """Equal n-grams (B, T, U) from equal (n-1)-grams that begin one place later, and equal ids."""
    following = torch.zeros_like(shorter)
    following[:, :-1, :-1] = shorter[:, 1:, 1:]
    return following & single
