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
from .base import SentenceMemo
from .device import Placement, copies, spread
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
        models: of transformers, for sequence classification, with one label: copies of one, each
            on a device.
        tokenizer: its tokenizer.
        batch_size: the most pairs in a batch; no score depends on it.
    """

    def __init__(
        self, models: Sequence[Any], tokenizer: Any, batch_size: int | None = None
    ) -> None:
        from .transformer import longest_input  # needs torch

        self._models, self._tokenizer = models, tokenizer
        self._batch_size = batch_size
        self._longest = longest_input(models[0], tokenizer)
        self._memo = SentenceMemo(self._score)

    def scores(self, pairs: Sequence[str]) -> np.ndarray:
        """The model's scores of N texts of :func:`pair`: shape (N,), float64.

        Of a pair that is too long for the model, the longer text is cut first.
        """
        return self._memo(pairs)

    def _score(self, pairs: list[str]) -> np.ndarray:
        references, candidates = map(list, zip(*map(json.loads, pairs), strict=True))
        encoded = self._tokenizer(
            references, candidates, truncation="longest_first", max_length=self._longest
        )
        lengths = [len(ids) for ids in encoded["input_ids"]]
        found = np.empty(len(pairs))

        def work(model: Any, batch: np.ndarray) -> None:
            rows = {name: [values[i] for i in batch] for name, values in encoded.items()}
            inputs = self._tokenizer.pad(rows, return_tensors="pt").to(model.device)
            found[batch] = model(**inputs).logits[:, 0].cpu().double().numpy()

        spread(self._models, lengths, _IN_A_BATCH, self._batch_size, work)
        return found


@lru_cache(maxsize=2)
def _loaded(folder: Path, placement: Placement, _digest: str) -> Bleurt:
    model, tokenizer = load_pretrained(folder, placement, "AutoModelForSequenceClassification")
    if model.config.num_labels != 1:
        raise InputError(
            f"{folder} has {model.config.num_labels} labels: BLEURT has one, whose logit is the score"
        )
    return Bleurt(copies(model, placement), tokenizer, placement.batch_size)
