"""Noise on sentences of ids: pure functions whose randomness is torch's generator."""

from __future__ import annotations

import torch
from torch import Tensor


def slightly_shuffled(words: Tensor, lengths: Tensor, reach: int) -> Tensor:
    """The first ``lengths`` (B) ids of rows (B, T), none further than ``reach`` places away.

    Lample et al. (2018), "Unsupervised Machine Translation Using Monolingual Corpora Only", section
    2.3: places are sorted by themselves plus a random number between 0 and ``reach + 1``.
    """
    if reach == 0:
        return words
    places = torch.arange(words.shape[1], device=words.device)
    inside = places < lengths[:, None]
    moved = places + inside * (reach + 1) * torch.rand(words.shape, device=words.device)
    # What is behind the end stays there, however far the last words moved.
    moved = moved + ~inside * (words.shape[1] + reach + 1)
    return words.gather(1, moved.argsort(dim=1, stable=True))


def backwards(words: Tensor, lengths: Tensor) -> Tensor:
    """The first ``lengths`` (B) ids of rows (B, T) in reverse; the rest stays.

    >>> backwards(torch.tensor([[7, 8, 9, 0], [5, 0, 0, 0]]), torch.tensor([3, 1])).tolist()
    [[9, 8, 7, 0], [5, 0, 0, 0]]
    """
    places = torch.arange(words.shape[1], device=words.device)
    mirrored = lengths[:, None] - 1 - places
    return words.gather(1, torch.where(mirrored >= 0, mirrored, places))
