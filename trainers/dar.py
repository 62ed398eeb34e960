"""DAR: delete, retrieve, generate.

Li, Jia, He and Liang (NAACL 2018), "Delete, Retrieve, Generate: A Simple Approach to Sentiment and
Style Transfer". The markers of the source style are deleted (section 3.1); a sentence of the target
style with similar content is retrieved (3.2); a recurrent network writes a sentence from the
content and the retrieved one's markers (3.3.3). It learns to write a training sentence from its own
content and its own markers, some of them exchanged (equation 5). With ``markers = false`` it is
DeleteOnly (3.3.2), which is told the style alone and retrieves nothing.

The network's settings are those of the released PyTorch port (LSTM, Adam, greedy), all of which are
known; the paper's own are options (``cell = "gru"``, ``both_ways = false``, ``maxout = true``,
``optimizer = "adadelta"``, and for generation ``beams = 10`` and ``candidates = 10``, of which a
language model of the target style chooses). The port exchanges the markers of whole sentences by
shared words; we do as the paper: each marker by itself, at edit distance 1. Only sentences with
markers are retrieved: the others have nothing to give. A sentence of markers alone has an empty
content.

The threshold of salience, gamma, belongs to writing as much as to learning: a trained system writes
with another one (``--generation gamma=500``), as Mir et al. (NAACL 2019, section 5.1) do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..datasets_scripts.catalog import parse_direction
from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Count, Natural, Positive, Probability, Share, setting
from .card import SystemCard
from .markers import GAMMA, EditNoise, MarkerMemory, Ngram, SharedWordNoise, count_ngrams, salience
from .training.loop import Learner, Terms, Update
from .training.networks import summed_word_loss
from .training.sampler import Both, by_length
from .training.words import PAD, UNKNOWN, State, Vocabulary, beam_search, padded
from .word_system import TOGETHER, Corpus, WordConfig, WordSystem

Noise = Literal["edit", "shared-words"]


@dataclass(frozen=True, kw_only=True)
class DarSettings:
    """How a rewrite is found."""

    gamma: Annotated[float, Field(ge=0, allow_inf_nan=False)] = setting(
        0.0, "salience above which an n-gram is a marker now; 0: as in training"
    )
    max_markers: Natural = setting(
        0, "most markers of a style with another gamma, the most salient; 0: all"
    )
    retrieval: Literal["tfidf", "encoder"] = setting(
        "tfidf", "what contents are compared by: words, or the content encoder's states"
    )
    candidates: Count = setting(
        1,
        "retrieved sentences to write with; of several rewrites, the one that a "
        "language model of the target style finds likeliest is the answer",
    )
    beams: Count = setting(1, "sentences kept at each word; 1: greedy")


@dataclass(frozen=True, kw_only=True)
class DarConfig(WordConfig):
    """The published settings; see the paper's section 4.3 and the port's ``yelp_config.json``."""

    gamma: Positive = setting(
        5.0, "salience above which an n-gram marks a style; Yelp 15, Amazon 5.5"
    )
    smoothing: Positive = setting(1.0, "lambda, added to both counts")
    max_ngram: Count = setting(4, "the longest marker, in words")
    max_markers: Count = setting(7000, "most markers of a style, the most salient")
    min_content: Natural = setting(5, "content words of a training sentence; fewer: not learned")
    markers: bool = setting(True, "false: DeleteOnly, which knows the style alone")
    noise: Noise = setting("edit", "edit: markers at edit distance 1; shared-words: the port's")
    noise_rate: Probability = setting(
        0.1, "share of markers (port: of sentences) that are exchanged"
    )
    embedding: Count = setting(128, "size of word vectors")
    hidden: Annotated[int, Field(ge=2)] = setting(512, "size of states")
    cell: Cell = setting("lstm", "lstm, or gru as in the paper")
    both_ways: bool = setting(True, "whether encoders read backwards too")
    attention: bool = setting(False, "whether the decoder looks at the content's words")
    maxout: bool = setting(False, "a maxout layer before the output")
    dropout: Share = setting(0.2, "dropout")
    min_count: Count = setting(5, "sentences' occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        50, "longest sentence, its end included; the rest is cut"
    )
    optimizer: Literal["adam", "adadelta"] = setting("adam", "adam, or adadelta as in the paper")
    learning_rate: Positive = setting(3e-4, "of the optimiser")
    clip: Positive = setting(3.0, "gradient norm")
    batch_size: Annotated[int, Field(ge=2, multiple_of=2)] = setting(
        256, "sentences a step, half of each style"
    )
    epochs: Count = setting(70, "times that the larger style is seen")
    grouping: Count = setting(1, "batches that are sorted by length together")
    validate_every: Count = setting(1000, "steps between validations")

    def __post_init__(self) -> None:
        if self.both_ways and self.hidden % 2:
            raise InputError(f"hidden {self.hidden} is odd, but encoders read both ways")

    @classmethod
    def for_direction(cls, direction: Direction) -> DarConfig:
        """The paper's gamma and number of markers where it gives them."""
        gamma = GAMMA.get(direction.dataset, cls().gamma)
        return cls(gamma=gamma, max_markers=10_000 if direction.dataset == "amazon" else 7000)

    @classmethod
    def small(cls, direction: Direction) -> DarConfig:  # noqa: ARG003
        """For some ten thousand sentences: a lower gamma, short contents, attention."""
        return cls(
            gamma=5.0,
            min_content=2,
            hidden=256,
            cell="gru",
            attention=True,
            max_length=20,
            learning_rate=2e-3,
            batch_size=32,
            epochs=2,
            grouping=20,
            validate_every=800,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> DarConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            gamma=GAMMA["mini"],
            min_content=1,
            embedding=16,
            hidden=32,
            min_count=1,
            max_length=12,
            learning_rate=3e-3,
            batch_size=32,
            epochs=3,
            validate_every=60,
            hold_out=8,
        )

    @property
    def shape(self) -> RecurrentShape:
        """Of the network."""
        return RecurrentShape(
            embedding=self.embedding,
            hidden=self.hidden,
            cell=self.cell,
            both_ways=self.both_ways,
            dropout=self.dropout,
            attention=self.attention,
            maxout=self.maxout,
            markers=self.markers,
        )


_MEMORIES = ("source.json", "target.json")


@dataclass(frozen=True)
class _Example:
    """A training sentence: ids of its content and of itself, and its markers as they are."""

    content: Sequence[int]
    markers: tuple[Ngram, ...]
    sentence: Sequence[int]
    style: int


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
            self.words.weight.uniform_(-_INITIAL, _INITIAL)[PAD].zero_()
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


class _Learner(Learner):
    """Each sentence from its content and its markers, some of them exchanged (equation 5)."""

    def __init__(self, system: Dar, corpus: Corpus) -> None:
        config: DarConfig = system.config
        self._system, self._corpus, self._config = system, corpus, config
        kept = [self._examples(style) for style in (0, 1)]
        self._kept = [*kept[0], *kept[1]]
        first, second = ([len(e.sentence) for e in some] for some in kept)
        half = config.batch_size // 2
        self._batches = Both((first, second), half, config.seed, config.grouping)
        self._noise = [self._noise_of(memory) for memory in system.memories]
        self.network = system.network
        kind = {"adam": torch.optim.Adam, "adadelta": torch.optim.Adadelta}[config.optimizer]
        self.optimizers = {"network": kind(self.network.parameters(), lr=config.learning_rate)}
        self.steps = config.epochs * self._batches.steps_per_epoch
        self.validate_every = config.validate_every
        self.seed = config.seed

    def _examples(self, style: int) -> list[_Example]:
        memory, config = self._system.memories[style], self._config
        encode = self._system.vocabulary.encode
        first = style * self._corpus.n_source
        examples = [
            _Example(
                encode(deletion.content, config.max_length),
                deletion.markers,
                self._corpus.rows[first + row],
                style,
            )
            for row, deletion in enumerate(memory.deletions)
            if len(deletion.content) >= config.min_content
        ]
        if not examples:
            raise InputError(
                f"no sentence of {memory.style} has {config.min_content} words besides its "
                "markers: lower min_content, or raise gamma"
            )
        return examples

    def _noise_of(
        self, memory: MarkerMemory
    ) -> Callable[[Sequence[Ngram], np.random.Generator], tuple[Ngram, ...]]:
        if self._config.noise == "edit":
            return EditNoise(tuple(memory.lexicon), self._config.noise_rate)
        marked = tuple(d.markers for d in memory.deletions if d.markers)
        return SharedWordNoise(marked, self._config.noise_rate)

    def update(self, step: int) -> Update:
        return Update(
            name="step",
            optimizers=("network",),
            loss=partial(self._loss, step),
            order=self._batches,
            number=step,
            clip=self._config.clip,
        )

    def _loss(self, step: int, batch: np.ndarray) -> Terms:
        network, device = self._system.network, self._system.device
        examples = [self._kept[i] for i in batch]
        markers = self._noised(step, batch)
        sentences = padded([e.sentence for e in examples]).to(device)
        state = network.read(
            padded([e.content for e in examples]).to(device),
            padded([self._system.marker_row(some) for some in markers]).to(device),
            torch.tensor([e.style for e in examples], device=device),
        )
        n_words = sum(len(self._kept[i].sentence) for i in batch)
        return {"words": summed_word_loss(network.teach(state, sentences), sentences) / n_words}

    def _noised(self, step: int, batch: np.ndarray) -> list[tuple[Ngram, ...]]:
        """The markers that a step shows: they depend on the step and the sentence alone."""
        randoms = [np.random.default_rng([self.seed, step, int(i)]) for i in batch]
        examples = [self._kept[i] for i in batch]
        return [
            self._noise[example.style](example.markers, random)
            for example, random in zip(examples, randoms, strict=True)
        ]

    def validate(self) -> Mapping[str, float]:
        return self._corpus.judge.scores(self._system.rewritten)


@dataclass(frozen=True)
class Dar(WordSystem):
    """Deletes, retrieves, generates.

    Attributes:
        memories: of each style (0: source, 1: target), its markers and its training sentences.
    """

    KIND: ClassVar[str] = "dar"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 took sentences of markers alone for contents
    ORIGIN: ClassVar[str] = (
        "Li et al. (2018), delete, retrieve, generate; TSTBench's implementation"
    )
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "scikit-learn")
    Config: ClassVar[type[WordConfig]] = DarConfig
    Settings: ClassVar[type] = DarSettings

    network: MarkerSeq2Seq
    memories: tuple[MarkerMemory, MarkerMemory]

    @staticmethod
    def new_network(n_words: int, config: DarConfig) -> MarkerSeq2Seq:
        """The encoders and the decoder, with random weights."""
        return MarkerSeq2Seq(n_words, config.shape)

    @classmethod
    def begun(cls, card: SystemCard, corpus: Corpus, config: DarConfig) -> Dar:
        """A system that knows the markers of both styles.

        Raises:
            InputError: a style has no marker.
        """
        network = cls.new_network(len(corpus.vocabulary), config)
        direction = parse_direction(card.directions[0])
        styles = direction.source_style, direction.target_style
        memories = _memories(styles, corpus.sentences, config, config.gamma, config.max_markers)
        for memory in memories:
            if not memory.marked:
                raise InputError(
                    f"no {memory.style} sentence has a word of salience {config.gamma:g}: lower "
                    "gamma, or train on more sentences"
                )
        return cls(card, corpus.vocabulary, network, memories)

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def marker_row(self, markers: Sequence[Ngram]) -> list[int]:
        """Ids of the markers' words, in their order; the end alone where there are none."""
        words = [word for marker in markers for word in marker]
        return self.vocabulary.encode(words, self.config.max_length)

    def rewritten(self, sentences: Sequence[str], side: int, settings: Any = None) -> list[str]:
        """Delete, retrieve, generate: tokenised sentences of a style, in the other style."""
        how = DarSettings() if settings is None else cast(DarSettings, settings)
        memories = self._asked_memories(how.gamma, how.max_markers)
        own, other = memories[side], memories[1 - side]
        contents = [own.deletion(text).content for text in sentences]
        if not self.config.markers or not other.marked:
            return self._generated(contents, [()] * len(contents), 1 - side, how)
        vectors = self._content_vectors if how.retrieval == "encoder" else None
        found = other.nearest(contents, how.candidates, vectors)
        k = found.shape[1]
        written = self._generated(
            [content for content in contents for _ in range(k)],
            [other.marked[row].markers for rows in found for row in rows],
            1 - side,
            how,
        )
        if k == 1:
            return written
        return [other.likeliest(written[i : i + k]) for i in range(0, len(written), k)]

    def _asked_memories(self, gamma: float, most: int) -> tuple[MarkerMemory, MarkerMemory]:
        """Those of training, or with the markers that a transfer asks for.

        Their salience is counted again, from the training sentences that they keep.
        """
        if not gamma and not most:
            return self.memories
        if (gamma, most) not in self._known_memories:
            styles, sentences = zip(*((m.style, m.sentences) for m in self.memories), strict=True)
            self._known_memories[gamma, most] = _memories(
                styles, sentences, self.config, gamma or self.config.gamma, most or None
            )
        return self._known_memories[gamma, most]

    @cached_property
    def _known_memories(self) -> dict[tuple[float, int], tuple[MarkerMemory, MarkerMemory]]:
        return {}

    def _generated(
        self,
        contents: Sequence[Sequence[str]],
        markers: Sequence[Sequence[Ngram]],
        style: int,
        settings: DarSettings,
    ) -> list[str]:
        rows = [self.vocabulary.encode(words, self.config.max_length) for words in contents]

        def write(batch: list[int]) -> Tensor:
            content = self.padded([rows[i] for i in batch])
            marked = self.padded([self.marker_row(markers[i]) for i in batch])
            return self.written(content, style, settings, marked)

        return self.in_batches(rows, write)

    def written(
        self, words: Tensor, style: int, settings: DarSettings, markers: Tensor | None = None
    ) -> Tensor:
        """Sentences (B, S) with these contents (B, T) and markers (B, M); ``None`` for none."""
        marked = self.padded([self.marker_row(())] * len(words)) if markers is None else markers
        styles = torch.full((len(words),), style, device=words.device)
        state = self.network.read(words, marked, styles)
        return self.network.generate(
            state, self.config.max_length, settings.beams, forbidden=(PAD, UNKNOWN)
        )

    def _content_vectors(self, contents: Sequence[Sequence[str]]) -> np.ndarray:
        rows = [self.vocabulary.encode(words, self.config.max_length) for words in contents]

        def vectors(batch: list[int]) -> list[np.ndarray]:
            with torch.no_grad():
                found = self.network.content_vectors(self.padded([rows[i] for i in batch]))
            return list(found.float().cpu().numpy())

        return np.stack(by_length(rows, TOGETHER, vectors))

    def write(self, folder: Path) -> None:
        """Write vocabulary, weights, and the markers and sentences of each style."""
        super().write(folder)
        for memory, name in zip(self.memories, _MEMORIES, strict=True):
            memory.save(folder / name)

    @classmethod
    def read_more(cls, folder: Path, vocabulary: Vocabulary, config: Any) -> dict[str, Any]:  # noqa: ARG003
        """The markers and sentences of each style."""
        source, target = (MarkerMemory.load(folder / name) for name in _MEMORIES)
        return {"memories": (source, target)}


def _memories(
    styles: Sequence[str],
    sentences: Sequence[Sequence[str]],
    config: DarConfig,
    gamma: float,
    most: int | None,
) -> tuple[MarkerMemory, MarkerMemory]:
    """Of both styles, the ``most`` n-grams whose salience is above ``gamma``; ``None``: all."""
    counts = [count_ngrams(some, config.max_ngram) for some in sentences]
    first, second = (
        MarkerMemory.of(
            styles[own],
            salience(counts[own], counts[1 - own], config.smoothing, gamma),
            sentences[own],
            gamma,
            most,
        )
        for own in (0, 1)
    )
    return first, second
