"""Losses over words, each with its reduction in its name: the papers' differ."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from ..learning.vocabulary import PAD


def summed_word_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Sum of ``-log p`` over the words of ``target`` (B, T), padding apart: not a mean."""
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=PAD, reduction="sum"
    )


def smoothed_word_loss(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Sum over words of KL(smoothed truth || model): 0 where the model equals the smoothed truth.

    The true word has probability ``1 - smoothing``; all others except padding share the rest.

    Args:
        logits: (B, T, V).
        target: (B, T); padding is left out.
        smoothing: in [0, 1).
    """
    total = logits.logsumexp(dim=-1)  # log p = logits - total, which is never formed whole
    truth = logits.gather(-1, target[..., None])[..., 0] - total
    share = smoothing / (logits.shape[-1] - 2)
    every = logits.sum(dim=-1) - logits.shape[-1] * total
    others = every - truth - (logits[..., PAD] - total)
    cross_entropy = -(1 - smoothing) * truth - share * others
    entropy = -math.log(1 - smoothing) * (1 - smoothing)
    if smoothing:
        entropy -= math.log(share) * smoothing
    return ((cross_entropy - entropy) * (target != PAD)).sum()


def bag_of_words_loss(logits: Tensor, lengths: Tensor, wanted: Tensor) -> Tensor:
    """Each sentence's mean of ``-log p`` over the wanted words and over its places: (B,).

    Args:
        logits: (B, T, V).
        lengths: (B,), of what was written.
        wanted: (B, V), true for a word of the bag; an empty bag's loss is 0.
    """
    places = torch.arange(logits.shape[1], device=logits.device)
    inside = (places < lengths[:, None]).to(logits.dtype) / lengths[:, None]
    bag = wanted.to(logits.dtype)
    bag = bag / bag.sum(dim=1, keepdim=True).clamp(min=1)
    wished = torch.bmm(logits, bag[:, :, None])[:, :, 0]  # (B, T), the bag's mean logit
    lost = (torch.logsumexp(logits, dim=2) - wished) * inside
    return lost.sum(dim=1) * wanted.any(dim=1)


def gradient_penalty(critic: Callable[[Tensor], Tensor], between: Tensor) -> Tensor:
    """Mean of ``(|gradient| - 1)^2`` of a critic's scores at points (B, D), of scalar sum.

    Gulrajani et al. (2017), "Improved Training of Wasserstein GANs", equation 3; the points lie
    between real and generated ones.
    """
    with torch.enable_grad():
        points = between.detach().requires_grad_()
        (slopes,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    return (slopes.norm(dim=1) - 1).square().mean()
