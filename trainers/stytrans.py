"""STYTRANS: the Style Transformer.

Dai et al. (ACL 2019), "Style Transformer: Unpaired Text Style Transfer without Disentangled Latent
Representation". A Transformer reads a style vector and a sentence, and writes the sentence in that
style. It learns from unpaired sentences: to repeat a sentence in its own style (section 3.3.1), to
come back from its rewrite in the other style (3.3.2), and to convince a discriminator of the
rewrite's style (3.3.3). Rewrites stay soft while it learns, so that gradients flow through them.

Where we differ from the released code: its embeddings start at zero, ours at random; its generator
asks the multi-class discriminator with a style token, which that one never sees while it learns,
ours asks without. Its text files come without unknown words and without what follows the first
full stop; ours never write an unknown word, and are not cut.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Count, Natural, NotNegative, Positive, Probability, Share, setting
from .training.loop import Learner, Terms, Update
from .training.networks import Decoder, Encoder, KeysValues, Shape, Words, summed_word_loss
from .training.words import END, PAD, UNKNOWN, lengths_of, padded
from .word_system import Corpus, WordConfig, WordSystem


class Reader(nn.Module):
    """Encodes a sentence with a style before it."""

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        self.words = Words(n_words, shape.dimension, max_length, PAD)
        self.styles = nn.Embedding(2, shape.dimension)
        self.encoder = Encoder(shape)
        nn.init.normal_(self.styles.weight, std=shape.dimension**-0.5)

    def embed(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, T + 1, D), the first of the style (B); and their mask, true at words."""
        places = torch.arange(words.shape[1], device=words.device)
        mask = F.pad(places < lengths[:, None], (1, 0), value=True)  # the style is always seen
        return torch.cat([self.styles(styles)[:, None], self.words(words)], dim=1), mask

    def forward(self, words: Tensor, lengths: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """The memory (B, T + 1, D) of a sentence to be written in a style (B), and its mask."""
        vectors, mask = self.embed(words, lengths, styles)
        return self.encoder(vectors, mask), mask


class Generator(nn.Module):
    """Reads a sentence with a style before it; writes words one after the other (section 3.2)."""

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length
        self.reader = Reader(n_words, shape, max_length)
        self.start = nn.Parameter(torch.randn(shape.dimension) * shape.dimension**-0.5)
        self.decoder = Decoder(shape)
        self.output = nn.Linear(shape.dimension, n_words)

    def teach(self, words: Tensor, lengths: Tensor, styles: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given the words before it."""
        memory, mask = self.reader(words, lengths, styles)
        start = self.start.expand(len(target), 1, -1)
        before = torch.cat([start, self.reader.words(target[:, :-1])], dim=1)
        vectors, _ = self.decoder(before, self.decoder.memory(memory), mask)
        logits: Tensor = self.output(vectors)
        return logits

    def unroll(
        self, words: Tensor, lengths: Tensor, styles: Tensor, *, temperature: float
    ) -> Tensor:
        """Soft words (B, S, V) until every sentence has ended, ``max_length`` at most.

        Gradients flow through them. What a sentence has behind its ``END`` means nothing:
        :func:`lengths_of` leaves it out.

        Args:
            words: ids (B, T), or soft words (B, T, V).
            lengths: (B,), the end included.
            styles: (B,), to write in.
            temperature: of the words' probabilities.
        """
        memory, mask = self.reader(words, lengths, styles)
        seen_memory, seen = self.decoder.memory(memory), None
        vector = self.start.expand(len(memory), 1, -1)
        written = []
        ended = torch.zeros(len(memory), dtype=torch.bool, device=memory.device)
        for place in range(self.max_length):
            vectors, seen = self.decoder(vector, seen_memory, mask, seen)
            logits = self.output(vectors)  # (B, 1, V)
            written.append(F.softmax(logits / temperature, dim=-1))
            ended |= logits[:, 0].argmax(dim=-1) == END
            if ended.all():
                break
            vector = self.reader.words(written[-1], first=place)
        return torch.cat(written, dim=1)

    def write(
        self, words: Tensor, lengths: Tensor, styles: Tensor, *, forbidden: Sequence[int] = ()
    ) -> Tensor:
        """The likeliest words' ids (B, S), at least one a sentence; ``PAD`` after ``END``.

        A sentence that has ended is computed no further. Takes what :meth:`unroll` takes.

        Args:
            words: ids (B, T), or soft words (B, T, V).
            lengths: (B,), the end included.
            styles: (B,), to write in.
            forbidden: ids that are never written.
        """
        memory, mask = self.reader(words, lengths, styles)
        seen_memory, seen = self.decoder.memory(memory), None
        vector = self.start.expand(len(memory), 1, -1)
        rows = torch.arange(len(memory), device=memory.device)  # of the sentences that go on
        ids = torch.full((len(memory), self.max_length), PAD, device=memory.device)
        for place in range(self.max_length):
            vectors, seen = self.decoder(vector, seen_memory, mask, seen)
            logits = self.output(vectors[:, 0])
            logits[:, [*forbidden, *(() if place else (END,))]] = -torch.inf
            word = logits.argmax(dim=-1)
            ids[rows, place] = word
            on = (word != END).nonzero()[:, 0]
            if len(on) == 0:
                break
            if len(on) < len(word):
                rows, word, mask = rows[on], word[on], mask[on]
                seen_memory, seen = _of(on, seen_memory), _of(on, seen)
            vector = self.reader.words(word[:, None], first=place)
        return ids[:, : place + 1]


def _of(rows: Tensor, layers: list[KeysValues]) -> list[KeysValues]:
    """The keys and values of these rows."""
    return [(keys[rows], values[rows]) for keys, values in layers]


class Discriminator(nn.Module):
    """Tells styles, and sentences from rewrites (section 3.3.3): classes of the first place."""

    def __init__(self, n_words: int, shape: Shape, max_length: int, *, conditional: bool) -> None:
        super().__init__()
        self.conditional = conditional
        self.words = Words(n_words, shape.dimension, max_length, PAD)
        self.place = nn.Parameter(torch.randn(shape.dimension) * shape.dimension**-0.5)
        self.styles = nn.Embedding(2, shape.dimension)
        self.encoder = Encoder(shape)
        self.output = nn.Linear(shape.dimension, 2 if self.conditional else 3)

    def forward(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """Logits (B, C): multi: a rewrite, style 0, style 1; conditional: does not fit, fits."""
        before = [self.place.expand(len(words), 1, -1)]
        if self.conditional:
            before.append(self.styles(styles)[:, None])
        places = torch.arange(words.shape[1], device=words.device)
        mask = F.pad(places < lengths[:, None], (len(before), 0), value=True)
        encoded = self.encoder(torch.cat([*before, self.words(words)], dim=1), mask)
        logits: Tensor = self.output(encoded[:, 0])
        return logits

    def doubt(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """``-log p`` (B) that these are sentences of these styles: what a generator lowers."""
        wanted = torch.ones_like(styles) if self.conditional else styles + 1
        return F.cross_entropy(self(words, lengths, styles), wanted, reduction="none")

    def losses(
        self,
        words: Tensor,
        styles: Tensor,
        repeated: tuple[Tensor, Tensor],
        rewritten: tuple[Tensor, Tensor],
    ) -> dict[str, Tensor]:
        """What it minimises (the paper's Algorithm 2), each term summed over sentences.

        Args:
            words: real sentences (B, T).
            styles: theirs (B).
            repeated: words and lengths of their rewrites in their own styles, which count as real.
            rewritten: words and lengths of their rewrites in the other styles.
        """
        real = (words, lengths_of(words))
        losses = {
            "real": self.doubt(*real, styles).sum(),
            "repeated": self.doubt(*repeated, styles).sum(),
        }
        wrong = {"rewritten": rewritten, **({"mismatched": real} if self.conditional else {})}
        for name, text in wrong.items():
            verdict = self(*text, 1 - styles)
            no = torch.zeros_like(styles)
            losses[name] = F.cross_entropy(verdict, no, reduction="sum")
        return losses


Phase = Literal["warm_up", "discriminator", "generator"]
Mode = Literal["multi", "conditional"]


@dataclass(frozen=True)
class Rounds:
    """Which network learns at a step: a warm-up, then rounds of both.

    Attributes:
        warm_up: first steps.
        rounds: how many follow.
        discriminator: steps of each.
        generator: steps of each, which follow the discriminator's.
    """

    warm_up: int
    rounds: int
    discriminator: int
    generator: int

    @property
    def length(self) -> int:
        """Steps of a round."""
        return self.discriminator + self.generator

    @property
    def steps(self) -> int:
        """All steps."""
        return self.warm_up + self.rounds * self.length

    def phase(self, step: int) -> Phase:
        """What a step is, counted from 0.

        >>> [Rounds(1, 2, 2, 1).phase(step)[0] for step in range(7)]
        ['w', 'd', 'd', 'g', 'd', 'd', 'g']
        """
        if step < self.warm_up:
            return "warm_up"
        place = (step - self.warm_up) % self.length
        return "discriminator" if place < self.discriminator else "generator"


@dataclass(frozen=True, kw_only=True)
class AdversarialConfig(WordConfig):
    """Sizes, rounds and optimiser, with the values that both papers publish."""

    dimension: Annotated[int, Field(ge=4)] = setting(256, "model size")
    heads: Count = setting(4, "attention heads")
    layers: Count = setting(4, "layers of each stack")
    dropout: Share = setting(0.0, "dropout")
    min_count: Count = setting(3, "sentences' occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        16, "longest sentence, its end included; the rest is cut"
    )
    batch_size: Count = setting(64, "sentences a step, of each style")
    grouping: Count = setting(50, "batches that are split by length together; 1: none")
    learning_rate: Positive = setting(1e-4, "Adam's")
    clip: Positive = setting(5.0, "gradient norm")
    warm_up: Natural = setting(500, "first steps, of self-reconstruction")
    rounds: Count = setting(2000, "rounds of discriminator and generator steps")
    discriminator_steps: Count = setting(10, "discriminator steps a round")
    generator_steps: Count = setting(5, "generator steps a round")
    temperature: Positive = setting(1.0, "of soft words while training")
    validate_every: Count = setting(25, "rounds between validations")
    discriminator: Mode = setting(
        "multi", "multi: which style, or a rewrite; conditional: does a style fit"
    )

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")

    @classmethod
    def small(cls, direction: Direction) -> Self:
        """A quarter of the published size, with larger steps, and as many of both networks."""
        return replace(
            cls.for_direction(direction),
            dimension=128,
            layers=2,
            min_count=4,
            batch_size=32,
            learning_rate=1e-3,
            discriminator_steps=1,
            generator_steps=1,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> Self:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            heads=2,
            layers=1,
            max_length=12,
            min_count=1,
            batch_size=8,
            warm_up=10,
            rounds=3,
            discriminator_steps=2,
            generator_steps=2,
            validate_every=3,
            hold_out=8,
            learning_rate=1e-3,
        )

    @property
    def shape(self) -> Shape:
        """Of all networks."""
        return Shape(self.dimension, self.heads, self.layers, self.dropout)

    @property
    def schedule(self) -> Rounds:
        """Which network learns when."""
        return Rounds(self.warm_up, self.rounds, self.discriminator_steps, self.generator_steps)


class AdversarialLearner(Learner):
    """Warm-up, then rounds of discriminator and generator steps: Algorithm 3 of Dai et al.

    Args:
        generator: what is wanted.
        config: sizes and schedule.
        corpus: what it learns from.
        rewrite: writes tokenised sentences of a side in the other style, for validation.
    """

    def __init__(
        self,
        generator: nn.Module,
        config: AdversarialConfig,
        corpus: Corpus,
        rewrite: Callable[[Sequence[str], int], Sequence[str]],
    ) -> None:
        self._corpus, self._rewrite, self._rounds = corpus, rewrite, config.schedule
        self._clip = config.clip
        self.discriminator = Discriminator(
            len(corpus.vocabulary),
            config.shape,
            config.max_length,
            conditional=config.discriminator == "conditional",
        )
        self.network = nn.ModuleDict({"generator": generator, "discriminator": self.discriminator})
        self.optimizers = {
            name: torch.optim.Adam(part.parameters(), lr=config.learning_rate)
            for name, part in self.network.items()
        }
        self.steps = self._rounds.steps
        self.validate_every = config.validate_every * self._rounds.length
        self.seed = config.seed
        self._batches = corpus.both(config.batch_size, config.seed, grouping=config.grouping)

    @abstractmethod
    def warm_up_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the generator, before the discriminator learns."""

    @abstractmethod
    def generator_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the generator."""

    @abstractmethod
    def discriminator_loss(self, batch: np.ndarray, step: int) -> Terms:
        """Of the discriminator."""

    def update(self, step: int) -> Update:
        """The schedule's phase, on the batch of that number."""
        phase = self._rounds.phase(step)

        def loss(batch: np.ndarray) -> Terms:
            if phase == "warm_up":
                return self.warm_up_loss(batch, step)
            # As in both released codes, only the network that learns has dropout.
            still = "generator" if phase == "discriminator" else "discriminator"
            self.network.get_submodule(still).eval()
            if phase == "discriminator":
                return self.discriminator_loss(batch, step)
            return self.generator_loss(batch, step)

        return Update(
            name=phase,
            optimizers=("discriminator",) if phase == "discriminator" else ("generator",),
            loss=loss,
            order=self._batches,
            number=step,
            # The released codes clip only after the warm-up.
            clip=None if phase == "warm_up" else self._clip,
        )

    def batch(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Ids (B, T) of these sentences, and their styles (B)."""
        return self._corpus.batch(rows, self.discriminator.place.device)

    def validate(self) -> Mapping[str, float]:
        """ACC and self-BLEU of rewrites of held-out sentences."""
        return self._corpus.judge.scores(self._rewrite)


@dataclass(frozen=True, kw_only=True)
class StyTransConfig(AdversarialConfig):
    """The published settings; see the paper's section 4.3 and the released ``main.py``."""

    self_weight: NotNegative = setting(0.25, "weight of self-reconstruction")
    cycle_weight: NotNegative = setting(0.5, "weight of cycle reconstruction")
    style_weight: NotNegative = setting(1.0, "weight of the discriminator's verdict")
    word_drop: Probability = setting(
        0.0, "share of words of self-reconstruction that are read as unknown"
    )
    word_drop_factor: NotNegative = setting(
        1.0, "what word_drop has been multiplied by after all rounds"
    )
    temperature_factor: Positive = setting(
        1.0, "what temperature has been multiplied by after all rounds"
    )

    @classmethod
    def for_direction(cls, direction: Direction) -> StyTransConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def tstbench(cls, direction: Direction) -> StyTransConfig:
        """The fork that the benchmark ran: dropout, words dropped, harder and harder soft words."""
        return replace(
            cls.for_direction(direction),
            dropout=0.1,
            word_drop=0.1,
            word_drop_factor=2.0,
            temperature_factor=0.5,
        )

    @classmethod
    def small(cls, direction: Direction) -> StyTransConfig:
        """As all adversarial ones, with a short warm-up.

        It ends while the generator still copies badly: once it copies well, its soft words are
        nearly hard, and the discriminator's verdict hardly reaches it.
        """
        return replace(super().small(direction), warm_up=200, rounds=600, validate_every=50)


class _Learner(AdversarialLearner):
    """Algorithm 3 of the paper."""

    def __init__(self, system: StyTrans, corpus: Corpus) -> None:
        super().__init__(system.network, system.config, corpus, system.rewritten)
        self._generator, self._config = system.network, system.config

    def warm_up_loss(self, batch: np.ndarray, step: int) -> Terms:
        return self._self_loss(batch, step)

    def _grown(self, factor: float, step: int) -> float:
        """A factor that goes from 1 to this one in a line, a round at a time."""
        place = max(0, step - self._rounds.warm_up) // self._rounds.length / self._rounds.rounds
        return 1 + (factor - 1) * place

    def _temperature(self, step: int) -> float:
        return self._config.temperature * self._grown(self._config.temperature_factor, step)

    def _self_loss(self, batch: np.ndarray, step: int) -> Terms:
        words, styles = self.batch(batch)
        read, share = (
            words,
            self._config.word_drop * self._grown(self._config.word_drop_factor, step),
        )
        if share:
            rows = (
                blanked(self._corpus.rows[i], share, np.random.default_rng([self.seed, step, i]))
                for i in batch
            )
            read = padded(list(rows)).to(words.device)
        logits = self._generator.teach(read, lengths_of(read), styles, words)
        return {"self": self._config.self_weight * self._word_loss(logits, words, step)}

    def _word_loss(self, logits: Tensor, words: Tensor, step: int) -> Tensor:
        return summed_word_loss(logits / self._temperature(step), words) / len(words)

    def generator_loss(self, batch: np.ndarray, step: int) -> Terms:
        config = self._config
        words, styles = self.batch(batch)
        rewrite = self.rewritten(words, 1 - styles, step)
        back = self._generator.teach(rewrite, lengths_of(rewrite), styles, words)
        doubt = self.discriminator.doubt(rewrite, lengths_of(rewrite), 1 - styles).sum()
        return {
            **self._self_loss(batch, step),
            "cycle": config.cycle_weight * self._word_loss(back, words, step),
            "style": config.style_weight * doubt / len(batch),
        }

    def discriminator_loss(self, batch: np.ndarray, step: int) -> Terms:
        words, styles = self.batch(batch)
        with torch.no_grad():  # rewrites as they are: the generator does not learn here
            own, other = (self.rewritten(words, side, step) for side in (styles, 1 - styles))
        repeated, rewritten = (own, lengths_of(own)), (other, lengths_of(other))
        losses = self.discriminator.losses(words, styles, repeated, rewritten)
        return {name: loss / len(batch) for name, loss in losses.items()}

    def rewritten(self, words: Tensor, styles: Tensor, step: int) -> Tensor:
        """Soft words (B, S, V) in these styles."""
        return self._generator.unroll(
            words, lengths_of(words), styles, temperature=self._temperature(step)
        )


@dataclass(frozen=True)
class StyTrans(WordSystem):
    """A Style Transformer; it writes the likeliest word each time."""

    KIND: ClassVar[str] = "stytrans"
    ORIGIN: ClassVar[str] = "Dai et al. (2019), Style Transformer; TSTBench's implementation"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 had dropout in the network that does not learn, too
    Config: ClassVar[type[WordConfig]] = StyTransConfig

    network: Generator

    @staticmethod
    def new_network(n_words: int, config: StyTransConfig) -> Generator:
        """The generator, with random weights."""
        return Generator(n_words, config.shape, config.max_length)

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def written(self, words: Tensor, style: int, settings: Any) -> Tensor:  # noqa: ARG002
        """The likeliest words (B, S), one after the other."""
        styles = torch.full((len(words),), style, device=words.device)
        return self.network.write(words, lengths_of(words), styles, forbidden=(PAD, UNKNOWN))


def blanked(ids: Sequence[int], share: float, random: np.random.Generator) -> list[int]:
    """Each word becomes the unknown word with this chance.

    >>> blanked([5, 6, 7, END], 1.0, np.random.default_rng(0)) == [UNKNOWN] * 3 + [END]
    True
    """
    lost = random.random(len(ids) - 1) < share
    return [UNKNOWN if gone else word for word, gone in zip(ids, lost, strict=False)] + [ids[-1]]
