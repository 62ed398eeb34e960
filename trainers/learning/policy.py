"""Policy gradients: the log-probabilities of words that were drawn, weighted by their reward.

A sentence is drawn without gradients, then scored again by an ordinary forward pass. Rewards and
weights never carry a gradient: what produced them does not learn from this loss (Williams 1992).
"""

from __future__ import annotations

from torch import Tensor


def log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """``log p`` of each id, in nats: logits (B, T, V) and ids (B, T) to (B, T), float32."""
    return logits.float().log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]


def up_to_end(ids: Tensor, end: int) -> Tensor:
    """Which places of ids (B, T) count: those up to the first ``end``, which counts too; bool.

    >>> import torch
    >>> up_to_end(torch.tensor([[5, 2, 7, 2], [5, 6, 7, 8]]), end=2).tolist()
    [[True, True, False, False], [True, True, True, True]]
    """
    is_end = (ids == end).long()
    return (is_end.cumsum(dim=1) - is_end) == 0


def sentence_policy_loss(log_p: Tensor, mask: Tensor, reward: Tensor) -> Tensor:
    """Sum over sentences of ``-reward * mean of log p``; TYB's reduction, before the batch's mean.

    Args:
        log_p: (B, T), of the words that were drawn.
        mask: (B, T), the places that count.
        reward: (B), of each sentence.
    """
    count = mask.sum(dim=1).clamp(min=1)
    return -(reward.detach() * (log_p * mask).sum(dim=1) / count).sum()


def token_policy_loss(log_p: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """Mean over all words of ``-weight * log p``; BSRR's reduction.

    Args:
        log_p: (B, T), of the words that were drawn.
        mask: (B, T), the places that count.
        weight: (B, T), the reward of each word.
    """
    return -(log_p * weight.detach() * mask).sum() / mask.sum().clamp(min=1)
