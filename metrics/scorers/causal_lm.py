"""Any causal language model: how likely a text is after another. A Hub id or a folder.

Weights are read from safetensors only, and no code of a folder is run.
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
from .batching import SentenceMemo, length_sorted_batches
from .device import Placement
from .encoder_files import HASHED
from .roles import Found
from .weights import fetch, load_pretrained, signature_name, weights_digest

_IN_A_BATCH = 2_048  # tokens, with padding: each has a logit for every word of the vocabulary


def find(spec: str, _direction: Direction | None, placement: Placement) -> Found:
    """A causal language model by its Hub id or folder; its weights are hashed, not loaded.

    Raises:
        MissingScorerError: it is not on this machine and cannot be downloaded, or not complete.
    """
    require_installed("transformers", "embedded")
    folder = fetch(spec).resolve()
    digest = weights_digest(folder, HASHED)
    load = partial(_loaded, folder, placement, digest)
    return Found(signature_name(Path(spec).name), digest, load, on_device=True)


def question(before: str, after: str) -> str:
    """The text that :meth:`CausalLm.log_probabilities` reads: one string for each distinct pair."""
    return json.dumps([before, after], ensure_ascii=False)


class CausalLm:
    """Probabilities of texts after other texts.

    Args:
        model: of transformers, for causal language modelling.
        tokenizer: its tokenizer; one of the fast kind, which knows the places of its tokens.
        batch_size: the most texts in a batch; no score depends on it.

    Raises:
        InputError: the tokenizer does not know the places of its tokens.
    """

    def __init__(self, model: Any, tokenizer: Any, batch_size: int | None = None) -> None:
        if not tokenizer.is_fast:
            raise InputError(
                "the causal language model has no tokenizer.json, and so no places of tokens: save "
                "its tokenizer with transformers' fast class"
            )
        self._model, self._tokenizer = model, tokenizer
        self._batch_size = batch_size
        self._longest: int | None = getattr(model.config, "max_position_embeddings", None)
        self._memo = SentenceMemo(self._score)

    @property
    def vocabulary(self) -> int:
        """How many tokens the model chooses from."""
        return int(self._model.config.vocab_size)

    def log_probabilities(self, questions: Sequence[str]) -> np.ndarray:
        """How likely each text is after what stands before it.

        Before and after are tokenised together; the tokens that end in ``after`` count. Where both
        are longer than the model's context, the beginning is left out.

        Args:
            questions: N texts of :func:`question`.

        Returns:
            Shape (N, 2), float64: the sum of the natural logarithms of the tokens' probabilities,
            and how many tokens count.
        """
        return self._memo(questions) if len(questions) else np.empty((0, 2))

    def _score(self, questions: list[str]) -> np.ndarray:
        pairs = [json.loads(one) for one in questions]
        encoded = self._tokenizer(
            [before + after for before, after in pairs],
            return_offsets_mapping=True,
            verbose=False,  # what is too long is cut below
        )
        ids, starts = [], []
        for row, offsets, (before, _) in zip(
            encoded["input_ids"], encoded["offset_mapping"], pairs, strict=True
        ):
            counted = [end > len(before) for _, end in offsets]
            first = counted.index(True) if any(counted) else len(counted)
            # What a tokenizer adds at the end does not count.
            last = len(counted) - counted[::-1].index(True) if any(counted) else len(counted)
            cut = max(0, last - self._longest) if self._longest else 0
            ids.append(row[cut:last])
            starts.append(max(first - cut, 1))  # the first token has nothing before it
        scores = np.empty((len(pairs), 2))
        lengths = [len(row) for row in ids]
        for batch in length_sorted_batches(lengths, _IN_A_BATCH, self._batch_size):
            rows = [ids[i] for i in batch]
            for i, row in zip(batch, self._token_scores(rows), strict=True):
                counting = row[starts[i] - 1 :]
                scores[i] = counting.sum(), len(counting)
        return scores

    def _token_scores(self, rows: list[list[int]]) -> list[np.ndarray]:
        """Ln P of each token but the first, given those before it: arrays of their lengths - 1."""
        import torch

        device, longest = self._model.device, max(map(len, rows))
        # Padded on the right, whatever the tokenizer would do: no token sees what comes after it.
        padded = torch.zeros(len(rows), longest, dtype=torch.long)
        mask = torch.zeros(len(rows), longest, dtype=torch.long)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        with torch.inference_mode():
            found = self._model(input_ids=padded.to(device), attention_mask=mask.to(device))
            logits = found.logits[:, :-1].float()
            wanted = padded[:, 1:, None].to(device)
            chosen = logits.gather(-1, wanted)[..., 0] - logits.logsumexp(-1)
        values = chosen.double().cpu().numpy()
        return [values[place, : len(row) - 1] for place, row in enumerate(rows)]


@lru_cache(maxsize=2)
def _loaded(folder: Path, placement: Placement, _digest: str) -> CausalLm:
    model, tokenizer = load_pretrained(folder, placement, "AutoModelForCausalLM")
    return CausalLm(model, tokenizer, placement.batch_size)
