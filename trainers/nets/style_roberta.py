"""BSRR's style classifier: a RoBERTa whose attention says which words its verdict rests on."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class StyleRoberta(nn.Module):
    """Logits of two styles for rows of ids; a row is a sentence without ``<s>`` and ``</s>``.

    Args:
        model: ``RobertaForSequenceClassification`` with two labels, attention ``eager``.
        start: id of ``<s>``, whose place the verdict is read at.
        end: id of ``</s>``.
    """

    def __init__(self, model: Any, *, start: int, end: int) -> None:
        super().__init__()
        self.model = model
        self._start, self._end = start, end
        self._pad = int(model.config.pad_token_id)

    @property
    def longest(self) -> int:
        """The most ids that a row may have: RoBERTa's places start behind its padding's id."""
        return int(self.model.config.max_position_embeddings) - self._pad - 3

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, 2) of ids (B, T), of which the first ``lengths`` (B) count."""
        logits: Tensor = self._read(ids, lengths, attentions=False).logits
        return logits

    def verdict(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Logits (B, 2), and of each layer the attentions (B, heads, T + 2, T + 2).

        Place 0 is ``<s>``, and the id at place t of a row is at place t + 1.
        """
        output = self._read(ids, lengths, attentions=True)
        return output.logits, output.attentions

    def _read(self, ids: Tensor, lengths: Tensor, *, attentions: bool) -> Any:
        places = torch.arange(ids.shape[1] + 2, device=ids.device)
        edge = torch.full((len(ids), 1), self._pad, device=ids.device)
        rows = torch.cat([edge, ids, edge], dim=1)
        rows = rows.masked_fill(places > lengths[:, None], self._pad)
        rows[:, 0] = self._start
        rows.scatter_(1, lengths[:, None] + 1, self._end)
        seen = (places <= lengths[:, None] + 1).long()
        return self.model(input_ids=rows, attention_mask=seen, output_attentions=attentions)
