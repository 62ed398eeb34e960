"""Recurrent networks with attention: a BiLSTM that reads, and an LSTM that writes.

Additive attention is Bahdanau et al.'s (ICLR 2015), section 3.1 and appendix A.1.2: a sentence's
part of a score is computed once, not at every word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

State = tuple[Tensor, Tensor]  # hidden and cell, each (B, H)


class BiLstm(nn.Module):
    """One layer, both ways; padding is never read.

    Args:
        dimension: D, of the vectors read.
        hidden: H, of each way.
    """

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(dimension, hidden, batch_first=True, bidirectional=True)

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, State]:
        """Read vectors (B, T, D) whose first ``lengths`` (B) places count.

        Returns:
            All places (B, T, 2H), forth then back, 0 behind the end; and the state (B, 2H) after
            the last place of each way.
        """
        packed = pack_padded_sequence(
            vectors, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        places, (hidden, cell) = self.lstm(packed)
        padded, _ = pad_packed_sequence(places, batch_first=True, total_length=vectors.shape[1])
        return padded, (torch.cat(list(hidden), dim=1), torch.cat(list(cell), dim=1))

    def start(self, cell: nn.LSTMCell) -> None:
        """Copy the weights of the way forth into a cell of the same size."""
        with torch.no_grad():
            for name, weight in cell.named_parameters():
                weight.copy_(getattr(self.lstm, f"{name}_l0"))


class Memory(NamedTuple):
    """What attention looks at: values (B, N, M), their part of the scores, what counts (B, N)."""

    values: Tensor
    keys: Tensor
    mask: Tensor | None


class Attention(nn.Module):
    """Additive attention: ``v . tanh(W [query; value])``, softmax over the values.

    Args:
        query: size of queries.
        value: M, of values.
        dropout: of the weights.
        mapped: whether queries and values first go through a linear map of their own.
    """

    def __init__(self, query: int, value: int, *, dropout: float, mapped: bool = False) -> None:
        super().__init__()
        self.query_map = nn.Linear(query, query) if mapped else nn.Identity()
        self.value_map = nn.Linear(value, value) if mapped else nn.Identity()
        self.query = nn.Linear(query, value, bias=False)
        self.key = nn.Linear(value, value)
        self.score = nn.Parameter(torch.randn(value) * value**-0.5)
        self.dropout = dropout

    def memory(self, values: Tensor, mask: Tensor | None = None) -> Memory:
        """What later queries share; ``mask`` (B, N): true where a value counts."""
        mapped = self.value_map(values)
        return Memory(mapped, self.key(mapped), mask)

    def forward(self, query: Tensor, memory: Memory) -> Tensor:
        """The weighted mean (B, M) of the values, for a query (B, Q)."""
        asked = self.query(self.query_map(query))[:, None]
        scores = torch.tanh(memory.keys + asked) @ self.score  # (B, N)
        if memory.mask is not None:
            scores = scores.masked_fill(~memory.mask, -torch.inf)
        weights = F.dropout(F.softmax(scores, dim=1), self.dropout, self.training)
        return (weights[:, None] @ memory.values)[:, 0]


class Decoder(nn.Module):
    """An LSTM that looks at one or more memories before each word.

    ``x = tanh(W [word; context 1; context 2; ...])``, then ``state = LSTM(x, state)``.

    Args:
        dimension: D, of word vectors and of ``x``.
        hidden: H, of the state.
        attentions: one for each memory; they are asked with the last hidden state.
        values: M of each memory.
    """

    def __init__(
        self, dimension: int, hidden: int, attentions: Sequence[Attention], values: Sequence[int]
    ) -> None:
        super().__init__()
        self.attentions = nn.ModuleList(attentions)
        self.input = nn.Linear(dimension + sum(values), dimension)
        self.cell = nn.LSTMCell(dimension, hidden)

    def forward(self, word: Tensor, state: State, memories: Sequence[Memory]) -> State:
        """The state after a word (B, D)."""
        contexts = [
            attention(state[0], memory)
            for attention, memory in zip(self.attentions, memories, strict=True)
        ]
        joined = torch.tanh(self.input(torch.cat([word, *contexts], dim=1)))
        following: State = self.cell(joined, state)
        return following
