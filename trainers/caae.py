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

from collections.abc import Mapping
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
from .learning.corpus import Corpus
from .learning.decoding import beam_search
from .learning.loop import Learner, Terms, Update
from .learning.noise import backwards, slightly_shuffled
from .learning.vocabulary import PAD, UNKNOWN
from .nets.gru_autoencoder import GruAutoencoder, Sizes, StateDiscriminator
from .nets.losses import summed_word_loss
from .nets.style_transformer import lengths_of
from .word_config import WordConfig
from .word_system import WordSystem


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
