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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Count, Natural, Positive, Share, setting
from .training.loop import Learner, Terms, Update
from .training.networks import Decoder, Encoder, Shape
from .training.sampler import Order
from .training.words import END, PAD, UNKNOWN
from .word_system import Corpus, WordConfig, WordSystem


@dataclass(frozen=True, kw_only=True)
class CtatSettings:
    """How ``z`` is edited; see Algorithm 1 of the paper."""

    weights: tuple[Positive, ...] = setting(
        (),
        "sizes of the first modification, tried in turn until one convinces the "
        "classifier; none: the one that validation chose",
    )
    iterations: Natural = setting(5, "most modifications of a sentence for a weight; 0: none")
    decay: Annotated[float, Field(gt=0, le=1)] = setting(
        0.9, "of the weight, with each modification"
    )
    tolerance: Share = setting(
        0.001, "a sentence is done when its target style is this close to certain"
    )


@dataclass(frozen=True, kw_only=True)
class CtatConfig(WordConfig):
    """The published settings; see the released ``main.py`` and ``model.py``."""

    dimension: Annotated[int, Field(ge=4)] = setting(
        256, "model size, and that of the latent vector"
    )
    heads: Count = setting(4, "attention heads")
    layers: Count = setting(2, "layers of each stack")
    dropout: Share = setting(0.1, "dropout")
    gru: bool = setting(False, "true: a GRU before the sum, as in the paper's text")
    mask_pads: bool = setting(True, "false: padding is summed too, as in the released code")
    min_count: Count = setting(5, "sentences' occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        60, "longest sentence, its end included; the rest is cut"
    )
    batch_size: Count = setting(128, "sentences a step")
    epochs: Count = setting(200, "times that every sentence is seen")
    factor: Positive = setting(1.0, "of the autoencoder's learning rate (Noam)")
    warm_up: Count = setting(2000, "steps in which that rate rises")
    smoothing: Share = setting(0.1, "label smoothing of the reconstruction")
    classifier_rate: Positive = setting(1e-4, "learning rate of the classifier (Adam)")
    weights: tuple[Positive, ...] = setting(
        (1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
        "sizes of the first modification, among which validation chooses",
    )
    grouping: Count = setting(1, "batches that are sorted by length together")
    validate_every: Count = setting(2000, "steps between validations")

    def __post_init__(self) -> None:
        if self.dimension % self.heads:
            raise InputError(f"dimension {self.dimension} is not a multiple of heads {self.heads}")
        if not self.weights:
            raise InputError("setting weights of ctat: give at least one")

    @classmethod
    def small(cls, direction: Direction) -> CtatConfig:  # noqa: ARG003
        """One layer, short sentences, few epochs at a higher rate, edits of wider range."""
        return cls(
            layers=1,
            max_length=20,
            batch_size=64,
            epochs=3,
            warm_up=400,
            dropout=0.0,
            classifier_rate=1e-3,
            weights=(2.0, 4.0, 8.0, 16.0, 32.0),
            grouping=20,
            validate_every=700,
            hold_out=200,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> CtatConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            dimension=32,
            heads=2,
            layers=1,
            max_length=12,
            min_count=1,
            batch_size=16,
            epochs=3,
            factor=2.0,
            warm_up=20,
            classifier_rate=1e-3,
            weights=(1.0, 4.0),
            validate_every=20,
            hold_out=8,
        )


HIDDEN = (100, 50)  # the classifier's hidden layers, as released


class SinusoidalWords(nn.Module):
    """Word vectors times sqrt(D), and fixed positions (Vaswani et al. 2017, sections 3.4, 3.5)."""

    positions: Tensor

    def __init__(self, n_words: int, shape: Shape, max_length: int) -> None:
        super().__init__()
        dimension = shape.dimension
        self.vectors = nn.Embedding(n_words, dimension)
        self.dropout = nn.Dropout(shape.dropout)
        frequencies = 10000.0 ** (-torch.arange(0, dimension, 2) / dimension)
        angles = torch.arange(max_length)[:, None] * frequencies  # (T, D / 2)
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :dimension]
        self.register_buffer("positions", waves, persistent=False)

    def forward(self, words: Tensor, first: int = 0) -> Tensor:
        """Vectors (B, T, D) of ids (B, T); ``first`` is the position of the first of them."""
        scaled = self.vectors(words) * self.vectors.embedding_dim**0.5
        placed = scaled + self.positions[first : first + words.shape[1]]
        return cast(Tensor, self.dropout(placed))


class LatentAutoencoder(nn.Module):
    """A sentence to one vector ``z``, and back.

    Args:
        n_words: V.
        shape: of both stacks.
        max_length: longest sentence, its end included.
        gru: whether a GRU reads the encoder's output before it is summed: in the paper's text,
            not in its code.
        mask_pads: whether padding is left out of the sum; if not, rows are padded to
            ``max_length``, so that a sentence's ``z`` does not depend on its batch.
    """

    def __init__(
        self, n_words: int, shape: Shape, max_length: int, *, gru: bool, mask_pads: bool
    ) -> None:
        super().__init__()
        self.max_length, self.mask_pads = max_length, mask_pads
        self.words = SinusoidalWords(n_words, shape, max_length)  # the decoder's too
        self.start = nn.Parameter(torch.zeros(1, shape.dimension))
        self.encoder, self.decoder = Encoder(shape), Decoder(shape)
        self.gru = nn.GRU(shape.dimension, shape.dimension, batch_first=True) if gru else None
        self.output = nn.Linear(shape.dimension, n_words)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def encode(self, words: Tensor) -> Tensor:
        """``z`` (B, D) of padded ids (B, T): the sum of sigmoid(encoder) over the words."""
        if not self.mask_pads:
            words = F.pad(words, (0, self.max_length - words.shape[1]), value=PAD)
        seen = words != PAD
        encoded = self.encoder(self.words(words), seen)
        if self.gru is not None:
            encoded, _ = self.gru(encoded + self.words.positions[: words.shape[1]])
        gates = torch.sigmoid(encoded)
        return (gates * seen[..., None] if self.mask_pads else gates).sum(dim=1)

    def teach(self, latent: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), given ``z`` and the words before."""
        before = torch.cat([self._start(len(target)), self.words(target[:, :-1], first=1)], dim=1)
        memory, mask = self._memory(latent)
        vectors, _ = self.decoder(before, memory, mask)
        logits: Tensor = self.output(vectors)
        return logits

    def greedy(self, latent: Tensor, forbidden: Sequence[int] = ()) -> Tensor:
        """The likeliest words, one after the other: ids (B, L), L at most ``max_length``."""
        memory, mask = self._memory(latent)
        vector, seen = self._start(len(latent)), None
        ended = torch.zeros(len(latent), dtype=torch.bool, device=latent.device)
        written: list[Tensor] = []
        while len(written) < self.max_length and not ended.all():
            vectors, seen = self.decoder(vector, memory, mask, seen)
            logits = self.output(vectors)[:, -1]
            first = () if written else (END,)  # a rewrite has at least one word
            logits[:, [*forbidden, *first]] = -torch.inf
            word = logits.argmax(dim=-1, keepdim=True)
            written.append(word)
            ended |= word[:, 0] == END
            if len(written) < self.max_length:
                vector = self.words(word, first=len(written))
        return torch.cat(written, dim=1)

    def _start(self, batch: int) -> Tensor:
        # As a word of its own would be: scaled, at position 0.
        placed = self.start * self.start.shape[1] ** 0.5 + self.words.positions[:1]
        return self.words.dropout(placed).expand(batch, 1, -1)

    def _memory(self, latent: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        mask = torch.ones(len(latent), 1, dtype=torch.bool, device=latent.device)
        return self.decoder.memory(latent[:, None]), mask


class LatentClassifier(nn.Module):
    """The probability that ``z`` is of style 1, as a logit."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        first, second = HIDDEN
        self.layers = nn.Sequential(
            nn.Linear(dimension, first),
            nn.LeakyReLU(0.2),
            nn.Linear(first, second),
            nn.LeakyReLU(0.2),
            nn.Linear(second, 1),
        )

    def forward(self, latent: Tensor) -> Tensor:
        """Logits (B) of ``z`` (B, D)."""
        return cast(Tensor, self.layers(latent)[:, 0])


class Editor(nn.Module):
    """Both networks, and the weight of the edit that validation chose: what is trained and stored.

    Attributes:
        weight: scalar, see :func:`tstbench.trainers.ctat.edited`.
    """

    weight: Tensor

    def __init__(self, autoencoder: LatentAutoencoder, dimension: int, weight: float) -> None:
        super().__init__()
        self.autoencoder = autoencoder
        self.classifier = LatentClassifier(dimension)
        self.register_buffer("weight", torch.tensor(weight))


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

    def _loss(self, batch: np.ndarray) -> Terms:
        editor = self._system.network
        words, styles = self._corpus.batch(batch, editor.weight.device)
        latent = editor.autoencoder.encode(words)
        logits = editor.autoencoder.teach(latent, words)
        verdict = editor.classifier(latent.detach())  # the latent does not learn the style
        told = F.binary_cross_entropy_with_logits(verdict, styles.float(), reduction="sum")
        rebuilt = smoothed_word_loss(logits, words, self._config.smoothing)
        return {
            "reconstruction": rebuilt / int(self._lengths[batch].sum()),
            "classifier": told / len(batch),
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


def smoothed_word_loss(logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """Sum over words of KL(smoothed truth || model): 0 where the model equals the smoothed truth.

    The true word has probability ``1 - smoothing``; all others except padding share the rest.

    Args:
        logits: (B, T, V).
        target: (B, T); padding is left out.
        smoothing: in [0, 1).
    """
    total = logits.logsumexp(dim=-1)  # log p = logits - total, which is never formed whole
    truth = logits.gather(-1, target[..., None])[..., 0] - total
    share = smoothing / (logits.shape[-1] - 2)
    every = logits.sum(dim=-1) - logits.shape[-1] * total
    others = every - truth - (logits[..., PAD] - total)
    cross_entropy = -(1 - smoothing) * truth - share * others
    entropy = -math.log(1 - smoothing) * (1 - smoothing)
    if smoothing:
        entropy -= math.log(share) * smoothing
    return ((cross_entropy - entropy) * (target != PAD)).sum()
