"""Noise on sentences of ids, as pure functions: blanks, lost and foreign words, other orders.

What a denoising system repairs. A sentence's ``END``, its last id, is never touched. Noise on one
sentence takes numpy's generator; noise on a padded batch, torch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .vocabulary import END, UNKNOWN

_FIRST = END + 1  # id of the first word


@dataclass(frozen=True)
class Noise:
    """How much of each noise.

    Attributes:
        blank: share of words that become the unknown word.
        drop: share of words that are left out.
        insert: chance of a word before each word but the first.
    """

    blank: float = 0.0
    drop: float = 0.0
    insert: float = 0.0


def noisy(
    ids: Sequence[int],
    noise: Noise,
    foreign: np.ndarray,
    max_length: int,
    random: np.random.Generator,
) -> list[int]:
    """A sentence with blanks, then foreign words, then without some of its words.

    Args:
        ids: ``END`` last.
        noise: how much of each.
        foreign: cumulative probabilities (V,) of the words to insert, of :func:`cumulative`.
        max_length: of the result, its end included; beyond it, nothing is inserted.
        random: where chance comes from.
    """
    words = blanked(ids, noise.blank, random)
    words = inserted(words, noise.insert, foreign, max_length, random)
    return dropped(words, noise.drop, random)


def blanked(ids: Sequence[int], share: float, random: np.random.Generator) -> list[int]:
    """Each word becomes the unknown word with this chance.

    >>> blanked([5, 6, 7, END], 1.0, np.random.default_rng(0)) == [UNKNOWN] * 3 + [END]
    True
    """
    lost = random.random(len(ids) - 1) < share
    return [UNKNOWN if gone else word for word, gone in zip(ids, lost, strict=False)] + [ids[-1]]


def dropped(ids: Sequence[int], share: float, random: np.random.Generator) -> list[int]:
    """Each word is left out with this chance; one word stays, whichever.

    >>> len(dropped([5, 6, 7, END], 1.0, np.random.default_rng(0)))
    2
    """
    words = ids[:-1]
    kept = [word for word, u in zip(words, random.random(len(words)), strict=True) if u >= share]
    if words and not kept:
        kept = [words[int(random.integers(len(words)))]]
    return [*kept, ids[-1]]


def inserted(
    ids: Sequence[int],
    chance: float,
    foreign: np.ndarray,
    max_length: int,
    random: np.random.Generator,
) -> list[int]:
    """Before each id but the first, words of another distribution come in.

    After each of them another one follows with the same chance, so that a place is an insertion
    with that chance, as in the released code.

    Args:
        ids: ``END`` last.
        chance: of one more word, below 1.
        foreign: cumulative probabilities (V,) of these words.
        max_length: of the result.
        random: where chance comes from.
    """
    room = max_length - len(ids)
    found = list(ids[:1])
    for word in ids[1:]:
        while room > 0 and random.random() < chance:
            found.append(int(np.searchsorted(foreign, random.random(), side="right")))
            room -= 1
        found.append(word)
    return found


def cumulative(
    rows: Sequence[Sequence[int]], n_words: int, document_shares: np.ndarray
) -> np.ndarray:
    """Cumulative probabilities (V,) of a style's words, rare ones of both styles preferred.

    A word's weight is its count times ``log(0.3 / share)`` where that is positive; ``share`` is
    the sum over the styles of the shares of sentences that have the word (NAST's released
    ``noise.py``).

    Args:
        rows: the style's sentences.
        n_words: V.
        document_shares: (V,), of :func:`shares`, summed over the styles.
    """
    counts = np.bincount(np.concatenate([np.asarray(row) for row in rows]), minlength=n_words)
    rarity = np.maximum(np.log(0.3 / (document_shares + 1e-10)), 0)
    weights = counts * rarity
    weights[:_FIRST] = 0
    if not weights.any():  # a tiny corpus, whose words are all frequent
        weights = counts.astype(float)
        weights[:_FIRST] = 0
    total = np.cumsum(weights)
    return np.asarray(total / total[-1])


def shares(rows: Sequence[Sequence[int]], n_words: int) -> np.ndarray:
    """Shares (V,) of sentences that have each word.

    >>> shares([[3, 3, 2], [2]], 4).tolist()
    [0.0, 0.0, 1.0, 0.5]
    """
    found = np.zeros(n_words)
    for row in rows:
        found[np.unique(row)] += 1
    return found / len(rows)


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
