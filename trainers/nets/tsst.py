"""TSST's networks: a generator that sees sentences of a style, and a discriminator.

Xiao et al. (EMNLP 2021), "Transductive Learning for Unsupervised Text Style Transfer", section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import spectral_norm
from torch.nn.utils.parametrize import ParametrizationList

from ..learning.corpus import by_length
from ..learning.retrieval import Partition, Row
from ..learning.vocabulary import END, PAD, padded
from .recurrent import Attention, BiLstm, Decoder, Memory, State
from .style_transformer import lengths_of
from .text_cnn import TextCnn


class Reading(NamedTuple):
    """A sentence that was read: places (B, T, 2H), which count (B, T), last state (B, 2H)."""

    places: Tensor
    mask: Tensor
    state: State


class Reader(nn.Module):
    """Reads sentences, and makes queries of them.

    Args:
        neutrality: (V,) of each word, in [0, 1], where the query's weights start.
        dimension: D, of word vectors.
        hidden: H, of each way.
        dropout: of word vectors.
    """

    def __init__(self, neutrality: Tensor, dimension: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.words = nn.Embedding(len(neutrality), dimension, padding_idx=PAD)
        self.weights = nn.Parameter(neutrality.clone())
        self.lstm = BiLstm(dimension, hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: Tensor) -> Reading:
        """Read ids (B, T)."""
        lengths = lengths_of(words)
        places, state = self.lstm(self.dropout(self.words(words)), lengths)
        mask = torch.arange(words.shape[1], device=words.device) < lengths[:, None]
        return Reading(places, mask, state)

    def query(self, words: Tensor, reading: Reading) -> Tensor:
        """``q`` (B, 2H): the mean of the places, a word's weight being the softmax of its own."""
        weights = self.weights[words].masked_fill(~reading.mask, -torch.inf)
        summed: Tensor = (F.softmax(weights, dim=1)[:, None] @ reading.places)[:, 0]
        return summed

    def keys(self, partitions: Sequence[Partition], size: int = 256) -> tuple[Tensor, Tensor]:
        """Queries (N, 2H) of all sentences of both styles, of length 1, without dropout."""
        learning = self.training
        self.eval()

        def embed(rows: Sequence[Row], batch: list[int]) -> list[Tensor]:
            words = padded([rows[i] for i in batch]).to(self.weights.device)
            return list(F.normalize(self.query(words, self(words)), dim=1))

        with torch.no_grad():
            source, target = (
                torch.stack(by_length(part.rows, size, partial(embed, part.rows)))
                for part in partitions
            )
        self.train(learning)
        return source, target


class Generator(nn.Module):
    """Rewrites a sentence, looking at it and at sentences of the style to write in.

    Args:
        neutrality: (V,) see :class:`Reader`.
        dimension: D, of word vectors.
        hidden: H.
        dropout: of word vectors.
        attention_dropout: of attention weights.
    """

    def __init__(
        self,
        neutrality: Tensor,
        dimension: int,
        hidden: int,
        *,
        dropout: float,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.reader = Reader(neutrality, dimension, hidden, dropout)
        self.start = nn.Parameter(torch.randn(dimension))
        self.first_hidden = nn.Linear(2 * hidden, hidden)
        self.first_cell = nn.Linear(2 * hidden, hidden)
        content = Attention(hidden, 2 * hidden, dropout=attention_dropout)
        style = Attention(hidden, 2 * hidden, dropout=attention_dropout, mapped=True)
        self.decoder = Decoder(dimension, hidden, (content, style), (2 * hidden, 2 * hidden))
        self.output = nn.Linear(hidden, len(neutrality))

    def style(self, sentences: Tensor) -> Tensor:
        """Vectors (B, K, 2H) of sentences (B, K, T) that were retrieved for B others."""
        count, many, _ = sentences.shape
        reading = self.reader(sentences.flatten(0, 1))
        last: Tensor = reading.state[0]
        return last.view(count, many, -1)

    def teach(self, reading: Reading, style: Tensor, right: Tensor, rate: float) -> Tensor:
        """Logits (B, T, V) of each of the right words (B, T).

        Args:
            reading: of the sentences to rewrite.
            style: (B, K, 2H) of the style to write in.
            right: ids; what follows their end means nothing.
            rate: how often the right word is read next; otherwise it is the likeliest.
        """
        state, memories = self._begin(reading, style)
        vector, hiddens = self.start.expand(len(right), -1), []
        for step in range(right.shape[1]):
            state = self.decoder(self.reader.dropout(vector), state, memories)
            hiddens.append(state[0])
            word = right[:, step]
            if rate < 1 and float(torch.rand(())) >= rate:
                with torch.no_grad():  # choosing a word has no gradient
                    word = self.output(state[0]).argmax(dim=1)
            vector = self.reader.words(word)
        logits: Tensor = self.output(torch.stack(hiddens, dim=1))  # once: faster than word by word
        return logits

    def write(
        self, reading: Reading, style: Tensor, steps: int, forbidden: Sequence[int] = ()
    ) -> tuple[Tensor, Tensor]:
        """Write the likeliest words until all sentences have ended, at most ``steps``.

        Args:
            reading: of the sentences to rewrite.
            style: (B, K, 2H) of the style to write in.
            steps: the most words.
            forbidden: ids that are never written.

        Returns:
            Logits (B, S, V), and the words as ids (B, S), closed by :func:`closed`.
        """
        state, memories = self._begin(reading, style)
        vector = self.start.expand(len(style), -1)
        hiddens: list[Tensor] = []
        words: list[Tensor] = []
        ended = torch.zeros(len(style), dtype=torch.bool, device=style.device)
        for _ in range(steps):
            state = self.decoder(self.reader.dropout(vector), state, memories)
            hiddens.append(state[0])
            with torch.no_grad():
                scores = self.output(state[0])
                if forbidden:
                    first = () if words else (END,)  # a rewrite has at least one word
                    scores[:, [*forbidden, *first]] = -torch.inf
                words.append(scores.argmax(dim=1))
            ended |= words[-1] == END
            if bool(ended.all()):
                break
            vector = self.reader.words(words[-1])
        return self.output(torch.stack(hiddens, dim=1)), closed(torch.stack(words, dim=1))

    def _begin(self, reading: Reading, style: Tensor) -> tuple[State, tuple[Memory, Memory]]:
        places, mask, (hidden, cell) = reading
        state = (torch.tanh(self.first_hidden(hidden)), torch.tanh(self.first_cell(cell)))
        content, styles = self.decoder.attentions
        seen = cast(Attention, content).memory(places, mask)
        return state, (seen, cast(Attention, styles).memory(style))

    def language(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, T, V) of a language model forth and one back, for words (B, T).

        Forth, place t has read the words before word t. Back, it has read word t and those after.
        """
        vectors = self.reader.words(words)
        before = torch.cat([self.start.expand(len(words), 1, -1), vectors], dim=1)
        places, _ = self.reader.lstm(self.reader.dropout(before), lengths_of(words) + 1)
        forth, back = places.chunk(2, dim=2)
        return self.output(forth[:, :-1]), self.output(back[:, 1:])


class Discriminator(nn.Module):
    """Convolutions of several widths, spectrally normalised: style 0, style 1, or a rewrite.

    It reads the generator's word vectors. Spectral norms are estimated by power iteration, once
    for each call of :meth:`iterate`: how often it is called on a batch changes nothing.
    """

    def __init__(self, dimension: int, filters: int, dropout: float) -> None:
        super().__init__()
        self.convolutions = TextCnn(dimension, (2, 4, 6, 8), filters, slope=0.2, spectral=True)
        self.hidden = spectral_norm(nn.Linear(self.convolutions.features, 64))
        self.output = spectral_norm(nn.Linear(64, 3))
        self.dropout = nn.Dropout(dropout)
        self.train()

    def train(self, mode: bool = True) -> Discriminator:
        """Torch's, but spectral norms stay as they are: see :meth:`iterate`."""
        super().train(mode)
        for norm in self._norms():
            norm.eval()
        return self

    def iterate(self) -> None:
        """One power iteration (Miyato et al. 2018, algorithm 1)."""
        with torch.no_grad():
            for norm in self._norms():
                norm.train()
                norm()
                norm.eval()

    def _norms(self) -> list[ParametrizationList]:
        return [m for m in self.modules() if isinstance(m, ParametrizationList)]

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, 3) of vectors (B, T, D) whose first ``lengths`` (B) places count."""
        features = self.dropout(self.convolutions(vectors, lengths))
        logits: Tensor = self.output(F.leaky_relu(self.hidden(features), 0.2))
        return logits


REWRITE = 2  # the discriminator's class of rewrites


def closed(words: Tensor) -> Tensor:
    """Ids (B, T) with ``PAD`` behind the first ``END``; who has none ends at the last place."""
    lengths = lengths_of(words)[:, None]
    places = torch.arange(words.shape[1], device=words.device)
    ended = words.masked_fill(places >= lengths, PAD)
    ended.scatter_(1, lengths - 1, END)
    return ended
