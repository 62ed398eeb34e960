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

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from ..datasets_scripts.directions import Direction
from ..settings import NotNegative, Positive, Probability, setting
from .learning.adversarial import AdversarialConfig, AdversarialLearner
from .learning.corpus import Corpus
from .learning.loop import Learner, Terms
from .learning.noise import blanked
from .learning.vocabulary import PAD, UNKNOWN, padded
from .nets.losses import summed_word_loss
from .nets.style_transformer import Generator, lengths_of
from .word_config import WordConfig
from .word_system import WordSystem


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
