"""NAST: a non-autoregressive generator with word alignment.

Huang et al. (Findings of ACL 2021), "NAST: A Non-Autoregressive Generator with Word Alignment for
Unsupervised Text Style Transfer". It learns as the Style Transformer does (:mod:`.stytrans`): from
self-reconstruction, here of a noisy sentence, from cycle reconstruction and from a discriminator.
But it writes all words at once, each from a source word it is aligned to (section 3.2): from the
word at the same place (*simple*), or from places that a small autoregressive model predicts, which
leaves words out and adds others (*learnable*; ``nets/parallel_generator.py``). The words of a
rewrite stay soft while it learns: relaxed samples with Gumbel noise.

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

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..datasets_scripts.catalog import dataset_facts
from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Natural, NotNegative, Probability, Share, setting
from .learning.adversarial import AdversarialConfig, AdversarialLearner, Mode
from .learning.corpus import Corpus
from .learning.loop import Learner, Terms
from .learning.noise import Noise, cumulative, noisy, shares
from .learning.vocabulary import END, PAD, UNKNOWN, padded
from .nets.losses import summed_word_loss
from .nets.parallel_generator import Input, ParallelGenerator
from .nets.style_transformer import lengths_of
from .word_config import WordConfig
from .word_system import WordSystem


@dataclass(frozen=True, kw_only=True)
class NastConfig(AdversarialConfig):
    """The published settings for Yelp; see the paper's section 4.2 and the released ``run.py``."""

    warm_up: Natural = setting(1000, "first steps, of self-reconstruction")
    warm_up_cycle: bool = setting(False, "cycle reconstruction in the warm-up, as TSTBench ran it")
    alignment: Literal["simple", "learnable"] = setting(
        "learnable", "simple: a word for each word; learnable: words are left out and added"
    )
    decoder_input: Input = setting("encoded", "encoded: encodings of source words; raw: vectors")
    soft_words: Literal["gumbel", "softmax"] = setting(
        "gumbel", "gumbel: relaxed samples; softmax: probabilities"
    )
    blank: Probability = setting(0.1, "noise: share of words that become unknown")
    drop: Share = setting(0.05, "noise: share of words that are left out")
    insert: Share = setting(1 / 0.95 - 1, "noise: chance of a word of the other style")
    self_weight: NotNegative = setting(0.5, "weight of self-reconstruction")
    cycle_weight: NotNegative = setting(0.5, "weight of cycle reconstruction")
    position_weight: NotNegative = setting(1.0, "weight of the jumps' losses")
    forward_weight: NotNegative = setting(
        1.5, "weight of the verdict on rewrites of the source style"
    )
    back_weight: NotNegative = setting(1.0, "weight of the verdict on rewrites of the target style")
    discriminator: Mode = setting(
        "conditional", "multi: which style, or a rewrite; conditional: does a style fit"
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
    def tstbench(cls, direction: Direction) -> NastConfig:
        """The benchmark's scripts: 50 rounds an epoch, a warm-up with the cycle loss.

        Of what it searched, the paper's values are kept where they are in its grid.
        """
        formality, amazon = direction.dataset.startswith("gyafc"), direction.dataset == "amazon"
        return replace(
            cls.for_direction(direction),
            rounds=50 * (400 if formality else 300),
            warm_up=3000 if formality or amazon else 1000,
            warm_up_cycle=True,
            cycle_weight=0.25,
            learning_rate=5e-4 if formality else 1e-4,
        )

    @classmethod
    def small(cls, direction: Direction) -> NastConfig:
        """As all adversarial ones, with a short warm-up."""
        return replace(super().small(direction), warm_up=150, rounds=400, validate_every=25)


class _Learner(AdversarialLearner):
    """Section 3.4 of the paper."""

    def __init__(self, system: Nast, corpus: Corpus) -> None:
        super().__init__(system.network, system.config, corpus, system.rewritten)
        self._generator, self._config = system.network, system.config
        n_words = len(corpus.vocabulary)
        sides = corpus.rows[: corpus.n_source], corpus.rows[corpus.n_source :]
        documents = shares(sides[0], n_words) + shares(sides[1], n_words)
        # What is inserted into a sentence is of the other style.
        self._foreign = [cumulative(side, n_words, documents) for side in reversed(sides)]

    def warm_up_loss(self, batch: np.ndarray, step: int) -> Terms:
        terms = self._self_loss(batch, step)
        if self._config.warm_up_cycle:
            words, styles = self.batch(batch)
            terms |= self._word_loss("cycle", self.rewritten(words, 1 - styles), words, styles)
        return terms

    def generator_loss(self, batch: np.ndarray, step: int) -> Terms:
        config = self._config
        words, styles = self.batch(batch)
        rewrite = self.rewritten(words, 1 - styles)
        doubt = self.discriminator.doubt(*rewrite, 1 - styles)
        weight = torch.where(styles == 0, config.forward_weight, config.back_weight)
        return {
            **self._self_loss(batch, step),
            **self._word_loss("cycle", rewrite, words, styles),
            "style": (weight * doubt).sum() / len(batch),
        }

    def _self_loss(self, batch: np.ndarray, step: int) -> dict[str, Tensor]:
        words, styles = self.batch(batch)
        damaged = padded([self._noisy(int(index), step) for index in batch]).to(words.device)
        return self._word_loss("self", (damaged, lengths_of(damaged)), words, styles)

    def _word_loss(
        self,
        name: Literal["self", "cycle"],
        source: tuple[Tensor, Tensor],
        words: Tensor,
        styles: Tensor,
    ) -> dict[str, Tensor]:
        config = self._config
        weight = config.self_weight if name == "self" else config.cycle_weight
        logits, jumps = self._generator.teach(*source, styles, words)
        terms: dict[str, Tensor] = {name: weight * summed_word_loss(logits, words) / len(words)}
        if jumps is not None:
            terms[f"{name}_jumps"] = config.position_weight * jumps / len(words)
        return terms

    def discriminator_loss(self, batch: np.ndarray, step: int) -> Terms:  # noqa: ARG002
        words, styles = self.batch(batch)
        with torch.no_grad():  # rewrites as they are: the generator does not learn here
            own, other = self.rewritten(words, styles), self.rewritten(words, 1 - styles)
        losses = self.discriminator.losses(words, styles, own, other)
        return {name: loss / len(batch) for name, loss in losses.items()}

    def rewritten(self, words: Tensor, styles: Tensor) -> tuple[Tensor, Tensor]:
        """Soft words (B, S, V) in these styles, and their lengths (B)."""
        config = self._config
        logits, lengths = self._generator.write(words, lengths_of(words), styles)
        logits = logits / config.temperature
        gumbel = config.soft_words == "gumbel"
        soft = F.gumbel_softmax(logits, dim=-1) if gumbel else F.softmax(logits, dim=-1)
        if config.alignment == "simple":
            # Only an early end shortens a sentence; what is written on padding is no word of it.
            lengths = torch.minimum(lengths, lengths_of(soft))
        return soft, lengths

    def _noisy(self, index: int, step: int) -> list[int]:
        random = np.random.default_rng([self.seed, step, index])
        foreign = self._foreign[int(index >= self._corpus.n_source)]
        row = self._corpus.rows[index]
        return noisy(row, self._config.noise, foreign, self._config.max_length, random)


@dataclass(frozen=True)
class Nast(WordSystem):
    """A NAST; it writes all words at once."""

    KIND: ClassVar[str] = "nast"
    ORIGIN: ClassVar[str] = "Huang et al. (2021), NAST; TSTBench's implementation"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 took words on padding for words of a rewrite
    Config: ClassVar[type[WordConfig]] = NastConfig

    network: ParallelGenerator

    @staticmethod
    def new_network(n_words: int, config: NastConfig) -> ParallelGenerator:
        """The generator, with random weights."""
        return ParallelGenerator(
            n_words,
            config.shape,
            config.max_length,
            learnable=config.alignment == "learnable",
            reads=config.decoder_input,
        )

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def written(self, words: Tensor, style: int, settings: Any) -> Tensor:  # noqa: ARG002
        """The likeliest word (B, S) at each place, behind the likeliest jumps."""
        styles = torch.full((len(words),), style, device=words.device)
        logits, lengths = self.network.write(words, lengths_of(words), styles)
        logits[..., [PAD, UNKNOWN]] = -torch.inf
        ids = logits.argmax(dim=-1)
        places = torch.arange(ids.shape[1], device=ids.device)
        return ids.masked_fill(places >= lengths[:, None], END)
