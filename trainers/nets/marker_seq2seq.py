"""A recurrent network that writes a sentence from its content and from style markers.

Li et al. (NAACL 2018), "Delete, Retrieve, Generate", sections 3.3.2 and 3.3.3: one encoder reads
the content; another the markers, or a vector stands for the style; both final states start the
decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..learning.decoding import State, beam_search
from ..learning.vocabulary import PAD

Cell = Literal["lstm", "gru"]
_CELLS = {"lstm": nn.LSTM, "gru": nn.GRU}
_INITIAL = 0.1  # word vectors start uniform in [-0.1, 0.1]


@dataclass(frozen=True)
class RecurrentShape:
    """Size of the network.

    Attributes:
        embedding: E, of word vectors.
        hidden: H, of states; of both ways together, if an encoder reads both ways.
        cell: of all three networks.
        both_ways: whether encoders read backwards too.
        dropout: of the decoder's states.
        attention: whether the decoder looks at the content's states.
        maxout: whether states pass a maxout layer, with the last word, before the output.
        markers: whether markers are read; otherwise a vector stands for the style.
    """

    embedding: int
    hidden: int
    cell: Cell
    both_ways: bool
    dropout: float
    attention: bool
    maxout: bool
    markers: bool


class RecurrentEncoder(nn.Module):
    """Reads a padded sentence; padding is not read."""

    def __init__(self, shape: RecurrentShape) -> None:
        super().__init__()
        self.rnn = _CELLS[shape.cell](
            shape.embedding,
            shape.hidden // 2 if shape.both_ways else shape.hidden,
            batch_first=True,
            bidirectional=shape.both_ways,
        )

    def forward(self, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, list[Tensor]]:
        """States (B, T, H) of vectors (B, T, E), and the final ones: hidden (B, H), and cell."""
        packed = pack_padded_sequence(
            vectors, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, final = self.rnn(packed)
        padded, _ = pad_packed_sequence(states, batch_first=True, total_length=vectors.shape[1])
        parts = final if isinstance(final, tuple) else (final,)
        return padded, [part.transpose(0, 1).flatten(1) for part in parts]


class MarkerSeq2Seq(nn.Module):
    """Content and markers, or content and a style, to a sentence."""

    def __init__(self, n_words: int, shape: RecurrentShape) -> None:
        super().__init__()
        self.shape = shape
        hidden, embedding = shape.hidden, shape.embedding
        self.words = nn.Embedding(n_words, embedding, padding_idx=PAD)
        self.start = nn.Parameter(torch.empty(1, embedding).uniform_(-_INITIAL, _INITIAL))
        self.content = RecurrentEncoder(shape)
        if shape.markers:
            self.markers = RecurrentEncoder(shape)
        else:
            self.styles = nn.Embedding(2, embedding)
        both = hidden + (hidden if shape.markers else embedding)
        # One for the hidden state, and one for an LSTM's cell.
        self.bridges = nn.ModuleList(
            nn.Linear(both, hidden) for _ in range(2 if shape.cell == "lstm" else 1)
        )
        self.decoder = _CELLS[shape.cell](embedding, hidden, batch_first=True)
        if shape.attention:
            self.score = nn.Linear(hidden, hidden, bias=False)
            self.mix = nn.Linear(2 * hidden, hidden, bias=False)
        if shape.maxout:
            self.pieces = nn.Linear(hidden + embedding, 2 * hidden)
        self.dropout = nn.Dropout(shape.dropout)
        self.output = nn.Linear(hidden, n_words)
        with torch.no_grad():
            self.words.weight.uniform_(-_INITIAL, _INITIAL)[PAD] = 0.0
            for linear in (*self.bridges, self.output):
                cast(nn.Linear, linear).bias.zero_()

    def read(self, content: Tensor, markers: Tensor, styles: Tensor) -> State:
        """The decoder's state before the first word.

        Args:
            content: padded ids (B, T), ``END`` last.
            markers: padded ids (B, M), ``END`` last; not read if the network knows styles only.
            styles: (B), to write in; not read if the network knows markers only.

        Returns:
            Hidden state (B, H); an LSTM's cell (B, H); for attention the content's states
            (B, T, H) and where they count (B, T).
        """
        states, final = self.content(self.words(content), _lengths(content))
        if self.shape.markers:
            _, others = self.markers(self.words(markers), _lengths(markers))
        else:
            others = [self.styles(styles)] * len(final)
        started = [
            bridge(torch.cat([own, other], dim=1))
            for bridge, own, other in zip(self.bridges, final, others, strict=True)
        ]
        return (*started, states, content != PAD) if self.shape.attention else tuple(started)

    def content_vectors(self, content: Tensor) -> Tensor:
        """The content encoder's final hidden states (B, H), to retrieve by."""
        _, final = self.content(self.words(content), _lengths(content))
        return cast(Tensor, final[0])

    def teach(self, state: State, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given the words before it."""
        start = self.start.expand(len(target), 1, -1)
        before = torch.cat([start, self.words(target[:, :-1])], dim=1)
        logits, _ = self._run(before, state)
        return logits

    def step(self, words: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Logits (B, V) of the next words after ``words`` (B), and the next state."""
        start = self.start.expand(len(state[0]), -1)
        vectors = start if words is None else self.words(words)
        logits, state = self._run(vectors[:, None], state)
        return logits[:, 0], state

    def generate(
        self, state: State, length: int, beams: int, forbidden: Sequence[int] = ()
    ) -> Tensor:
        """Ids (B, L) of the likeliest sentences, L at most ``length``."""
        return beam_search(self.step, state, length=length, beams=beams, forbidden=forbidden)

    def _run(self, vectors: Tensor, state: State) -> tuple[Tensor, State]:
        n = len(self.bridges)
        first = tuple(part[None].contiguous() for part in state[:n])
        states, last = self.decoder(vectors, first if n == 2 else first[0])
        after = tuple(part[0] for part in (last if n == 2 else (last,)))
        if self.shape.attention:  # bilinear (Luong et al. 2015), of the states alone
            seen, inside = state[n:]
            scores = self.score(states) @ seen.transpose(1, 2)  # (B, T, S)
            shares = scores.masked_fill(~inside[:, None], -torch.inf).softmax(dim=-1)
            states = torch.tanh(self.mix(torch.cat([shares @ seen, states], dim=-1)))
        if self.shape.maxout:
            states = self.pieces(torch.cat([states, vectors], dim=-1))
            states = states.unflatten(-1, (-1, 2)).amax(dim=-1)
        logits: Tensor = self.output(self.dropout(states))
        return logits, (*after, *state[n:])


def _lengths(words: Tensor) -> Tensor:
    return (words != PAD).sum(dim=1)
