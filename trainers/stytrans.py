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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, cast

import numpy as np
import torch
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import language_of
from ..datasets_scripts.training import TrainingData
from ..errors import InputError
from ..metrics.scorers.device import Device, Placement
from ..metrics.text import preparation
from .learning.adversarial import AdversarialConfig, Mode
from .learning.checkpoints import save_weights
from .learning.corpus import Corpus, by_length
from .learning.loop import Learner, Terms, Update, learn
from .learning.run import IN_MEMORY, Run
from .learning.vocabulary import PAD, UNKNOWN, Vocabulary, padded
from .nets.losses import summed_word_loss
from .nets.style_transformer import Discriminator, Generator, lengths_of
from .settings import read_settings
from .system import Request, System, SystemCard, SystemConfig, Task
from .system_card import Family

_WEIGHTS = "generator.safetensors"
_TOGETHER = 64  # sentences that are written at once


@dataclass(frozen=True, kw_only=True)
class StyTransConfig(AdversarialConfig):
    """The published settings; see the paper's section 4.3 and the released ``main.py``."""

    self_weight: Annotated[float, Field(ge=0)] = field(
        default=0.25, metadata={"help": "weight of self-reconstruction"}
    )
    cycle_weight: Annotated[float, Field(ge=0)] = field(
        default=0.5, metadata={"help": "weight of cycle reconstruction"}
    )
    style_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the discriminator's verdict"}
    )
    discriminator: Mode = field(
        default="multi",
        metadata={"help": "multi: which style, or a rewrite; conditional: does a style fit"},
    )

    @classmethod
    def for_direction(cls, direction: Direction) -> StyTransConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def small(cls, direction: Direction) -> StyTransConfig:
        """A quarter of the published size, with larger steps, and as many of both networks.

        The warm-up ends while it still copies badly: once it copies well, its soft words are
        nearly hard, and the discriminator's verdict hardly reaches it.
        """
        return replace(
            cls.for_direction(direction),
            dimension=128,
            layers=2,
            min_count=4,
            batch_size=32,
            learning_rate=1e-3,
            warm_up=200,
            rounds=600,
            discriminator_steps=1,
            generator_steps=1,
            validate_every=50,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> StyTransConfig:  # noqa: ARG003
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


class _Learner(Learner):
    """Warm-up, then rounds of discriminator and generator steps (Algorithm 3 of the paper)."""

    def __init__(self, system: StyTrans, corpus: Corpus) -> None:
        config = system.config
        self._system, self._corpus, self._config = system, corpus, config
        self.discriminator = Discriminator(
            len(system.vocabulary),
            config.shape,
            config.max_length,
            conditional=config.discriminator == "conditional",
        )
        self.network = nn.ModuleDict(
            {"generator": system.generator, "discriminator": self.discriminator}
        )
        self.optimizers = {
            name: torch.optim.Adam(part.parameters(), lr=config.learning_rate)
            for name, part in self.network.items()
        }
        self._rounds = config.schedule
        self.steps = self._rounds.steps
        self.validate_every = config.validate_every * self._rounds.length
        self.seed = config.seed
        self._batches = corpus.both(config.batch_size, config.seed, grouping=config.grouping)

    def update(self, step: int) -> Update:
        name = self._rounds.phase(step)
        losses = {
            "warm_up": self._self_loss,
            "discriminator": self._discriminator_loss,
            "generator": self._generator_loss,
        }
        return Update(
            name=name,
            optimizers=("discriminator",) if name == "discriminator" else ("generator",),
            loss=losses[name],
            order=self._batches,
            number=step,
            # The released code clips only after the warm-up.
            clip=None if name == "warm_up" else self._config.clip,
        )

    def _self_loss(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        words, styles = self._batch(part)
        logits = self._system.generator.teach(words, lengths_of(words), styles, words)
        return {"self": self._config.self_weight * summed_word_loss(logits, words) / len(whole)}

    def _generator_loss(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        config, generator = self._config, self._system.generator
        words, styles = self._batch(part)
        rewrite = self._rewritten(words, 1 - styles)
        back = generator.teach(rewrite, lengths_of(rewrite), styles, words)
        convinced = self.discriminator.doubt(rewrite, lengths_of(rewrite), 1 - styles).sum()
        return {
            **self._self_loss(part, whole),
            "cycle": config.cycle_weight * summed_word_loss(back, words) / len(whole),
            "style": config.style_weight * convinced / len(whole),
        }

    def _discriminator_loss(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        words, styles = self._batch(part)
        with torch.no_grad():  # rewrites as they are: the generator does not learn here
            own, other = self._rewritten(words, styles), self._rewritten(words, 1 - styles)
        repeated, rewritten = (own, lengths_of(own)), (other, lengths_of(other))
        losses = self.discriminator.losses(words, styles, repeated, rewritten)
        return {name: loss / len(whole) for name, loss in losses.items()}

    def _rewritten(self, words: Tensor, styles: Tensor) -> Tensor:
        return self._system.generator.unroll(
            words, lengths_of(words), styles, temperature=self._config.temperature
        )

    def _batch(self, part: np.ndarray) -> tuple[Tensor, Tensor]:
        return self._corpus.batch(part, self._system.generator.start.device)

    def validate(self) -> Mapping[str, float]:
        return self._corpus.judge.scores(self._system.rewritten)


@dataclass(frozen=True)
class StyTrans(System):
    """One model for a pair of styles, which rewrites both ways.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        generator: the network.
    """

    KIND: ClassVar[str] = "stytrans"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = "Dai et al. (2019), Style Transformer; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch",)
    BATCH_SIZE: ClassVar[int] = 512  # more than are written at once: they are sorted by length
    Config: ClassVar[type[SystemConfig]] = StyTransConfig

    card: SystemCard
    vocabulary: Vocabulary
    generator: Generator

    @classmethod
    def train(cls, data: TrainingData, config: StyTransConfig, run: Run = IN_MEMORY) -> StyTrans:
        """Learn from the sentences of both styles; validation sentences choose the weights.

        Raises:
            InputError: a style has too few sentences.
        """
        corpus = Corpus.of(
            data,
            min_count=config.min_count,
            max_length=config.max_length,
            held_out=config.hold_out,
            seed=config.seed,
        )
        torch.manual_seed(config.seed)
        generator = Generator(len(corpus.vocabulary), config.shape, config.max_length)
        system = cls(cls.planned(data, config), corpus.vocabulary, generator)
        learner = _Learner(system, corpus)
        learned = learn(learner, run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @property
    def config(self) -> StyTransConfig:
        """The settings of its card."""
        return read_settings(StyTransConfig, self.card.settings, self.KIND)

    def rewritten(self, sentences: Sequence[str], side: int) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style."""
        rows = [self.vocabulary.encode(s.split(), self.config.max_length) for s in sentences]
        device = self.generator.start.device

        def write(batch: list[int]) -> list[str]:
            words = padded([rows[i] for i in batch]).to(device)
            styles = torch.full((len(batch),), 1 - side, device=device)
            with torch.inference_mode():
                written = self.generator.unroll(
                    words, lengths_of(words), styles, temperature=None, forbidden=(PAD, UNKNOWN)
                )
            return [" ".join(self.vocabulary.decode(ids)) for ids in written.tolist()]

        return by_length(rows, _TOGETHER, write)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest words, one after the other; the unknown word is never written."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        return [text.cleaning(words) for words in self.rewritten(sources, side)]

    def write(self, folder: Path) -> None:
        """Write ``vocabulary.json`` and ``generator.safetensors``."""
        self.vocabulary.save(folder)
        save_weights(self.generator, folder / _WEIGHTS)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> StyTrans:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(StyTransConfig, card.settings, cls.KIND)
            generator = Generator(len(vocabulary), config.shape, config.max_length)
            generator.load_state_dict(load_file(folder / _WEIGHTS))
        except (ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a stytrans system: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        return cls(card, vocabulary, generator.to(placed).eval().requires_grad_(False))
