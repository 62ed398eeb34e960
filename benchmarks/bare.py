"""The floor: bare forward passes over distinct sentences, and nothing else.

Tokenising and padding are done beforehand and are not timed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

BATCH = 64
Batch = dict[str, torch.Tensor]


class BareModel:
    """A transformer and a tokenizer as ``transformers`` gives them.

    Args:
        folder: of the model.
        classifies: whether it is a sequence classifier; else an encoder.
    """

    def __init__(self, folder: Path, *, classifies: bool) -> None:
        kind = AutoModelForSequenceClassification if classifies else AutoModel
        self._model = kind.from_pretrained(folder, dtype=torch.float32).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)

    def batches(self, texts: Iterable[str]) -> list[Batch]:
        """The distinct texts in padded batches of 64, sorted by length."""
        ids = self._tokenizer(list(dict.fromkeys(texts)), truncation=True, max_length=512)
        sentences = sorted(ids["input_ids"], key=len)
        parts = [sentences[i : i + BATCH] for i in range(0, len(sentences), BATCH)]
        return [self._tokenizer.pad({"input_ids": p}, return_tensors="pt") for p in parts]

    def forward(self, batches: list[Batch]) -> None:
        with torch.inference_mode():
            for batch in batches:
                self._model(**batch)
