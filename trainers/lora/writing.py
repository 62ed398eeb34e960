"""Batched generation: left padding, beam search as published, or sampling."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ...errors import InputError
from ..learning.corpus import by_length
from ..learning.prefix_lm import drawn
from .base import longest_row
from .config import LoraSettings


@dataclass(frozen=True)
class Writer:
    """A causal language model that continues prompts.

    Attributes:
        model: of transformers, on its device.
        tokenizer: with something to pad with.
    """

    model: Any
    tokenizer: Any

    def write(
        self,
        prompts: Sequence[Sequence[int]],
        settings: LoraSettings,
        randoms: Sequence[random.Random],
        batch_size: int,
    ) -> list[str]:
        """What the model writes after each prompt, in their order.

        Args:
            prompts: ids.
            settings: how.
            randoms: of each prompt; a drawn token takes one number of its own.
            batch_size: prompts at a time; no answer depends on it.

        Raises:
            InputError: a prompt is too long for the model.
        """
        room = [self._room(prompt, settings.max_new_tokens) for prompt in prompts]
        found: dict[int, str] = {}
        # Rows with the same room go together: a long neighbour must not shorten an answer.
        for size in sorted(set(room)):
            own = [i for i, one in enumerate(room) if one == size]

            def answer(batch: list[int], own: list[int] = own, size: int = size) -> list[str]:
                chosen = [own[i] for i in batch]
                written = self._generate(
                    [prompts[i] for i in chosen], size, settings, [randoms[i] for i in chosen]
                )
                return list(self.tokenizer.batch_decode(written, skip_special_tokens=True))

            rows = [prompts[i] for i in own]
            found.update(zip(own, by_length(rows, batch_size, answer), strict=True))
        return [found[i] for i in range(len(prompts))]

    def _room(self, prompt: Sequence[int], wanted: int) -> int:
        longest = longest_row(self.model.config)
        if len(prompt) >= longest:
            raise InputError(
                f"a sentence is too long: with the instruction it has {len(prompt)} tokens, and "
                f"the model reads {longest}, its answer counted"
            )
        return min(wanted, longest - len(prompt))

    def _generate(
        self,
        prompts: Sequence[Sequence[int]],
        room: int,
        settings: LoraSettings,
        randoms: Sequence[random.Random],
    ) -> Tensor:
        from transformers import GenerationConfig, LogitsProcessorList

        pad, end = self.tokenizer.pad_token_id, self.tokenizer.eos_token_id
        width = max(map(len, prompts))
        left = [width - len(row) for row in prompts]
        device = self.model.device
        words = torch.tensor(
            [[*[pad] * n, *row] for n, row in zip(left, prompts, strict=True)], device=device
        )
        read = torch.tensor([[0] * n + [1] * (width - n) for n in left], device=device)
        drawing = settings.temperature > 0
        # Whatever a checkpoint says of its own generation is for another task.
        self.model.generation_config = GenerationConfig()
        config = GenerationConfig(
            num_beams=1 if drawing else settings.beams,
            do_sample=False,
            max_new_tokens=room,
            eos_token_id=end,
            pad_token_id=pad,
            suppress_tokens=self._unwritten or None,
        )
        draws = [_Draws(settings, randoms)] if drawing else []
        with torch.inference_mode():
            written = self.model.generate(
                input_ids=words,
                attention_mask=read,
                generation_config=config,
                logits_processor=LogitsProcessorList(draws),
            )
        found: Tensor = written[:, width:]
        return found

    @cached_property
    def _unwritten(self) -> list[int]:
        """Ids that are no text: special tokens but the end, and those without a token."""
        size = self.model.get_output_embeddings().weight.shape[0]
        extra = range(len(self.tokenizer), size)
        special = {*self.tokenizer.all_special_ids, *extra}
        return sorted(special - {self.tokenizer.eos_token_id})


class _Draws:
    """Leaves one token to choose in each row: the one that its own random generator draws."""

    def __init__(self, settings: LoraSettings, randoms: Sequence[random.Random]) -> None:
        self._settings, self._randoms = settings, randoms

    def __call__(self, _ids: Tensor, scores: Tensor) -> Tensor:
        scores = scores.float() / self._settings.temperature
        if self._settings.top_k:
            least = scores.topk(min(self._settings.top_k, scores.shape[-1])).values[:, -1:]
            scores = scores.masked_fill(scores < least, -torch.inf)
        chosen = drawn(scores, self._settings.top_p, self._randoms)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)
