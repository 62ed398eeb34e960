"""BLEURT: a transformer with one label that scores a candidate against a reference.

Source: Sellam, Das and Parikh (2020), "BLEURT"; the checkpoints as ported to transformers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from ...datasets_scripts.directions import Direction
from ...errors import InputError, require_installed
from .base import SentenceMemo, length_sorted_batches
from .device import Placement
from .encoder_files import HASHED
from .roles import Found
from .weights import fetch, load_pretrained, signature_name, weights_digest

_IN_A_BATCH = 4_096  # tokens, with padding


def find(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """A BLEURT checkpoint by its Hub id or folder; its weights are hashed, not loaded.

    Raises:
        MissingScorerError: it is not on this machine and cannot be downloaded, or not complete.
    """
    require_installed("transformers", "embedded")
    folder = fetch(spec).resolve()
    digest = weights_digest(folder, HASHED)
    load = partial(_loaded, folder, placement, digest)
    return Found(signature_name(Path(spec).name), digest, load, on_device=True)


def pair(reference: str, candidate: str) -> str:
    """The text that :meth:`Bleurt.scores` reads: one string for each distinct pair."""
    return json.dumps([reference, candidate], ensure_ascii=False)


class Bleurt:
    """Scores of candidates against references.

    Args:
        model: of transformers, for sequence classification, with one label.
        tokenizer: its tokenizer.
        batch_size: the most pairs in a batch; no score depends on it.
    """

    def __init__(self, model: Any, tokenizer: Any, batch_size: int | None = None) -> None:
        from .transformer import longest_input  # needs torch

        self._model, self._tokenizer = model, tokenizer
        self._batch_size = batch_size
        self._longest = longest_input(model, tokenizer)
        self._memo = SentenceMemo(self._score)

    def scores(self, pairs: Sequence[str]) -> np.ndarray:
        """The model's scores of N texts of :func:`pair`: shape (N,), float64.

        Of a pair that is too long for the model, the longer text is cut first.
        """
        return self._memo(pairs)

    def _score(self, pairs: list[str]) -> np.ndarray:
        import torch

        references, candidates = map(list, zip(*map(json.loads, pairs), strict=True))
        encoded = self._tokenizer(
            references, candidates, truncation="longest_first", max_length=self._longest
        )
        lengths = [len(ids) for ids in encoded["input_ids"]]
        found = np.empty(len(pairs))
        with torch.inference_mode():
            for batch in length_sorted_batches(lengths, _IN_A_BATCH, self._batch_size):
                rows = {name: [values[i] for i in batch] for name, values in encoded.items()}
                inputs = self._tokenizer.pad(rows, return_tensors="pt").to(self._model.device)
                found[batch] = self._model(**inputs).logits[:, 0].cpu().double().numpy()
        return found


@lru_cache(maxsize=2)
def _loaded(folder: Path, placement: Placement, _digest: str) -> Bleurt:
    model, tokenizer = load_pretrained(folder, placement, "AutoModelForSequenceClassification")
    if model.config.num_labels != 1:
        raise InputError(
            f"{folder} has {model.config.num_labels} labels: BLEURT has one, whose logit is the score"
        )
    return Bleurt(model, tokenizer, placement.batch_size)
