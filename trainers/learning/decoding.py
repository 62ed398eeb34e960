"""Writing a sentence word by word: the likeliest one, or the likeliest of a beam."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from .vocabulary import END, PAD

State = tuple[Tensor, ...]  # what a decoder remembers; each (B, ...)
Step = Callable[[Tensor | None, State], tuple[Tensor, State]]


def beam_search(
    step: Step,
    state: State,
    *,
    length: int,
    beams: int = 1,
    forbidden: Sequence[int] = (),
) -> Tensor:
    """The likeliest sentences found, with ``beams`` kept at each word; 1 is greedy.

    No sentence is empty: a total of log-probabilities would favour that.

    The score is the sum of log-probabilities, not divided by the length. A row's sentence does not
    depend on the other rows.

    Args:
        step: gives, for the last words (B), or ``None`` at the beginning, and the state, the logits
            (B, V) of the next words and the next state.
        state: at the beginning.
        length: the most words, the end included.
        beams: K.
        forbidden: ids that are never written; they keep their share of the probability.

    Returns:
        ids (B, L), L at most ``length``; ``PAD`` after ``END``.
    """
    logits, state = step(None, state)
    log_p = _log_probabilities(logits, (*forbidden, END))  # a sentence has at least one word
    wide = min(beams, log_p.shape[1])
    scores, words = log_p.topk(wide, dim=1)  # (B, K)
    scores = F.pad(scores, (0, beams - wide), value=-torch.inf)
    words = F.pad(words, (0, beams - wide), value=END)
    rows = torch.arange(len(words), device=words.device)[:, None]
    state = tuple(part.repeat_interleave(beams, dim=0) for part in state)  # (B * K, ...)
    written = words[..., None]  # (B, K, T)
    for _ in range(length - 1):
        last = written[..., -1]
        over = (last == END) | (last == PAD)
        if over[:, 0].all():  # scores only fall: a finished best sentence remains the best
            break
        logits, state = step(last.flatten(), state)
        log_p = _log_probabilities(logits, forbidden).unflatten(0, last.shape)
        log_p = log_p.masked_fill(over[..., None], -torch.inf)
        log_p[..., PAD] = torch.where(over, 0.0, log_p[..., PAD])
        best, ids = log_p.topk(wide, dim=2)  # what none of them has, the beam cannot need
        scores, places = (scores[..., None] + best).flatten(1).topk(beams, dim=1)
        parents = places // wide
        chosen = ids.flatten(1).gather(1, places)
        written = torch.cat([written[rows, parents], chosen[..., None]], dim=2)
        moved = (rows * beams + parents).flatten()
        state = tuple(part[moved] for part in state)
    return written[:, 0]


def _log_probabilities(logits: Tensor, forbidden: Sequence[int]) -> Tensor:
    log_p = logits.float().log_softmax(dim=-1)
    if forbidden:
        log_p[..., list(forbidden)] = -torch.inf
    return log_p
