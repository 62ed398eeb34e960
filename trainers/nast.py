"""NAST: a non-autoregressive generator with word alignment.

Huang et al. (Findings of ACL 2021), "NAST: A Non-Autoregressive Generator with Word Alignment for
Unsupervised Text Style Transfer". It learns as the Style Transformer does (:mod:`.stytrans`): from
self-reconstruction, here of a noisy sentence, from cycle reconstruction and from a discriminator.
But it writes all words at once, each from a source word it is aligned to (section 3.2): from the
word at the same place (*simple*), or from places that a small autoregressive model predicts, which
leaves words out and adds others (*learnable*; ``nets/alignment.py``). The words of a rewrite stay
soft while it learns: relaxed samples with Gumbel noise.

Where we differ from the released code (thu-coai/NAST): its embeddings start at zero, ours at
random; its position model skips its last layer norm while it learns, but not while it writes, ours
always has it; it chooses weights for each direction by the square root of (ACC - 0.8) times
(self-BLEU - 0.4), both at least 0, which is 0 for every weak model; ours chooses one set of weights
for both by the mean of ACC times self-BLEU, as all systems here do. Its sentences share one noise
per batch position; ours have their own, whatever batch they are in. It never removes unknown words
from an answer; ours never write any.

TSTBench's own runs differ from the paper's: see :meth:`NastConfig.for_direction` and
``warm_up_cycle``; paper_index.md has the values it tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import dataset_facts, language_of
from ..datasets_scripts.training import TrainingData
from ..errors import InputError
from ..metrics.scorers.device import Device, Placement
from ..metrics.text import preparation
from .learning.adversarial import AdversarialConfig, Mode, Phase
from .learning.checkpoints import save_weights
from .learning.corpus import Corpus, by_length
from .learning.loop import Learner, Terms, Update, learn
from .learning.noise import Noise, cumulative, noisy, shares
from .learning.run import IN_MEMORY, Run
from .learning.vocabulary import END, PAD, UNKNOWN, Vocabulary, padded
from .nets.losses import summed_word_loss
from .nets.parallel_generator import Input, ParallelGenerator
from .nets.style_transformer import Discriminator, lengths_of
from .settings import read_settings
from .system import Request, System, SystemCard, SystemConfig, Task
from .system_card import Family

_WEIGHTS = "generator.safetensors"
_TOGETHER = 64  # sentences that are written at once


@dataclass(frozen=True, kw_only=True)
class NastConfig(AdversarialConfig):
    """The published settings for Yelp; see the paper's section 4.2 and the released ``run.py``."""

    warm_up: Annotated[int, Field(ge=0)] = field(
        default=1000, metadata={"help": "first steps, of self-reconstruction"}
    )
    warm_up_cycle: bool = field(
        default=False, metadata={"help": "cycle reconstruction in the warm-up, as TSTBench ran it"}
    )
    alignment: Literal["simple", "learnable"] = field(
        default="learnable",
        metadata={"help": "simple: a word for each word; learnable: words are left out and added"},
    )
    decoder_input: Input = field(
        default="encoded", metadata={"help": "encoded: encodings of source words; raw: vectors"}
    )
    soft_words: Literal["gumbel", "softmax"] = field(
        default="gumbel", metadata={"help": "gumbel: relaxed samples; softmax: probabilities"}
    )
    blank: Annotated[float, Field(ge=0, le=1)] = field(
        default=0.1, metadata={"help": "noise: share of words that become unknown"}
    )
    drop: Annotated[float, Field(ge=0, lt=1)] = field(
        default=0.05, metadata={"help": "noise: share of words that are left out"}
    )
    insert: Annotated[float, Field(ge=0, lt=1)] = field(
        default=1 / 0.95 - 1, metadata={"help": "noise: chance of a word of the other style"}
    )
    self_weight: Annotated[float, Field(ge=0)] = field(
        default=0.5, metadata={"help": "weight of self-reconstruction"}
    )
    cycle_weight: Annotated[float, Field(ge=0)] = field(
        default=0.5, metadata={"help": "weight of cycle reconstruction"}
    )
    position_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the jumps' losses"}
    )
    forward_weight: Annotated[float, Field(ge=0)] = field(
        default=1.5, metadata={"help": "weight of the verdict on rewrites of the source style"}
    )
    back_weight: Annotated[float, Field(ge=0)] = field(
        default=1.0, metadata={"help": "weight of the verdict on rewrites of the target style"}
    )
    discriminator: Mode = field(
        default="conditional",
        metadata={"help": "multi: which style, or a rewrite; conditional: does a style fit"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alignment == "simple" and (self.drop or self.insert):
            raise InputError(
                "alignment simple writes a word for each word, so noise must not change a "
                "sentence's length: set drop and insert to 0"
            )

    @property
    def noise(self) -> Noise:
        """Of self-reconstruction."""
        return Noise(self.blank, self.drop, self.insert)

    @classmethod
    def for_direction(cls, direction: Direction) -> NastConfig:
        """Yelp: learnable alignment; other corpora: simple, and sentences of 32 words.

        The larger weight of the verdict is for rewrites of a dataset's first style.
        """
        first = dataset_facts(direction.dataset).styles[0] == direction.source_style
        weights = (1.5, 1.0) if first else (1.0, 1.5)
        config = cls(forward_weight=weights[0], back_weight=weights[1])
        if direction.dataset == "yelp":
            return config
        return replace(
            config,
            alignment="simple",
            warm_up=500,
            max_length=32,
            blank=0.2,
            drop=0.0,
            insert=0.0,
        )

    @classmethod
    def small(cls, direction: Direction) -> NastConfig:
        """As STYTRANS: a quarter of the published size, larger steps, a short warm-up."""
        return replace(
            cls.for_direction(direction),
            dimension=128,
            layers=2,
            min_count=4,
            batch_size=32,
            learning_rate=1e-3,
            warm_up=150,
            rounds=400,
            discriminator_steps=1,
            generator_steps=1,
            validate_every=25,
            hold_out=250,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> NastConfig:  # noqa: ARG003
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
    """Warm-up, then rounds of discriminator and generator steps (section 3.4)."""

    def __init__(self, system: Nast, corpus: Corpus) -> None:
        config = system.config
        self._system, self._corpus, self._config = system, corpus, config
        n_words = len(system.vocabulary)
        self.discriminator = Discriminator(
            n_words,
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
        sides = corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :]
        documents = shares(sides[0], n_words) + shares(sides[1], n_words)
        # What is inserted into a sentence is of the other style.
        self._foreign = [cumulative(side, n_words, documents) for side in reversed(sides)]

    def update(self, step: int) -> Update:
        name = self._rounds.phase(step)
        losses: dict[Phase, Callable[[np.ndarray, np.ndarray], Terms]] = {
            "warm_up": partial(self._warm_up_loss, step),
            "discriminator": self._discriminator_loss,
            "generator": partial(self._generator_loss, step),
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

    def _warm_up_loss(self, step: int, part: np.ndarray, whole: np.ndarray) -> Terms:
        terms = self._self_loss(step, part, whole)
        if self._config.warm_up_cycle:
            words, styles = self._batch(part)
            terms |= self._cycle_loss(self._rewritten(words, 1 - styles), words, styles, whole)
        return terms

    def _generator_loss(self, step: int, part: np.ndarray, whole: np.ndarray) -> Terms:
        config = self._config
        self.discriminator.eval()
        words, styles = self._batch(part)
        rewrite = self._rewritten(words, 1 - styles)
        doubt = self.discriminator.doubt(*rewrite, 1 - styles)
        weight = torch.where(styles == 0, config.forward_weight, config.back_weight)
        return {
            **self._self_loss(step, part, whole),
            **self._cycle_loss(rewrite, words, styles, whole),
            "style": (weight * doubt).sum() / len(whole),
        }

    def _self_loss(self, step: int, part: np.ndarray, whole: np.ndarray) -> dict[str, Tensor]:
        words, styles = self._batch(part)
        damaged = padded([self._noisy(int(index), step) for index in part]).to(words.device)
        return self._word_loss("self", (damaged, lengths_of(damaged)), words, styles, whole)

    def _cycle_loss(
        self, rewrite: tuple[Tensor, Tensor], words: Tensor, styles: Tensor, whole: np.ndarray
    ) -> dict[str, Tensor]:
        return self._word_loss("cycle", rewrite, words, styles, whole)

    def _word_loss(
        self,
        name: Literal["self", "cycle"],
        source: tuple[Tensor, Tensor],
        words: Tensor,
        styles: Tensor,
        whole: np.ndarray,
    ) -> dict[str, Tensor]:
        config = self._config
        weight = config.self_weight if name == "self" else config.cycle_weight
        logits, jumps = self._system.generator.teach(*source, styles, words)
        terms = {name: weight * summed_word_loss(logits, words) / len(whole)}
        if jumps is not None:
            terms[f"{name}_jumps"] = config.position_weight * jumps / len(whole)
        return terms

    def _discriminator_loss(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        words, styles = self._batch(part)
        self._system.generator.eval()
        with torch.no_grad():  # rewrites as they are: the generator does not learn here
            own, other = self._rewritten(words, styles), self._rewritten(words, 1 - styles)
        losses = self.discriminator.losses(words, styles, own, other)
        return {name: loss / len(whole) for name, loss in losses.items()}

    def _rewritten(self, words: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Soft words (B, S, V) in these styles, and their lengths (B)."""
        config = self._config
        logits, lengths = self._system.generator.write(words, lengths_of(words), styles)
        logits = logits / config.temperature
        gumbel = config.soft_words == "gumbel"
        soft = F.gumbel_softmax(logits, dim=-1) if gumbel else F.softmax(logits, dim=-1)
        # Simple alignment cannot shorten a sentence but by an early end.
        return soft, lengths_of(soft) if config.alignment == "simple" else lengths

    def _noisy(self, index: int, step: int) -> list[int]:
        random = np.random.default_rng([self.seed, step, index])
        foreign = self._foreign[int(index >= self._corpus.n_source)]
        row = self._corpus.rows[index]
        return noisy(row, self._config.noise, foreign, self._config.max_length, random)

    def _batch(self, part: np.ndarray) -> tuple[Tensor, Tensor]:
        return self._corpus.batch(part, self._system.generator.output.weight.device)

    def validate(self) -> Mapping[str, float]:
        return self._corpus.judge.scores(self._system.rewritten)


@dataclass(frozen=True)
class Nast(System):
    """One model for a pair of styles, which rewrites both ways.

    Attributes:
        card: its settings and training data.
        vocabulary: of the training sentences.
        generator: the network.
    """

    KIND: ClassVar[str] = "nast"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = "Huang et al. (2021), NAST; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch",)
    BATCH_SIZE: ClassVar[int] = 512  # more than are written at once: they are sorted by length
    Config: ClassVar[type[SystemConfig]] = NastConfig

    card: SystemCard
    vocabulary: Vocabulary
    generator: ParallelGenerator

    @classmethod
    def train(cls, data: TrainingData, config: NastConfig, run: Run = IN_MEMORY) -> Nast:
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
        generator = cls.network(len(corpus.vocabulary), config)
        system = cls(cls.planned(data, config), corpus.vocabulary, generator)
        learned = learn(_Learner(system, corpus), run, system.card.recipe)
        return replace(system, card=replace(system.card, scores=dict(learned.scores)))

    @staticmethod
    def network(n_words: int, config: NastConfig) -> ParallelGenerator:
        """A generator with random weights."""
        return ParallelGenerator(
            n_words,
            config.shape,
            config.max_length,
            learnable=config.alignment == "learnable",
            reads=config.decoder_input,
        )

    @property
    def config(self) -> NastConfig:
        """The settings of its card."""
        return read_settings(NastConfig, self.card.settings, self.KIND)

    def rewritten(self, sentences: Sequence[str], side: int) -> list[str]:
        """Tokenised sentences of a style (0: source, 1: target), in the other style."""
        rows = [self.vocabulary.encode(s.split(), self.config.max_length) for s in sentences]
        device = self.generator.output.weight.device

        def write(batch: list[int]) -> list[str]:
            words = padded([rows[i] for i in batch]).to(device)
            styles = torch.full((len(batch),), 1 - side, device=device)
            with torch.inference_mode():
                logits, lengths = self.generator.write(words, lengths_of(words), styles)
                logits[..., [PAD, UNKNOWN]] = -torch.inf
                written = logits.argmax(dim=-1)
                places = torch.arange(written.shape[1], device=device)
                written = written.masked_fill(places >= lengths[:, None], END)
            return [" ".join(self.vocabulary.decode(ids)) for ids in written.tolist()]

        return by_length(rows, _TOGETHER, write)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest word at each place; the unknown word is never written."""
        text = preparation(language_of(task.direction))
        sources = text.for_language_model([request.source for request in batch])
        side = self.card.directions.index(task.direction.name)
        return [text.cleaning(words) for words in self.rewritten(sources, side)]

    def write(self, folder: Path) -> None:
        """Write ``vocabulary.json`` and ``generator.safetensors``."""
        self.vocabulary.save(folder)
        save_weights(self.generator, folder / _WEIGHTS)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Nast:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: a file does not have the written format, or there is no such device.
        """
        try:
            vocabulary = Vocabulary.load(folder)
            config = read_settings(NastConfig, card.settings, cls.KIND)
            generator = cls.network(len(vocabulary), config)
            generator.load_state_dict(load_file(folder / _WEIGHTS))
        except (ValueError, TypeError, RuntimeError, OSError, SafetensorError) as error:
            raise InputError(f"{folder} is not a nast system: {error!r}") from error
        placed = Placement(cast(Device, device)).resolve()
        return cls(card, vocabulary, generator.to(placed).eval().requires_grad_(False))
