"""Losses over words, each with its reduction in its name: the papers' differ."""

from __future__ import annotations

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


def mean_word_loss(logits: Tensor, target: Tensor) -> Tensor:
    """Mean of ``-log p`` over the words of ``target`` (B, T), padding apart."""
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)


def gradient_penalty(critic: Callable[[Tensor], Tensor], between: Tensor) -> Tensor:
    """Mean of ``(|gradient| - 1)^2`` of a critic's scores at points (B, D), of scalar sum.

    Gulrajani et al. (2017), "Improved Training of Wasserstein GANs", equation 3; the points lie
    between real and generated ones.
    """
    with torch.enable_grad():
        points = between.detach().requires_grad_()
        (slopes,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    return (slopes.norm(dim=1) - 1).square().mean()
