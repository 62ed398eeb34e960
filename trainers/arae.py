"""ARAE: the adversarially regularised autoencoder, with a decoder for each style.

Zhao et al. (ICML 2018), "Adversarially Regularized Autoencoders", sections 3 and 5.2 (Algorithm 1
and its extension to unaligned transfer). An encoder turns a sentence into a code of unit length; a
decoder for each style rebuilds it. A classifier learns to tell a code's style, and the encoder to
mislead it, so that the other style's decoder may write what the code says. A critic and a generator
of codes from noise (WGAN-GP) keep the codes in a smooth space: the encoder is told, weakly, to
write codes that the critic cannot tell from the generator's.

The settings are those of the released code for Yelp. Where we differ from it: there a batch of the
classifier has one style, so that batch normalisation takes away the very difference that it should
learn; ours has both (``mixed=False`` is theirs). There the critic's gradient only ever reaches the
encoder from sentences of the first style; ours alternate. The small networks are always normalised
by the batch at hand. Sentences that are too long are cut, not left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, NamedTuple, cast

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer

from ..datasets_scripts.directions import Direction
from ..errors import InputError
from ..settings import Count, NotNegative, Positive, setting
from .training.loop import Batches, Learner, Terms, Update, seed_of
from .training.networks import summed_word_loss
from .training.words import PAD, UNKNOWN, State, beam_search, lengths_of
from .word_system import Corpus, WordConfig, WordSystem


@dataclass(frozen=True, kw_only=True)
class AraeConfig(WordConfig):
    """The settings of the released ``yelp/train.py``."""

    word_size: Count = setting(128, "units of word vectors")
    code_size: Annotated[int, Field(ge=2)] = setting(
        128, "units of the code and of the recurrent nets"
    )
    code_is_state: bool = setting(
        False, "whether a decoder's state starts as the code, not as zeros"
    )
    code_length: Positive = setting(1.0, "norm of a code; code_noise is small or large beside it")
    remembering: bool = setting(
        False, "whether first weights are such that words are kept; not published"
    )
    hidden_size: Count = setting(128, "units of both hidden layers of the small networks")
    noise_size: Count = setting(32, "units of the noise that the generator reads")
    code_noise: NotNegative = setting(0.1, "deviation of what is added to a code, at the beginning")
    noise_decay: Annotated[float, Field(gt=0, le=1)] = setting(
        0.9995, "what the noise is multiplied by every 100 rounds"
    )
    max_words: Count = setting(30_000, "most frequent words that are kept")
    min_count: Count = setting(1, "occurrences that make a word")
    max_length: Annotated[int, Field(ge=2)] = setting(
        26, "longest sentence, its end included; the rest is cut"
    )
    max_answer: Annotated[int, Field(ge=2)] = setting(50, "longest rewrite, its end included")
    batch_size: Annotated[int, Field(ge=2)] = setting(64, "sentences a step, of a style")
    epochs: Positive = setting(25.0, "times the larger style is seen")
    optimizer: Literal["sgd", "adam"] = setting("sgd", "of the autoencoder")
    learning_rate: Positive = setting(1.0, "the autoencoder's")
    clip: Positive = setting(1.0, "norm of the autoencoder's gradient")
    classifier_rate: Positive = setting(1e-4, "the code classifier's learning rate")
    gan_rate: Positive = setting(1e-4, "the critic's and the generator's learning rate")
    class_weight: NotNegative = setting(1.0, "lambda, of misleading the classifier; 0 for none")
    critic_weight: NotNegative = setting(
        0.01, "of the critic's gradient in the encoder; 0 for no critic"
    )
    penalty: NotNegative = setting(0.1, "weight of the critic's gradient penalty")
    critic_steps: Count = setting(5, "steps of the critic a round")
    mixed: bool = setting(
        True, "whether the classifier's batches have both styles, or (released) one"
    )
    validations: Count = setting(25, "validations in all")

    @property
    def most_words(self) -> int:
        """The most frequent words that are kept."""
        return self.max_words

    @classmethod
    def for_direction(cls, direction: Direction) -> AraeConfig:
        """Other corpora than Yelp have longer sentences: 32 words."""
        return cls() if direction.dataset == "yelp" else cls(max_length=32)

    @classmethod
    def small(cls, direction: Direction) -> AraeConfig:
        """Fewer words and epochs; Adam, and first weights and a code that learn to keep words soon.

        With codes of length 1 and first weights of 0.1 they held next to nothing after as long.
        """
        return replace(
            cls.for_direction(direction),
            code_size=256,
            code_length=8.0,
            code_is_state=True,
            remembering=True,
            code_noise=0.03,
            min_count=10,
            batch_size=32,
            epochs=2.0,
            optimizer="adam",
            learning_rate=3e-3,
            classifier_rate=1e-3,
            class_weight=0.2,
            critic_steps=1,
            validations=12,
            hold_out=300,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> AraeConfig:  # noqa: ARG003
        """Learns next to nothing within seconds: for tests."""
        return cls(
            word_size=16,
            code_size=16,
            hidden_size=16,
            noise_size=4,
            max_length=12,
            max_answer=12,
            batch_size=8,
            epochs=0.04,
            optimizer="adam",
            learning_rate=5e-3,
            critic_steps=2,
            validations=2,
            hold_out=8,
        )


@dataclass(frozen=True, kw_only=True)
class AraeGeneration:
    """How rewrites are generated."""

    beams: Annotated[int, Field(ge=1, le=100)] = setting(
        1, "sentences kept at each word; 1 is greedy"
    )


_RANGE = 0.1  # of the first weights, as in the released code


class _Reader(nn.Module):
    """An LSTM over word vectors; it reads a start before the first word."""

    def __init__(
        self, n_words: int, word_size: int, size: int, beside: int, *, remembering: bool
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, word_size, padding_idx=PAD)
        self.start = nn.Parameter(torch.empty(word_size))
        self.lstm = nn.LSTM(word_size + beside, size, batch_first=True)
        for weights in self.parameters():
            nn.init.uniform_(weights, -_RANGE, _RANGE)
        with torch.no_grad():
            if remembering:
                nn.init.uniform_(self.words.weight, -1.0, 1.0)
                cast(Tensor, self.lstm.bias_ih_l0)[size : 2 * size] += 1.0  # the forget gate's
            self.words.weight[PAD].zero_()

    def before(self, words: Tensor) -> Tensor:
        """Vectors (B, T, W) of the words before each of these (B, T)."""
        start = self.start.expand(len(words), 1, -1)
        return torch.cat([start, self.words(words[:, :-1])], dim=1)


class CodeAutoencoder(nn.Module):
    """One encoder for all styles, a decoder for each, one output layer for both.

    Args:
        n_words: V.
        word_size: W, units of word vectors.
        code_size: C.
        code_is_state: whether a decoder's memory starts as the code; otherwise it starts as 0.
        code_length: the norm of a code.
        remembering: whether the first weights let words through: word vectors in +-1, not +-0.1,
            and forget gates with 1 more (Jozefowicz et al. 2015). With small ones, half of what was
            read is forgotten at each word, and learning to keep it takes many steps.
    """

    def __init__(
        self,
        n_words: int,
        word_size: int,
        code_size: int,
        *,
        code_is_state: bool = False,
        code_length: float = 1.0,
        remembering: bool = False,
    ) -> None:
        super().__init__()
        self.code_size, self.code_is_state = code_size, code_is_state
        self.code_length = code_length
        reader = partial(_Reader, n_words, word_size, code_size, remembering=remembering)
        self.encoder = reader(0)
        self.decoders = nn.ModuleList(reader(code_size) for _ in range(2))
        self.output = nn.Linear(code_size, n_words)
        nn.init.uniform_(self.output.weight, -_RANGE, _RANGE)
        nn.init.zeros_(self.output.bias)

    def encode(self, words: Tensor, lengths: Tensor, noise: float = 0.0) -> Tensor:
        """Codes (B, C) of ``code_length``, of rows (B, T) whose ``lengths`` (B) include their ends.

        Args:
            words: ids; the end itself is not read.
            lengths: of the rows.
            noise: standard deviation of what is added to the code.
        """
        outputs, _ = self.encoder.lstm(self.encoder.before(words))
        rows = torch.arange(len(words), device=words.device)
        code = self.code_length * F.normalize(outputs[rows, lengths - 1], dim=1)
        return code + noise * torch.randn_like(code) if noise > 0 else code

    def teach(self, style: int, code: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) of each word of ``target`` (B, T), by the decoder of a style."""
        decoder = cast(_Reader, self.decoders[style])
        beside = code[:, None].expand(-1, target.shape[1], -1)
        memory, cell, _ = self.begin(code)
        first = memory[None].contiguous(), cell[None].contiguous()
        outputs, _ = decoder.lstm(torch.cat([decoder.before(target), beside], dim=2), first)
        logits: Tensor = self.output(outputs)
        return logits

    def begin(self, code: Tensor) -> State:
        """A decoder's state before the first word of codes (B, C): memory, cell and code."""
        zeros = torch.zeros_like(code)
        return code if self.code_is_state else zeros, zeros, code

    def step(self, style: int, words: Tensor | None, state: State) -> tuple[Tensor, State]:
        """A step of :func:`~.training.words.beam_search`, by the decoder of a style."""
        decoder, (memory, cell, code) = cast(_Reader, self.decoders[style]), state
        start = decoder.start.expand(len(code), -1)
        vector = torch.cat([start if words is None else decoder.words(words), code], dim=1)
        before = memory[None].contiguous(), cell[None].contiguous()
        _, (memory, cell) = decoder.lstm(vector[:, None], before)
        return self.output(memory[0]), (memory[0], cell[0], code)


def normalised_mlp(
    sizes: Sequence[int], *, slope: float = 0.0, first_is_normalised: bool
) -> nn.Sequential:
    """Linear layers, (leaky) ReLU after all but the last, batch normalisation before it.

    A batch is always normalised by its own mean and variance, also when the network does not learn:
    nothing depends on the batches before it.

    Args:
        sizes: of the input, of each hidden layer, of the output.
        slope: of the activation below 0: 0 is ReLU.
        first_is_normalised: whether the first hidden layer is normalised as well.
    """
    layers: list[nn.Module] = []
    for index, (before, after) in enumerate(pairwise(sizes)):
        linear = nn.Linear(before, after)
        nn.init.normal_(linear.weight, std=0.02)
        nn.init.zeros_(linear.bias)
        layers.append(linear)
        if index == len(sizes) - 2:
            break
        if index > 0 or first_is_normalised:
            layers.append(nn.BatchNorm1d(after, track_running_stats=False))
        layers.append(nn.LeakyReLU(slope))
    return nn.Sequential(*layers)


_BETAS = (0.5, 0.999)  # Adam's, of the small networks
_SLOPE = 0.2  # of the critic's leaky ReLU
_BLOCK = 100  # batches that are split by length together


class _Turn(NamedTuple):
    """A step of a round."""

    name: str
    style: int | None  # whose sentences it takes; None: both
    place: int = 0  # among the round's steps of that name...
    of: int = 1  # ... of which there are so many


class _Learner(Learner):
    """Rounds of autoencoder, classifier, critic and generator steps (Algorithm 1)."""

    def __init__(self, system: Arae, corpus: Corpus) -> None:
        config: AraeConfig = system.config
        self._system, self._corpus, self._config = system, corpus, config
        if min(corpus.n_source, len(corpus.rows) - corpus.n_source) < 2:
            raise InputError("arae needs two sentences of each style to learn from")
        hidden = (config.hidden_size, config.hidden_size)
        self.classifier = normalised_mlp((config.code_size, *hidden, 1), first_is_normalised=False)
        self.critic = normalised_mlp(
            (config.code_size, *hidden, 1), slope=_SLOPE, first_is_normalised=False
        )
        self.generator = normalised_mlp(
            (config.noise_size, *hidden, config.code_size), first_is_normalised=True
        )
        self.network = nn.ModuleDict(
            {
                "autoencoder": system.network,
                "classifier": self.classifier,
                "critic": self.critic,
                "generator": self.generator,
            }
        )
        self.optimizers = _optimizers(self.network, config)
        both = corpus.both(config.batch_size, config.seed, grouping=_BLOCK)
        again = corpus.both(config.batch_size, config.seed + 1)  # what the small networks see
        self._autoencoder_batches = both.sides
        self._code_batches: dict[int | None, Batches] = {
            None: again,
            **dict(enumerate(again.sides)),
        }
        self._round = _round(config)
        rounds = max(1, round(config.epochs * both.steps_per_epoch))
        self.steps, self.seed = rounds * len(self._round), config.seed
        self.validate_every = len(self._round) * max(1, rounds // config.validations)

    def update(self, step: int) -> Update:
        number, place = divmod(step, len(self._round))
        turn, config = self._round[place], self._config
        # The critic's gradient reaches the encoder from either style in turn.
        style = number % 2 if turn.name == "encoder" else turn.style
        if turn.name == "autoencoder":
            names = ("encoder", f"decoder_{style}", "output")
            noise = config.code_noise * config.noise_decay ** (number // 100)
            loss = partial(self._rebuilt, cast(int, style), noise)
            order = self._autoencoder_batches[cast(int, style)]
            return Update(turn.name, names, loss, order, number, clip=config.clip)
        losses: dict[str, Callable[[np.ndarray], Terms]] = {
            "classifier": self._classified,
            "adversary": self._misled,
            "critic": partial(self._criticised, step),
            "generator": partial(self._generated, step),
            "encoder": self._regularised,
        }
        moves_encoder = turn.name in ("adversary", "encoder")
        return Update(
            name=turn.name,
            optimizers=("encoder",) if moves_encoder else (turn.name,),
            loss=losses[turn.name],
            order=self._code_batches[style],
            number=number * turn.of + turn.place,
            clip=config.clip if moves_encoder else None,
        )

    def _rebuilt(self, style: int, noise: float, batch: np.ndarray) -> Terms:
        """Step 1: rebuild a sentence of a style from its noisy code; a mean over words."""
        words, _ = self._batch(batch)
        code = self._system.network.encode(words, lengths_of(words), noise)
        logits = self._system.network.teach(style, code, words)
        n_words = sum(len(self._corpus.rows[i]) for i in batch)
        return {f"style_{style}": summed_word_loss(logits, words) / n_words}

    def _classified(self, batch: np.ndarray) -> Terms:
        """Step 2a: the classifier tells the style of codes."""
        with torch.no_grad():
            codes, styles = self._codes(batch)
        loss = F.binary_cross_entropy_with_logits(self.classifier(codes)[:, 0], styles)
        return {"style": loss}

    def _misled(self, batch: np.ndarray) -> Terms:
        """Step 2b: the encoder makes the classifier believe the other style."""
        codes, styles = self._codes(batch)
        loss = F.binary_cross_entropy_with_logits(self.classifier(codes)[:, 0], 1 - styles)
        return {"style": self._config.class_weight * loss}

    def _criticised(self, step: int, batch: np.ndarray) -> Terms:
        """Step 3: the critic scores codes low and the generator's high, smoothly (WGAN-GP)."""
        with torch.no_grad():
            real, _ = self._codes(batch)
            drawn = torch.Generator().manual_seed(seed_of(self.seed, step))
            fake = self.generator(self._noise(len(real), drawn))
            shares = torch.rand(len(real), 1, generator=drawn).to(real.device)
            between = shares * real + (1 - shares) * fake
        distance = self.critic(real).mean() - self.critic(fake).mean()
        penalty = self._config.penalty * gradient_penalty(self.critic, between)
        return {"distance": distance, "penalty": penalty}

    def _generated(self, step: int, batch: np.ndarray) -> Terms:
        """Step 4: the generator makes codes that the critic scores as it does real ones."""
        drawn = torch.Generator().manual_seed(seed_of(self.seed, step))
        fake = self.generator(self._noise(len(batch), drawn))
        return {"fake": self.critic(fake).mean()}

    def _regularised(self, batch: np.ndarray) -> Terms:
        """Step 5: the encoder makes codes that the critic scores as it does the generator's."""
        real, _ = self._codes(batch)
        return {"real": -self._config.critic_weight * self.critic(real).mean()}

    def _codes(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Codes (B, C) without noise, and their styles (B) as 0.0 or 1.0."""
        words, styles = self._batch(rows)
        return self._system.network.encode(words, lengths_of(words)), styles.float()

    def _noise(self, rows: int, drawn: torch.Generator) -> Tensor:
        noise = torch.randn(rows, self._config.noise_size, generator=drawn)
        return noise.to(self._system.device)

    def _batch(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        return self._corpus.batch(rows, self._system.device)

    def validate(self) -> Mapping[str, float]:
        return self._corpus.judge.scores(self._system.rewritten)


def _round(config: AraeConfig) -> list[_Turn]:
    """The steps of a round; a weight of 0 leaves out what would have no effect on rewrites."""
    turns = [_Turn("autoencoder", 0), _Turn("autoencoder", 1)]
    if config.class_weight:
        sides = (None,) if config.mixed else (0, 1)
        turns += [_Turn("classifier", side) for side in sides]
        turns += [_Turn("adversary", side) for side in sides]
    if config.critic_weight:
        steps = config.critic_steps
        turns += [_Turn("critic", i % 2, i, steps) for i in range(steps)]
        turns += [_Turn("generator", None), _Turn("encoder", None)]
    return turns


def _optimizers(network: nn.ModuleDict, config: AraeConfig) -> dict[str, Optimizer]:
    """The autoencoder's, apart for the parts that do not move together, and Adam's."""
    autoencoder = cast(CodeAutoencoder, network["autoencoder"])
    parts: dict[str, nn.Module] = {
        "encoder": autoencoder.encoder,
        "decoder_0": autoencoder.decoders[0],
        "decoder_1": autoencoder.decoders[1],
        "output": autoencoder.output,
    }
    kind: type[SGD] | type[Adam] = SGD if config.optimizer == "sgd" else Adam
    rates = {
        "classifier": config.classifier_rate,
        "critic": config.gan_rate,
        "generator": config.gan_rate,
    }
    return {
        **{name: kind(part.parameters(), lr=config.learning_rate) for name, part in parts.items()},
        **{
            name: Adam(network[name].parameters(), lr=rate, betas=_BETAS)
            for name, rate in rates.items()
        },
    }


@dataclass(frozen=True)
class Arae(WordSystem):
    """A regularised autoencoder with a decoder for each style."""

    KIND: ClassVar[str] = "arae"
    ORIGIN: ClassVar[str] = "Zhao et al. (2018), regularised autoencoder; our implementation"
    RECIPE_VERSION: ClassVar[int] = 2  # 1 dealt its batches in another order
    WEIGHTS: ClassVar[str] = "autoencoder.safetensors"
    Config: ClassVar[type[WordConfig]] = AraeConfig
    Settings: ClassVar[type] = AraeGeneration

    network: CodeAutoencoder

    @staticmethod
    def new_network(n_words: int, config: AraeConfig) -> CodeAutoencoder:
        """The encoder and the two decoders, with random weights."""
        return CodeAutoencoder(
            n_words,
            config.word_size,
            config.code_size,
            code_is_state=config.code_is_state,
            code_length=config.code_length,
            remembering=config.remembering,
        )

    def learner(self, corpus: Corpus) -> Learner:
        """What trains the network."""
        return _Learner(self, corpus)

    def written(self, words: Tensor, style: int, settings: AraeGeneration) -> Tensor:
        """The likeliest words (B, S), one after the other."""
        code = self.network.encode(words, lengths_of(words))
        return beam_search(
            partial(self.network.step, style),
            self.network.begin(code),
            length=self.config.max_answer,
            beams=settings.beams,
            forbidden=(PAD, UNKNOWN),
        )


def gradient_penalty(critic: Callable[[Tensor], Tensor], between: Tensor) -> Tensor:
    """Mean of ``(|gradient| - 1)^2`` of a critic's scores at points (B, D), of scalar sum.

    Gulrajani et al. (2017), "Improved Training of Wasserstein GANs", equation 3; the points lie
    between real and generated ones.
    """
    with torch.enable_grad():
        points = between.detach().requires_grad_()
        (slopes,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    return (slopes.norm(dim=1) - 1).square().mean()
