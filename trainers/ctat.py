"""CTAT: editing an entangled latent representation.

Wang, Hua and Wan (NeurIPS 2019), "Controllable Unsupervised Text Attribute Transfer via Editing
Entangled Latent Representation". A Transformer autoencoder squeezes a sentence into one vector
``z`` (section 3.1), a small classifier tells the style of ``z`` (3.2). To transfer, ``z`` is moved
along the classifier's gradient until the classifier believes in the other style (Algorithm 1,
Fast-Gradient-Iterative-Modification), and decoded. Nothing else about the style is learned.

Where we differ from the released code: it sums padding into ``z`` (``mask_pads = false`` does too)
and leaves out the paper's GRU, as we do (``gru = true`` has it); it decodes after five
modifications for each of seven weights and leaves the choice to the reader, ours is made on
validation sentences; we stop at the paper's threshold, sentence by sentence. Unknown words are
never written, and the vocabulary is of training sentences alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .ctat_config import CtatConfig, CtatSettings
from .learning.corpus import Corpus
from .learning.loop import Learner, Terms, Update
from .learning.order import Order
from .learning.vocabulary import PAD, UNKNOWN
from .nets.latent_autoencoder import Editor, LatentAutoencoder, LatentClassifier
from .nets.losses import smoothed_word_loss
from .nets.transformer import Shape
from .word_config import WordConfig
from .word_system import WordSystem


def noam(step: int, dimension: int, factor: float, warm_up: int) -> float:
    """The learning rate of a step, counted from 1 (Vaswani et al. 2017, equation 3).

    >>> round(noam(2000, 256, 1.0, 2000), 6) == round(256**-0.5 * 2000**-0.5, 6)
    True
    """
    return float(factor * dimension**-0.5 * min(step**-0.5, step * warm_up**-1.5))


def edited(
    latent: Tensor,
    target: Tensor,
    classifier: LatentClassifier,
    weights: Sequence[float],
    settings: CtatSettings,
) -> Tensor:
    """Fast-Gradient-Iterative-Modification (Algorithm 1): move ``z`` to the target style.

    For each weight in turn, from the original ``z``: ``z <- z - w * grad BCE(C(z), y')``, then
    ``w <- decay * w``, until ``|C(z) - y'| < tolerance``. A sentence keeps the first weight that
    brings it there within the iterations, or else the last one's result.

    Args:
        latent: ``z`` (B, D).
        target: ``y'`` (B), 0.0 or 1.0.
        classifier: its weights get no gradient.
        weights: sizes of the first modification.
        settings: iterations, decay and tolerance.

    Returns:
        (B, D), without gradient. Sentences do not influence one another.
    """
    origin = latent.detach()
    found = origin
    done = torch.zeros(len(origin), dtype=torch.bool, device=origin.device)
    with torch.enable_grad():  # whoever validates or transfers has switched gradients off
        for first in weights:
            z, weight = torch.where(done[:, None], found, origin), first
            for _ in range(settings.iterations):
                z = z.detach().requires_grad_()
                logits = classifier(z)
                done = done | ((logits.sigmoid() - target).abs() < settings.tolerance)
                if done.all():
                    break
                loss = F.binary_cross_entropy_with_logits(logits, target, reduction="sum")
                (gradient,) = torch.autograd.grad(loss, z)
                z = torch.where(done[:, None], z, z - weight * gradient)
                weight *= settings.decay
            found = z.detach()
            done = done | ((classifier(found).sigmoid() - target).abs() < settings.tolerance)
    return found


class _Learner(Learner):
    """Autoencoder and classifier side by side, each with its own optimiser (section 3.2)."""

    def __init__(self, system: Ctat, corpus: Corpus) -> None:
        config: CtatConfig = system.config
        self._system, self._corpus, self._config = system, corpus, config
        self.network = system.network
        self.optimizers = {
            "autoencoder": torch.optim.Adam(
                system.network.autoencoder.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9
            ),
            "classifier": torch.optim.Adam(
                system.network.classifier.parameters(), lr=config.classifier_rate
            ),
        }
        lengths = [len(row) for row in corpus.rows]
        self._batches = Order(lengths, config.batch_size, config.seed, config.grouping)
        self._lengths = np.asarray(lengths)
        self.steps = config.epochs * self._batches.steps_per_epoch
        self.validate_every = config.validate_every
        self.seed = config.seed

    def update(self, step: int) -> Update:
        config = self._config
        rate = noam(step + 1, config.dimension, config.factor, config.warm_up)
        return Update(
            name="step",
            optimizers=("autoencoder", "classifier"),
            loss=self._loss,
            order=self._batches,
            number=step,
            rates={"autoencoder": rate},
        )

    def _loss(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        editor = self._system.network
        words, styles = self._corpus.batch(part, editor.weight.device)
        latent = editor.autoencoder.encode(words)
        logits = editor.autoencoder.teach(latent, words)
        verdict = editor.classifier(latent.detach())  # the latent does not learn the style
        told = F.binary_cross_entropy_with_logits(verdict, styles.float(), reduction="sum")
        rebuilt = smoothed_word_loss(logits, words, self._config.smoothing)
        return {
            "reconstruction": rebuilt / int(self._lengths[whole].sum()),
            "classifier": told / len(whole),
        }

    def validate(self) -> Mapping[str, float]:
        """Scores of the best weight of an edit, which the network keeps beside its own weights."""
        judge, found = self._corpus.judge, {}
        for weight in self._config.weights:
            how = CtatSettings(weights=(weight,))
            found[weight] = judge.scores(partial(self._system.rewritten, settings=how))
        best = max(found, key=lambda weight: found[weight]["selection"])
        self._system.network.weight.fill_(best)
        copies = CtatSettings(iterations=0)
        rebuilt = judge.scores(partial(self._system.rewritten, settings=copies))
        content = (rebuilt["self_bleu_forward"] + rebuilt["self_bleu_back"]) / 2
        return {**found[best], "weight": best, "reconstruction": content}


@dataclass(frozen=True)
class Ctat(WordSystem):
    """An autoencoder whose latent vectors are edited, by ``weight``."""

    KIND: ClassVar[str] = "ctat"
    ORIGIN: ClassVar[str] = "Wang et al. (2019), latent editing; TSTBench's implementation"
    WEIGHTS: ClassVar[str] = "editor.safetensors"
    Config: ClassVar[type[WordConfig]] = CtatConfig
    Settings: ClassVar[type] = CtatSettings

    network: Editor

    @staticmethod
    def new_network(n_words: int, config: CtatConfig) -> Editor:
        """The autoencoder and the classifier, with random weights."""
        shape = Shape(config.dimension, config.heads, config.layers, config.dropout)
        autoencoder = LatentAutoencoder(
            n_words, shape, config.max_length, gru=config.gru, mask_pads=config.mask_pads
        )
        return Editor(autoencoder, config.dimension, config.weights[0])

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the networks."""
        return _Learner(self, corpus)

    def written(self, words: Tensor, style: int, settings: CtatSettings) -> Tensor:
        """Encode, edit, and write the likeliest words (B, S), one after the other."""
        network = self.network
        target = torch.full((len(words),), float(style), device=words.device)
        weights = settings.weights or (float(network.weight),)
        latent = network.autoencoder.encode(words)
        moved = edited(latent, target, network.classifier, weights, settings)
        return network.autoencoder.greedy(moved, forbidden=(PAD, UNKNOWN))
