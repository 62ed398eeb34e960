"""Losses over words, each with its reduction in its name: the papers' differ."""

from __future__ import annotations

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
