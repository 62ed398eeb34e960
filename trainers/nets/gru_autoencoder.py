"""The cross-aligned autoencoder's networks: a style is a part of a recurrent net's first state.

Shen et al. (NIPS 2017), "Style Transfer from Non-Parallel Text by Cross-Alignment", section 4 and
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..learning.decoding import State
from ..learning.vocabulary import PAD
from .text_cnn import TextCnn


@dataclass(frozen=True)
class Sizes:
    """Of an autoencoder's vectors.

    Attributes:
        style: S, the part of a state that says the style at the beginning.
        content: Z, the rest of it. The recurrent nets have S + Z units.
        words: of word vectors.
    """

    style: int
    content: int
    words: int

    @property
    def state(self) -> int:
        """S + Z."""
        return self.style + self.content


class GruAutoencoder(nn.Module):
    """Encoder E and generator G (equation 3); its word vectors may be mixtures of words."""

    def __init__(self, n_words: int, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.sizes, self.dropout = sizes, nn.Dropout(dropout)
        self.words = nn.Embedding(n_words, sizes.words, padding_idx=PAD)
        self.start = nn.Parameter(F.normalize(torch.randn(sizes.words), dim=0))
        # A linear map of a label of 0 or 1 is a vector for each style.
        self.encoder_styles = nn.Embedding(2, sizes.style)
        self.generator_styles = nn.Embedding(2, sizes.style)
        self.encoder = nn.GRU(sizes.words, sizes.state, batch_first=True)
        self.generator = nn.GRU(sizes.words, sizes.state, batch_first=True)
        self.output = nn.Linear(sizes.state, n_words)
        with torch.no_grad():
            self.words.weight.copy_(F.normalize(self.words.weight, dim=1))
            self.words.weight[PAD] = 0.0
            for styles in (self.encoder_styles, self.generator_styles):
                styles.weight.normal_(std=sizes.style**-0.5)

    def encode(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """Contents z (B, Z) of the first ``lengths`` (B) ids of rows (B, T), one at least."""
        rest = torch.zeros(len(words), self.sizes.content, device=words.device)
        first = torch.cat([self.encoder_styles(styles), rest], dim=1)
        states, _ = self.encoder(self.dropout(self.words(words)), first[None].contiguous())
        rows = torch.arange(len(words), device=words.device)
        content: Tensor = states[rows, lengths - 1, self.sizes.style :]
        return content

    def begin(self, content: Tensor, styles: Tensor) -> Tensor:
        """The generator's first states (B, S + Z), to write a content (B, Z) in a style (B)."""
        return torch.cat([self.generator_styles(styles), content], dim=1)

    def teach(self, first: Tensor, target: Tensor) -> Tensor:
        """States (B, T + 1, S + Z): the first, and those that know the words before each word.

        Args:
            first: states (B, S + Z).
            target: words to write (B, T).
        """
        start = self.start.expand(len(target), 1, -1)
        before = torch.cat([start, self.words(target[:, :-1])], dim=1)
        states, _ = self.generator(self.dropout(before), first[None].contiguous())
        return torch.cat([first[:, None], states], dim=1)

    def logits(self, states: Tensor) -> Tensor:
        """Logits (B, T, V) of the words that follow the states (B, T + 1, S + Z) but the first."""
        logits: Tensor = self.output(self.dropout(states[:, 1:]))
        return logits

    def unroll(self, first: Tensor, length: int, temperature: float) -> Tensor:
        """The states (B, ``length`` + 1, S + Z) of a generator that reads its own soft words.

        A soft word is drawn from the Gumbel-softmax distribution (Jang et al. 2017; section 4.2):
        gradients flow through all words.
        """
        vector, state, states = self.start.expand(len(first), -1), first, [first]
        for place in range(length):
            state = self._next(self.dropout(vector), state)
            states.append(state)
            if place < length - 1:
                word = F.gumbel_softmax(self.output(self.dropout(state)), tau=temperature)
                vector = word @ self.words.weight
        return torch.stack(states, dim=1)

    def step(self, words: Tensor | None, state: State) -> tuple[Tensor, State]:
        """A step of :func:`~..learning.decoding.beam_search`; the state is (states (B, S + Z),)."""
        (before,) = state
        vector = self.start.expand(len(before), -1) if words is None else self.words(words)
        after = self._next(vector, before)
        return self.output(after), (after,)

    def _next(self, vector: Tensor, state: Tensor) -> Tensor:
        _, after = self.generator(vector[:, None], state[None].contiguous())
        found: Tensor = after[0]
        return found


class StateDiscriminator(nn.Module):
    """Tells states of a generator that is taught from those of one that runs freely (4.2)."""

    def __init__(
        self, dimension: int, widths: Sequence[int], filters: int, slope: float, dropout: float
    ) -> None:
        super().__init__()
        self.features = TextCnn(dimension, widths, filters, slope=slope)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(self.features.features, 1)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B) that states (B, T, D), of which the first ``lengths`` count, are taught."""
        logits: Tensor = self.output(self.dropout(self.features(states, lengths)))
        return logits[:, 0]
