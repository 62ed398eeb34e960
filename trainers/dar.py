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
markers are retrieved: the others have nothing to give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import language_of
from ..datasets_scripts.training import TrainingData
from ..errors import InputError
from ..metrics.scorers.device import Device, Placement
from ..metrics.text import preparation
from .learning.batches import Both
from .learning.checkpoints import save_weights
from .learning.corpus import Corpus, by_length
from .learning.loop import Learner, Terms, Update, learn
from .learning.marker_memory import MarkerMemory
from .learning.marker_noise import EditNoise, SharedWordNoise
from .learning.markers import GAMMA, Ngram, count_ngrams, salience
from .learning.run import IN_MEMORY, Run
from .learning.vocabulary import PAD, UNKNOWN, Vocabulary, padded
from .nets.losses import summed_word_loss
from .nets.marker_seq2seq import Cell, MarkerSeq2Seq, RecurrentShape
from .settings import read_settings
from .system import Request, System, SystemCard, SystemConfig, Task
from .system_card import Family

_WEIGHTS = "generator.safetensors"
_MEMORIES = ("source.json", "target.json")
Noise = Literal["edit", "shared-words"]


@dataclass(frozen=True, kw_only=True)
class DarSettings:
    """How a rewrite is found."""

    retrieval: Literal["tfidf", "encoder"] = field(
        default="tfidf",
        metadata={"help": "what contents are compared by: words, or the content encoder's states"},
    )
    candidates: Annotated[int, Field(ge=1)] = field(
        default=1,
        metadata={
            "help": "retrieved sentences to write with; of several rewrites, the one that a "
            "language model of the target style finds likeliest is the answer"
        },
    )
    beams: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "sentences kept at each word; 1: greedy"}
    )


@dataclass(frozen=True, kw_only=True)
class DarConfig(SystemConfig):
    """The published settings; see the paper's section 4.3 and the port's ``yelp_config.json``."""

    gamma: Annotated[float, Field(gt=0)] = field(
        default=5.0,
        metadata={"help": "salience above which an n-gram marks a style; Yelp 15, Amazon 5.5"},
    )
    smoothing: Annotated[float, Field(gt=0)] = field(
        default=1.0, metadata={"help": "lambda, added to both counts"}
    )
    max_ngram: Annotated[int, Field(ge=1)] = field(
        default=4, metadata={"help": "the longest marker, in words"}
    )
    max_markers: Annotated[int, Field(ge=1)] = field(
        default=7000, metadata={"help": "most markers of a style, the most salient"}
    )
    min_content: Annotated[int, Field(ge=0)] = field(
        default=5, metadata={"help": "content words of a training sentence; fewer: not learned"}
    )
    markers: bool = field(
        default=True, metadata={"help": "false: DeleteOnly, which knows the style alone"}
    )
    noise: Noise = field(
        default="edit",
        metadata={"help": "edit: markers at edit distance 1; shared-words: the port's"},
    )
    noise_rate: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.1, metadata={"help": "share of markers (port: of sentences) that are exchanged"}
    )
    embedding: Annotated[int, Field(ge=1)] = field(
        default=128, metadata={"help": "size of word vectors"}
    )
    hidden: Annotated[int, Field(ge=2)] = field(default=512, metadata={"help": "size of states"})
    cell: Cell = field(default="lstm", metadata={"help": "lstm, or gru as in the paper"})
    both_ways: bool = field(default=True, metadata={"help": "whether encoders read backwards too"})
    attention: bool = field(
        default=False, metadata={"help": "whether the decoder looks at the content's words"}
    )
    maxout: bool = field(default=False, metadata={"help": "a maxout layer before the output"})
    dropout: Annotated[float, Field(ge=0, lt=1)] = field(default=0.2, metadata={"help": "dropout"})
    min_count: Annotated[int, Field(ge=1)] = field(
        default=5, metadata={"help": "sentences' occurrences that make a word"}
    )
    max_length: Annotated[int, Field(ge=2)] = field(
        default=50, metadata={"help": "longest sentence, its end included; the rest is cut"}
    )
    optimizer: Literal["adam", "adadelta"] = field(
        default="adam", metadata={"help": "adam, or adadelta as in the paper"}
    )
    learning_rate: Annotated[float, Field(gt=0)] = field(
        default=3e-4, metadata={"help": "of the optimiser"}
    )
    clip: Annotated[float, Field(gt=0)] = field(default=3.0, metadata={"help": "gradient norm"})
    batch_size: Annotated[int, Field(ge=2, multiple_of=2)] = field(
        default=256, metadata={"help": "sentences a step, half of each style"}
    )
    epochs: Annotated[int, Field(ge=1)] = field(
        default=70, metadata={"help": "times that the larger style is seen"}
    )
    grouping: Annotated[int, Field(ge=1)] = field(
        default=1, metadata={"help": "batches that are sorted by length together"}
    )
    validate_every: Annotated[int, Field(ge=1)] = field(
        default=1000, metadata={"help": "steps between validations"}
    )
    hold_out: Annotated[int, Field(ge=1)] = field(
        default=500, metadata={"help": "sentences of each style to choose weights with"}
    )
    seed: Annotated[int, Field(ge=0)] = field(default=0, metadata={"help": "of everything random"})

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


@dataclass(frozen=True)
class _Example:
    """A training sentence: ids of its content and of itself, and its markers as they are."""

    content: Sequence[int]
    markers: tuple[Ngram, ...]
    sentence: Sequence[int]
    style: int


class _Learner(Learner):
    """Each sentence from its content and its markers, some of them exchanged (equation 5)."""

    def __init__(self, system: Dar, corpus: Corpus) -> None:
        self._system, self._corpus, self._config = system, corpus, system.config
        config = self._config
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

    def _loss(self, step: int, part: np.ndarray, whole: np.ndarray) -> Terms:
        network, device = self._system.network, self._system.device
        examples = [self._kept[i] for i in part]
        markers = self._noised(step, part)
        sentences = padded([e.sentence for e in examples]).to(device)
        state = network.read(
            padded([e.content for e in examples]).to(device),
            padded([self._system.marker_row(some) for some in markers]).to(device),
            torch.tensor([e.style for e in examples], device=device),
        )
        n_words = sum(len(self._kept[i].sentence) for i in whole)
        return {"words": summed_word_loss(network.teach(state, sentences), sentences) / n_words}

    def _noised(self, step: int, part: np.ndarray) -> list[tuple[Ngram, ...]]:
        """The markers that a step shows: they depend on the step and the sentence alone."""
        randoms = [np.random.default_rng([self.seed, step, int(i)]) for i in part]
        examples = [self._kept[i] for i in part]
        return [
            self._noise[example.style](example.markers, random)
            for example, random in zip(examples, randoms, strict=True)
        ]

    def validate(self) -> Mapping[str, float]:
        usual = DarSettings()
        return self._corpus.judge.scores(lambda s, side: self._system.rewritten(s, side, usual))


@dataclass(frozen=True)
class Dar(System):
    """One network for a pair of styles, which rewrites both ways.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        network: writes sentences.
        memories: of each style (0: source, 1: target), its markers and its training sentences.
    """

    KIND: ClassVar[str] = "dar"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = (
        "Li et al. (2018), delete, retrieve, generate; TSTBench's implementation"
    )
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "scikit-learn")
    Config: ClassVar[type[SystemConfig]] = DarConfig
    Settings: ClassVar[type] = DarSettings

    card: SystemCard
    vocabulary: Vocabulary
    network: MarkerSeq2Seq
    memories: tuple[MarkerMemory, MarkerMemory]

    @classmethod
    def train(cls, data: TrainingData, config: DarConfig, run: Run = IN_MEMORY) -> Dar:
        """Learn from the sentences of both styles; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences, or no marker, or nothing besides markers.
        """
        corpus = Corpus.of(
            data,
            min_count=config.min_count,
            max_length=config.max_length,
            held_out=config.hold_out,
            seed=config.seed,
        )
        counts = [count_ngrams(some, config.max_ngram) for some in corpus.sentences]
        styles = (data.direction.source_style, data.direction.target_style)
        memories = []
        for own, style in enumerate(styles):
            found = salience(counts[own], counts[1 - own], config.smoothing, config.gamma)
            memories.append(
                MarkerMemory.of(
                    style, found, corpus.sentences[own], config.gamma, config.max_markers
                )
            )
        torch.manual_seed(config.seed)
        network = MarkerSeq2Seq(len(corpus.vocabulary), config.shape)
        system = cls(
            cls.planned(data, config), corpus.vocabulary, network, (memories[0], memories[1])
        )
        learned = learn(_Learner(system, corpus), run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @cached_property
    def config(self) -> DarConfig:
        """The settings of its card."""
        return read_settings(DarConfig, self.card.settings, self.KIND)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.network.start.device

    def marker_row(self, markers: Sequence[Ngram]) -> list[int]:
        """Ids of the markers' words, in their order; the end alone where there are none."""
        words = [word for marker in markers for word in marker]
        return self.vocabulary.encode(words, self.config.max_length)

    def rewritten(self, sentences: Sequence[str], side: int, settings: DarSettings) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style."""
        own, other = self.memories[side], self.memories[1 - side]
        contents = [own.deletion(text).content for text in sentences]
        if not self.config.markers:
            return self._written(contents, [()] * len(contents), 1 - side, settings.beams)
        vectors = self._content_vectors if settings.retrieval == "encoder" else None
        found = other.nearest(contents, settings.candidates, vectors)
        k = found.shape[1]
        written = self._written(
            [content for content in contents for _ in range(k)],
            [other.marked[row].markers for rows in found for row in rows],
            1 - side,
            settings.beams,
        )
        if k == 1:
            return written
        return [other.likeliest(written[i : i + k]) for i in range(0, len(written), k)]

    def _written(
        self,
        contents: Sequence[Sequence[str]],
        markers: Sequence[Sequence[Ngram]],
        style: int,
        beams: int,
    ) -> list[str]:
        limit, device = self.config.max_length, self.device
        rows = [self.vocabulary.encode(words, limit) for words in contents]

        def write(batch: list[int]) -> list[str]:
            with torch.inference_mode():
                state = self.network.read(
                    padded([rows[i] for i in batch]).to(device),
                    padded([self.marker_row(markers[i]) for i in batch]).to(device),
                    torch.full((len(batch),), style, device=device),
                )
                ids = self.network.generate(state, limit, beams, forbidden=(PAD, UNKNOWN))
            return [" ".join(self.vocabulary.decode(some)) for some in ids.tolist()]

        return by_length(rows, self.BATCH_SIZE, write)

    def _content_vectors(self, contents: Sequence[Sequence[str]]) -> np.ndarray:
        rows = [self.vocabulary.encode(words, self.config.max_length) for words in contents]

        def vectors(batch: list[int]) -> list[np.ndarray]:
            with torch.inference_mode():
                found = self.network.content_vectors(
                    padded([rows[i] for i in batch]).to(self.device)
                )
            return list(found.float().cpu().numpy())

        return np.stack(by_length(rows, self.BATCH_SIZE, vectors))

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """Delete, retrieve, generate."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        settings = cast(DarSettings, task.settings)
        return [text.cleaning(words) for words in self.rewritten(sources, side, settings)]

    def write(self, folder: Path) -> None:
        """Write vocabulary, weights, and the markers and sentences of each style."""
        self.vocabulary.save(folder)
        save_weights(self.network, folder / _WEIGHTS)
        for memory, name in zip(self.memories, _MEMORIES, strict=True):
            memory.save(folder / name)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Dar:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(DarConfig, card.settings, cls.KIND)
            network = MarkerSeq2Seq(len(vocabulary), config.shape)
            network.load_state_dict(load_file(folder / _WEIGHTS))
            source, target = (MarkerMemory.load(folder / name) for name in _MEMORIES)
        except (KeyError, ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a dar system: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        network = network.to(placed).eval().requires_grad_(False)
        return cls(card, vocabulary, network, (source, target))
