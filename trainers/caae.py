"""CAAE: the cross-aligned autoencoder.

Shen et al. (NIPS 2017), "Style Transfer from Non-Parallel Text by Cross-Alignment". An encoder
reads a sentence and its style and keeps the content z; a generator writes a sentence from a style
and z (equation 3). It learns from unpaired sentences: to rebuild each one (equation 5), and to
write rewrites that look like sentences of the other style (section 4.2). What must look alike are
whole sequences of the generator's states: those while it is taught a sentence of a style, and those
while it rewrites one of the other style into that style, reading its own soft words (equation 9 and
Algorithm 1, after professor forcing).

The settings are those of the released code in its last version, which differ from the paper's
(rho 1, gamma 0.1 and not 0.001). There the generator is told to convince the discriminators, as is
usual; in the paper it is told to raise their loss: ``objective`` has both. Where we differ from
the code: a sequence of states is as long as its sentence, not as the longest of the batch, so that
padding is never judged; clipping is of every step; a rewrite has no unknown word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..settings import Count, Natural, NotNegative, Positive, Share, setting
from .training.loop import Learner, Terms, Update
from .training.networks import TextCnn, summed_word_loss
from .training.words import PAD, UNKNOWN, State, beam_search, lengths_of
from .word_system import Corpus, WordConfig, WordSystem


@dataclass(frozen=True, kw_only=True)
class CaaeConfig(WordConfig):
    """The settings of the released ``options.py`` and ``style_transfer.py``."""

    style_size: Count = setting(200, "units that say the style at the beginning")
    content_size: Count = setting(500, "units of the content z")
    word_size: Count = setting(100, "units of word vectors")
    filters: Count = setting(128, "filters of each width, 1 to 5, of the discriminators")
    dropout: Share = setting(0.5, "dropout")
    min_count: Count = setting(5, "occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        20, "longest sentence, its end included; the rest is cut"
    )
    batch_size: Count = setting(64, "sentences a step, of each style")
    learning_rate: Positive = setting(5e-4, "Adam's")
    clip: Positive = setting(30.0, "gradient norm")
    epochs: Positive = setting(20.0, "times the larger style is seen")
    warm_up: NotNegative = setting(0.0, "epochs of reconstruction alone, before those")
    warm_up_rate: Positive = setting(5e-4, "Adam's learning rate meanwhile")
    rho: NotNegative = setting(1.0, "weight of the discriminators' verdict; 0 for none")
    gamma: Positive = setting(0.1, "temperature of soft words")
    gate: Positive = setting(1.2, "largest loss of a discriminator whose verdict counts")
    objective: Literal["convince", "minimax"] = setting(
        "convince", "convince the discriminators (released), or raise their loss (paper)"
    )
    shuffle: Natural = setting(3, "places that a word moves at most in what the encoder reads")
    validations: Count = setting(20, "validations in all")

    @property
    def sizes(self) -> Sizes:
        """Of the autoencoder."""
        return Sizes(self.style_size, self.content_size, self.word_size)

    @classmethod
    def for_direction(cls, direction: Direction) -> CaaeConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def small(cls, direction: Direction) -> CaaeConfig:
        """Half of the units, and fewer epochs; a warm-up makes the most of them."""
        return replace(
            cls.for_direction(direction),
            style_size=32,
            content_size=224,
            filters=32,
            dropout=0.1,
            min_count=10,
            batch_size=32,
            warm_up=2.0,
            warm_up_rate=2e-3,
            epochs=0.5,
            rho=0.1,
            validations=10,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> CaaeConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            style_size=8,
            content_size=24,
            word_size=16,
            filters=4,
            dropout=0.0,
            max_length=12,
            min_count=3,
            batch_size=8,
            warm_up=0.8,
            warm_up_rate=2e-2,
            epochs=0.1,
            validations=2,
            hold_out=8,
            learning_rate=2e-3,
            gate=1e9,
        )


@dataclass(frozen=True, kw_only=True)
class CaaeGeneration:
    """How rewrites are generated."""

    beams: Annotated[int, Field(ge=1, le=100)] = setting(
        8, "sentences kept at each word; 1 is greedy"
    )


_WIDTHS = (1, 2, 3, 4, 5)  # of the discriminators' windows
_SLOPE = 0.01  # of their leaky ReLU
_BETAS = (0.5, 0.999)  # Adam's
_BLOCK = 100  # batches that are split by length together


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
            self.words.weight[PAD].zero_()
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
        """A step of :func:`~.training.words.beam_search`; the state is (states (B, S + Z),)."""
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


class _Learner(Learner):
    """Algorithm 1: in turns the discriminators, and the encoder with the generator."""

    def __init__(self, system: Caae, corpus: Corpus) -> None:
        config: CaaeConfig = system.config
        self._system, self._corpus, self._config = system, corpus, config
        self.discriminators = nn.ModuleList(
            StateDiscriminator(config.sizes.state, _WIDTHS, config.filters, _SLOPE, config.dropout)
            for _ in range(2)
        )
        self.network = nn.ModuleDict(
            {"autoencoder": system.network, "discriminators": self.discriminators}
        )
        # The gate depends on them, so they are part of a checkpoint.
        self.network.register_buffer("last_losses", torch.full((2,), torch.inf))
        self.optimizers = {
            name: torch.optim.Adam(part.parameters(), lr=config.learning_rate, betas=_BETAS)
            for name, part in self.network.items()
        }
        self._batches = corpus.both(config.batch_size, config.seed, grouping=_BLOCK)
        epoch = self._batches.steps_per_epoch
        self._warm_up = round(config.warm_up * epoch)
        rounds = max(1, round(config.epochs * epoch))
        self.steps, self.seed = self._warm_up + 2 * rounds, config.seed
        self.validate_every = max(1, self.steps // config.validations)

    def update(self, step: int) -> Update:
        config, after = self._config, step - self._warm_up
        turn, which = divmod(after, 2) if after >= 0 else (after, 1)
        name = ("discriminators", "autoencoder")[which]
        return Update(
            name=name,
            optimizers=(name,),
            loss=(self._discriminator_loss, self._autoencoder_loss)[which],
            order=self._batches,
            number=self._warm_up + turn,
            rates={name: config.warm_up_rate if after < 0 else config.learning_rate},
            clip=config.clip,
        )

    def hear(self, terms: Mapping[str, float]) -> None:
        for style in (0, 1):
            if (loss := terms.get(f"discriminators/style_{style}")) is not None:
                self._last[style] = loss

    @property
    def _last(self) -> Tensor:
        return cast(Tensor, self.network.last_losses)

    @property
    def gate_is_open(self) -> bool:
        """Whether both discriminators are good enough to learn from."""
        return self._config.rho > 0 and bool((self._last < self._config.gate).all())

    def _discriminator_loss(self, batch: np.ndarray) -> Terms:
        words, styles = self._batch(batch)
        with torch.no_grad():
            content = self._content(words, styles)
            taught = self._taught(words, styles, content)
            free = self._free(words, styles, content)
        return {
            f"style_{style}": self._judged(style, taught, free, words, styles) for style in (0, 1)
        }

    def _autoencoder_loss(self, batch: np.ndarray) -> Terms:
        words, styles = self._batch(batch)
        content = self._content(words, styles)
        taught = self._taught(words, styles, content)
        logits = self._system.network.logits(taught)
        terms = {"reconstruction": summed_word_loss(logits, words) / len(batch)}
        if not self.gate_is_open:
            return terms
        free, rho = self._free(words, styles, content), self._config.rho
        for style in (0, 1):
            if self._config.objective == "convince":
                verdict = self.discriminators[style](*self._of(1 - style, free, words, styles))
                loss = _taken_for(1.0, verdict)
            else:
                loss = -self._judged(style, taught, free, words, styles)
            terms[f"style_{style}"] = rho * loss
        return terms

    def _judged(
        self, style: int, taught: Tensor, free: Tensor, words: Tensor, styles: Tensor
    ) -> Tensor:
        """A discriminator's loss: taught sentences of its style, rewrites into it (equation 9)."""
        real = self.discriminators[style](*self._of(style, taught, words, styles))
        fake = self.discriminators[style](*self._of(1 - style, free, words, styles))
        return _taken_for(1.0, real) + _taken_for(0.0, fake)

    def _content(self, words: Tensor, styles: Tensor) -> Tensor:
        lengths = lengths_of(words) - 1  # the encoder does not read the end
        noisy = slightly_shuffled(words, lengths, self._config.shuffle)
        return self._system.content(noisy, lengths, styles)

    def _taught(self, words: Tensor, styles: Tensor, content: Tensor) -> Tensor:
        autoencoder = self._system.network
        return autoencoder.teach(autoencoder.begin(content, styles), words)

    def _free(self, words: Tensor, styles: Tensor, content: Tensor) -> Tensor:
        autoencoder = self._system.network
        first = autoencoder.begin(content, 1 - styles)
        return autoencoder.unroll(first, words.shape[1], self._config.gamma)

    def _of(
        self, style: int, states: Tensor, words: Tensor, styles: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The states of sentences of a style, and how many of them count."""
        chosen = styles == style
        return states[chosen], lengths_of(words)[chosen] + 1  # the first state is before all words

    def _batch(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        return self._corpus.batch(rows, self._system.device)

    def validate(self) -> Mapping[str, float]:
        greedy = CaaeGeneration(beams=1)  # eight times as fast as the usual beam
        return self._corpus.judge.scores(partial(self._system.rewritten, settings=greedy))


def _taken_for(label: float, verdict: Tensor) -> Tensor:
    """The mean loss of verdicts (B) that should be this label."""
    wanted = torch.full_like(verdict, label)
    return F.binary_cross_entropy_with_logits(verdict, wanted, reduction="sum") / len(verdict)


@dataclass(frozen=True)
class Caae(WordSystem):
    """A cross-aligned autoencoder; it writes with a beam."""

    KIND: ClassVar[str] = "caae"
    ORIGIN: ClassVar[str] = "Shen et al. (2017), cross-aligned autoencoder; our implementation"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 dealt its batches in another order
    WEIGHTS: ClassVar[str] = "autoencoder.safetensors"
    Config: ClassVar[type[WordConfig]] = CaaeConfig
    Settings: ClassVar[type] = CaaeGeneration

    network: GruAutoencoder

    @staticmethod
    def new_network(n_words: int, config: CaaeConfig) -> GruAutoencoder:
        """The encoder and the generator, with random weights."""
        return GruAutoencoder(n_words, config.sizes, config.dropout)

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def content(self, words: Tensor, lengths: Tensor, styles: Tensor) -> Tensor:
        """Contents z (B, Z) of the first ``lengths`` (B) ids of rows (B, T), read backwards."""
        lengths = lengths.clamp(min=1)  # an empty sentence is its end
        return self.network.encode(backwards(words, lengths), lengths, styles)

    def written(self, words: Tensor, style: int, settings: CaaeGeneration) -> Tensor:
        """The likeliest sentences (B, S) of a beam."""
        styles = torch.full((len(words),), style, device=words.device)
        content = self.content(words, lengths_of(words) - 1, 1 - styles)
        return beam_search(
            self.network.step,
            (self.network.begin(content, styles),),
            length=self.config.max_length,
            beams=settings.beams,
            forbidden=(PAD, UNKNOWN),
        )


def slightly_shuffled(words: Tensor, lengths: Tensor, reach: int) -> Tensor:
    """The first ``lengths`` (B) ids of rows (B, T), none further than ``reach`` places away.

    Lample et al. (2018), "Unsupervised Machine Translation Using Monolingual Corpora Only", section
    2.3: places are sorted by themselves plus a random number between 0 and ``reach + 1``.
    """
    if reach == 0:
        return words
    places = torch.arange(words.shape[1], device=words.device)
    inside = places < lengths[:, None]
    moved = places + inside * (reach + 1) * torch.rand(words.shape, device=words.device)
    # What is behind the end stays there, however far the last words moved.
    moved = moved + ~inside * (words.shape[1] + reach + 1)
    return words.gather(1, moved.argsort(dim=1, stable=True))


def backwards(words: Tensor, lengths: Tensor) -> Tensor:
    """The first ``lengths`` (B) ids of rows (B, T) in reverse; the rest stays.

    >>> backwards(torch.tensor([[7, 8, 9, 0], [5, 0, 0, 0]]), torch.tensor([3, 1])).tolist()
    [[9, 8, 7, 0], [5, 0, 0, 0]]
    """
    places = torch.arange(words.shape[1], device=words.device)
    mirrored = lengths[:, None] - 1 - places
    return words.gather(1, torch.where(mirrored >= 0, mirrored, places))
