"""TSST's networks: a generator that sees sentences of a style, and a discriminator.

Xiao et al. (EMNLP 2021), "Transductive Learning for Unsupervised Text Style Transfer", section 3.

A BiLSTM reads and an LSTM writes. Additive attention is Bahdanau et al.'s (ICLR 2015), section 3.1
and appendix A.1.2: a sentence's part of a score is computed once, not at every word.
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
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .training.networks import TextCnn
from .training.retrieval import Partition, Row
from .training.sampler import by_length
from .training.words import END, PAD, lengths_of, padded

State = tuple[Tensor, Tensor]  # hidden and cell, each (B, H)


class BiLstm(nn.Module):
    """One layer, both ways; padding is never read.

    Args:
        dimension: D, of the vectors read.
        hidden: H, of each way.
    """

    def __init__(self, dimension: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(dimension, hidden, batch_first=True, bidirectional=True)

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, State]:
        """Read vectors (B, T, D) whose first ``lengths`` (B) places count.

        Returns:
            All places (B, T, 2H), forth then back, 0 behind the end; and the state (B, 2H) after
            the last place of each way.
        """
        packed = pack_padded_sequence(
            vectors, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        places, (hidden, cell) = self.lstm(packed)
        padded, _ = pad_packed_sequence(places, batch_first=True, total_length=vectors.shape[1])
        return padded, (torch.cat(list(hidden), dim=1), torch.cat(list(cell), dim=1))

    def start(self, cell: nn.LSTMCell) -> None:
        """Copy the weights of the way forth into a cell of the same size."""
        with torch.no_grad():
            for name, weight in cell.named_parameters():
                weight.copy_(getattr(self.lstm, f"{name}_l0"))


class Memory(NamedTuple):
    """What attention looks at: values (B, N, M), their part of the scores, what counts (B, N)."""

    values: Tensor
    keys: Tensor
    mask: Tensor | None


class Attention(nn.Module):
    """Additive attention: ``v . tanh(W [query; value])``, softmax over the values.

    Args:
        query: size of queries.
        value: M, of values.
        dropout: of the weights.
        mapped: whether queries and values first go through a linear map of their own.
    """

    def __init__(self, query: int, value: int, *, dropout: float, mapped: bool = False) -> None:
        super().__init__()
        self.query_map = nn.Linear(query, query) if mapped else nn.Identity()
        self.value_map = nn.Linear(value, value) if mapped else nn.Identity()
        self.query = nn.Linear(query, value, bias=False)
        self.key = nn.Linear(value, value)
        self.score = nn.Parameter(torch.randn(value) * value**-0.5)
        self.dropout = dropout

    def memory(self, values: Tensor, mask: Tensor | None = None) -> Memory:
        """What later queries share; ``mask`` (B, N): true where a value counts."""
        mapped = self.value_map(values)
        return Memory(mapped, self.key(mapped), mask)

    def forward(self, query: Tensor, memory: Memory) -> Tensor:
        """The weighted mean (B, M) of the values, for a query (B, Q)."""
        asked = self.query(self.query_map(query))[:, None]
        scores = torch.tanh(memory.keys + asked) @ self.score  # (B, N)
        if memory.mask is not None:
            scores = scores.masked_fill(~memory.mask, -torch.inf)
        weights = F.dropout(F.softmax(scores, dim=1), self.dropout, self.training)
        return (weights[:, None] @ memory.values)[:, 0]


class Decoder(nn.Module):
    """An LSTM that looks at one or more memories before each word.

    ``x = tanh(W [word; context 1; context 2; ...])``, then ``state = LSTM(x, state)``.

    Args:
        dimension: D, of word vectors and of ``x``.
        hidden: H, of the state.
        attentions: one for each memory; they are asked with the last hidden state.
        values: M of each memory.
    """

    def __init__(
        self, dimension: int, hidden: int, attentions: Sequence[Attention], values: Sequence[int]
    ) -> None:
        super().__init__()
        self.attentions = nn.ModuleList(attentions)
        self.input = nn.Linear(dimension + sum(values), dimension)
        self.cell = nn.LSTMCell(dimension, hidden)

    def forward(self, word: Tensor, state: State, memories: Sequence[Memory]) -> State:
        """The state after a word (B, D)."""
        contexts = [
            attention(state[0], memory)
            for attention, memory in zip(self.attentions, memories, strict=True)
        ]
        joined = torch.tanh(self.input(torch.cat([word, *contexts], dim=1)))
        following: State = self.cell(joined, state)
        return following


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
