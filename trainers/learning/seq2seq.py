"""A pretrained BART and its tokenizer: found, taught, asked, and saved as an ordinary checkpoint.

A sentence is ``<s> ... </s>`` on both sides, as in its pre-training (Lewis et al. 2020); the
decoder starts with ``</s>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from ...errors import InputError, MissingFileError, MissingScorerError, require
from ...metrics.scorers.device import Device, Placement
from ...metrics.scorers.weights import fetch, load_pretrained, quiet_loading
from ..nets.backbones import BackboneShape, byte_level_tokenizer, random_model

SCRATCH = "scratch"  # instead of a checkpoint: a small random one, for tests
_POSITIONS = 128  # of that one
_HEAD = "BartForConditionalGeneration"


@dataclass(frozen=True)
class Seq2Seq:
    """A BART and its tokenizer.

    Attributes:
        model: ``BartForConditionalGeneration``.
        tokenizer: of transformers.
    """

    model: Any
    tokenizer: Any

    @classmethod
    def pretrained(cls, base: str) -> Seq2Seq:
        """A checkpoint by Hub id or folder, on the CPU; only safetensors are read.

        Raises:
            MissingFileError: its weights cannot be found; the message says what to do.
            InputError: the checkpoint is not a BART, or it is damaged.
        """
        try:
            folder = fetch(base)
        except MissingScorerError as error:
            raise MissingFileError(
                f"{error}. Or pre-train a small one (bart) with examples/backbone of the "
                "repository, and give its folder: --base FOLDER"
            ) from error
        return cls.read(folder, "cpu")

    @classmethod
    def scratch(
        cls, sentences: Sequence[str], *, seed: int, dimension: int = 32, n_words: int = 500
    ) -> Seq2Seq:
        """A small random BART, with a byte-level tokenizer of these sentences; it knows nothing."""
        tokenizer = byte_level_tokenizer(sentences, "bart", n_words, _POSITIONS)
        torch.manual_seed(seed)
        shape = BackboneShape(dimension, layers=2, heads=2, positions=_POSITIONS, dropout=0.1)
        return cls(random_model("bart", shape, tokenizer), tokenizer)

    @classmethod
    def read(cls, folder: Path, device: str) -> Seq2Seq:
        """Read a folder that :meth:`save`, or transformers, wrote.

        Raises:
            InputError: it is not a BART, it is damaged, or there is no such device.
        """
        model, tokenizer = load_pretrained(folder, Placement(cast(Device, device)), _HEAD)
        if len(tokenizer) > model.config.vocab_size:
            raise InputError(
                f"{folder}: the tokenizer has {len(tokenizer)} tokens, the model "
                f"{model.config.vocab_size}"
            )
        return cls(model, tokenizer)

    def save(self, folder: Path) -> None:
        """Write what ``save_pretrained`` writes: safetensors, configuration, tokenizer."""
        with quiet_loading():
            self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return cast(torch.device, self.model.device)

    @property
    def start(self) -> int:
        """Id of ``<s>``."""
        return int(self.tokenizer.bos_token_id)

    @property
    def end(self) -> int:
        """Id of ``</s>``."""
        return int(self.tokenizer.eos_token_id)

    @property
    def pad(self) -> int:
        """Id of the padding."""
        return int(self.tokenizer.pad_token_id)

    @cached_property
    def unwritten(self) -> list[int]:
        """Ids that are never written inside a sentence: every special token but ``</s>``."""
        extra = range(len(self.tokenizer), self.model.config.vocab_size)
        return sorted({*self.tokenizer.all_special_ids, *extra} - {self.end})

    @property
    def longest(self) -> int:
        """The most ids that a row may have."""
        return int(self.model.config.max_position_embeddings)

    def check_length(self, max_length: int) -> None:
        """Raise :class:`InputError` if rows of this many tokens do not fit."""
        if max_length > self.longest:
            raise InputError(
                f"max_length is {max_length}, but this BART reads {self.longest} tokens"
            )

    def encode(self, texts: Sequence[str], max_length: int, before: str = "") -> list[list[int]]:
        """Rows ``<s> [before] text </s>``, at most ``max_length`` ids; what is longer is cut."""
        first = [self.start, *self._pieces([before])[0]] if before else [self.start]
        texts = [f" {text}" for text in texts] if before else texts
        room = max_length - len(first) - 1
        return [[*first, *ids[: max(room, 0)], self.end] for ids in self._pieces(texts)]

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        found: list[list[int]] = self.tokenizer(
            list(texts), add_special_tokens=False, return_attention_mask=False
        )["input_ids"]
        return found

    def decode(self, row: Sequence[int]) -> str:
        """The text of a row, up to ``</s>``, without special tokens."""
        ids = list(row)
        ids = ids[: ids.index(self.end)] if self.end in ids else ids
        text = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text).strip()

    def padded(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Rows as one tensor (B, T), padded on the right, on the model's device."""
        width = max(map(len, rows))
        whole = [[*row, *[self.pad] * (width - len(row))] for row in rows]
        return torch.tensor(whole, device=self.device)

    def logits(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Logits (B, T, V) of the ids ``targets`` (B, T), each after those before it."""
        before = targets.roll(1, dims=1)
        before[:, 0] = self.model.config.decoder_start_token_id
        output = self.model(
            input_ids=sources,
            attention_mask=(sources != self.pad).long(),
            decoder_input_ids=before,
            use_cache=False,
        )
        return cast(Tensor, output.logits)

    def generate(
        self,
        rows: Sequence[Sequence[int]],
        *,
        max_length: int,
        min_length: int = 0,
        beams: int = 1,
        temperature: float | None = None,
        begin: Sequence[Sequence[int]] | None = None,
    ) -> Tensor:
        """Ids (B, T) of one sentence for each row; ``</s>`` and padding follow its last word.

        Args:
            rows: what is read.
            max_length: the most ids, ``<s>`` and ``</s>`` counted.
            min_length: no ``</s>`` before this many ids.
            beams: of the beam search; 1 is greedy.
            temperature: draw words instead, from all of the vocabulary, with torch's generator.
            begin: what each sentence begins with; by default, ``<s>``.
        """
        transformers = require("transformers", "train")
        begun = _Begin(begin or [[self.start]] * len(rows), beams, self.unwritten, self.device)
        was_training = self.model.training
        self.model.eval()
        sources = self.padded(rows)
        drawing = (
            {"do_sample": False}
            if temperature is None
            else {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        )
        settings = transformers.GenerationConfig(
            num_beams=beams,
            max_new_tokens=max_length,
            min_new_tokens=min(min_length, max_length) or None,
            decoder_start_token_id=self.model.config.decoder_start_token_id,
            bos_token_id=self.start,
            eos_token_id=self.end,
            pad_token_id=self.pad,
            **drawing,
        )
        with torch.no_grad(), _plain_generation(self.model):
            written = self.model.generate(
                sources,
                attention_mask=(sources != self.pad).long(),
                generation_config=settings,
                logits_processor=transformers.LogitsProcessorList([begun]),
            )
        self.model.train(was_training)
        return cast(Tensor, written)[:, 1:]


@contextmanager
def _plain_generation(model: Any) -> Iterator[None]:
    """Meanwhile, a model of transformers has no generation settings of its own.

    Whatever a checkpoint says of its generation is for another task, and would fill in what the
    settings of a call leave open. It is part of what ``save_pretrained`` writes, so it comes back.
    """
    from transformers import GenerationConfig

    own = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own


class _Begin:
    """Makes sentences begin as they should, and keeps special tokens out of what follows."""

    def __init__(
        self,
        begin: Sequence[Sequence[int]],
        beams: int,
        unwritten: Sequence[int],
        device: torch.device,
    ) -> None:
        width = max(map(len, begin))
        rows = [[*row, *[-1] * (width - len(row))] for row in begin for _ in range(beams)]
        self._begin = torch.tensor(rows, device=device)  # (B * beams, P)
        self._unwritten = torch.tensor(list(unwritten), device=device)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        place = input_ids.shape[1] - 1  # the decoder's start is not of the sentence
        free = scores.index_fill(1, self._unwritten, -torch.inf)
        if place >= self._begin.shape[1]:
            return free
        wanted = self._begin[:, place]
        forced = torch.full_like(scores, -torch.inf)
        forced.scatter_(1, wanted.clamp(min=0)[:, None], 0.0)
        return torch.where((wanted >= 0)[:, None], forced, free)
