"""The networks of the adversarially regularised autoencoder: a code on the sphere, two decoders.

Zhao et al. (ICML 2018), "Adversarially Regularized Autoencoders", sections 3 and 5.2.
"""

from __future__ import annotations

from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.decoding import State
from ..learning.vocabulary import PAD

_RANGE = 0.1  # of the first weights, as in the released code


class _Reader(nn.Module):
    """An LSTM over word vectors; it reads a start before the first word."""

    def __init__(
        self, n_words: int, word_size: int, size: int, beside: int, *, remembering: bool
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, word_size, padding_idx=PAD)
        self.start = nn.Parameter(torch.empty(word_size))
        self.lstm = nn.LSTM(word_size + beside, size, batch_first=True)
        for weights in self.parameters():
            nn.init.uniform_(weights, -_RANGE, _RANGE)
        with torch.no_grad():
            if remembering:
                nn.init.uniform_(self.words.weight, -1.0, 1.0)
                cast(Tensor, self.lstm.bias_ih_l0)[size : 2 * size] += 1.0  # the forget gate's
            self.words.weight[PAD] = 0.0

    def before(self, words: Tensor) -> Tensor:
        """Vectors (B, T, W) of the words before each of these (B, T)."""
        start = self.start.expand(len(words), 1, -1)
        return torch.cat([start, self.words(words[:, :-1])], dim=1)


class CodeAutoencoder(nn.Module):
    """One encoder for all styles, a decoder for each, one output layer for both.

    Args:
        n_words: V.
        word_size: W, units of word vectors.
        code_size: C.
        code_is_state: whether a decoder's memory starts as the code; otherwise it starts as 0.
        code_length: the norm of a code.
        remembering: whether the first weights let words through: word vectors in +-1, not +-0.1,
            and forget gates with 1 more (Jozefowicz et al. 2015). With small ones, half of what was
            read is forgotten at each word, and learning to keep it takes many steps.
    """

    def __init__(
        self,
        n_words: int,
        word_size: int,
        code_size: int,
        *,
        code_is_state: bool = False,
        code_length: float = 1.0,
        remembering: bool = False,
    ) -> None:
        super().__init__()
        self.code_size, self.code_is_state = code_size, code_is_state
        self.code_length = code_length
        reader = partial(_Reader, n_words, word_size, code_size, remembering=remembering)
        self.encoder = reader(0)
        self.decoders = nn.ModuleList(reader(code_size) for _ in range(2))
        self.output = nn.Linear(code_size, n_words)
        nn.init.uniform_(self.output.weight, -_RANGE, _RANGE)
        nn.init.zeros_(self.output.bias)

    def encode(self, words: Tensor, lengths: Tensor, noise: float = 0.0) -> Tensor:
        """Codes (B, C) of ``code_length``, of rows (B, T) whose ``lengths`` (B) include their ends.

        Args:
            words: ids; the end itself is not read.
            lengths: of the rows.
            noise: standard deviation of what is added to the code.
        """
        outputs, _ = self.encoder.lstm(self.encoder.before(words))
        rows = torch.arange(len(words), device=words.device)
        code = self.code_length * F.normalize(outputs[rows, lengths - 1], dim=1)
        return code + noise * torch.randn_like(code) if noise > 0 else code

    def teach(self, style: int, code: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), by the decoder of a style."""
        decoder = cast(_Reader, self.decoders[style])
        beside = code[:, None].expand(-1, target.shape[1], -1)
        memory, cell, _ = self.begin(code)
        first = memory[None].contiguous(), cell[None].contiguous()
        outputs, _ = decoder.lstm(torch.cat([decoder.before(target), beside], dim=2), first)
        logits: Tensor = self.output(outputs)
        return logits

    def begin(self, code: Tensor) -> State:
        """A decoder's state before the first word of codes (B, C): memory, cell and code."""
        zeros = torch.zeros_like(code)
        return code if self.code_is_state else zeros, zeros, code

    def step(self, style: int, words: Tensor | None, state: State) -> tuple[Tensor, State]:
        """A step of :func:`~..learning.decoding.beam_search`, by the decoder of a style."""
        decoder, (memory, cell, code) = cast(_Reader, self.decoders[style]), state
        start = decoder.start.expand(len(code), -1)
        vector = torch.cat([start if words is None else decoder.words(words), code], dim=1)
        before = memory[None].contiguous(), cell[None].contiguous()
        _, (memory, cell) = decoder.lstm(vector[:, None], before)
        return self.output(memory[0]), (memory[0], cell[0], code)
