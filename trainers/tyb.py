"""TYB: BART fine-tuned on pairs, with rewards for style and for content.

Lai, Toral and Nissim (ACL 2021), "Thank you BART! Rewarding Pre-Trained Models Improves Formality
Style Transfer". A pretrained BART learns to write the rewrite of a sentence (section 2.1). After a
while, words drawn from what it predicts are rewarded: by how sure a style classifier is of the
target style (equation 2), and by how much better their BLEU is than that of the likeliest words
(equation 4). There is one model for each direction.

As in the released code, words are drawn place by place while the right words before them are given:
no sentence is generated during training. Where we differ from it: its BLEU reward has the
opposite sign, which makes better sentences less likely; ours is the paper's, and
``bleu_sign = "released"`` is the other. (As there, each reward draws words of its own, and places
behind a drawn end earn too; ``reward_places = "drawn"`` draws once and stops at that end.) Its
word vectors start from GloVe where GloVe has the word piece, ours at random. It stops when
validation has not improved for a while; ours goes on to the last step and keeps the same weights:
those of the lowest validation loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from ..datasets_scripts.catalog import language_of
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import TrainingData
from ..metrics.text import preparation
from ..settings import Count, Natural, NotNegative, Positive, read_settings, setting
from .card import Family
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.loop import Learner, Terms, Update, learn
from .training.networks import TextCnn
from .training.pairs import Paired, PairsFrom, lexical_pairs
from .training.rewarded_bart import (
    SCRATCH,
    ReaderFit,
    Seq2Seq,
    fit_reader,
    log_probabilities,
    self_critical,
    sentence_bleu,
    sentence_policy_loss,
    style_gap,
    up_to_end,
)
from .training.run import IN_MEMORY, Run
from .training.sampler import Order, by_length


@dataclass(frozen=True, kw_only=True)
class TybConfig(SystemConfig):
    """The published settings; see the paper's section 3.1 and the released ``train.py``."""

    base: str = setting(
        "facebook/bart-large", "pretrained BART: Hub id or folder; scratch: a tiny random one"
    )
    pairs: PairsFrom = setting(
        "data", "data, mined pseudo-pairs, or auto: mined if the data have none"
    )
    max_length: Annotated[int, Field(ge=3)] = setting(
        30, "longest sentence in tokens; the rest is cut"
    )
    batch_size: Count = setting(32, "pairs a step")
    grouping: Count = setting(20, "batches sorted by length together; 1 for none")
    learning_rate: Positive = setting(1e-5, "Adam's")
    decay: Annotated[float, Field(gt=0, le=1)] = setting(
        0.9, "factor of the learning rate every decay_every steps"
    )
    decay_every: Count = setting(10_000, "steps")
    steps: Count = setting(20_000, "steps")
    rewards_from: Natural = setting(200, "steps before there are rewards")
    word_weight: NotNegative = setting(1.0, "weight of the right words' cross-entropy")
    style_weight: NotNegative = setting(1.0, "weight of the style reward (lambda_cls)")
    bleu_weight: NotNegative = setting(0.2, "weight of the BLEU reward (lambda_bleu)")
    bleu_sign: Literal["paper", "released"] = setting(
        "paper", "paper: better words likelier; released: the opposite"
    )
    reward_places: Literal["released", "drawn"] = setting(
        "released",
        "released: every place of the right answer earns, each reward draws its own "
        "words; drawn: places up to the drawn end, one draw for both",
    )
    validate_every: Count = setting(1000, "steps between validations; at most an epoch")
    hold_out: Count = setting(2000, "most pairs to choose weights with")
    classifier_steps: Count = setting(10_000, "steps of the reward's classifier")
    classifier_rate: Positive = setting(
        1e-3, "Adam's, of the classifier; 0.9 of it every 1,000 steps"
    )
    classifier_dimension: Count = setting(300, "the classifier's word vectors")
    classifier_filters: Count = setting(128, "the classifier's filters of each width")
    seed: Natural = setting(0, "of everything random")

    @classmethod
    def for_direction(cls, direction: Direction) -> TybConfig:
        """TSTBench's values for other data than GYAFC; its longer lines are not cut at 30 tokens.

        Writing Shakespeare's English, the words' loss has the weight 1.2.
        """
        if direction.dataset.startswith("gyafc"):
            return cls()
        writes_shakespeare = direction.target_style == "shakespearean"
        return cls(
            learning_rate=3e-5, max_length=60, word_weight=1.2 if writes_shakespeare else 1.0
        )

    @classmethod
    def small(cls, direction: Direction) -> TybConfig:
        """For a small BART: give its folder as ``base``."""
        return replace(
            cls.for_direction(direction),
            learning_rate=1e-3,
            decay=0.8,
            decay_every=150,
            steps=1000,
            rewards_from=700,
            reward_places="drawn",
            validate_every=100,
            hold_out=400,
            classifier_steps=500,
            classifier_dimension=100,
            classifier_filters=64,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> TybConfig:  # noqa: ARG003
        """A random BART and mined pairs: learns next to nothing within seconds, for tests."""
        return cls(
            base=SCRATCH,
            pairs="auto",
            max_length=16,
            batch_size=8,
            learning_rate=1e-2,
            steps=40,
            rewards_from=34,
            validate_every=20,
            hold_out=16,
            classifier_steps=10,
            classifier_dimension=16,
            classifier_filters=8,
        )


@dataclass(frozen=True, kw_only=True)
class TybSettings:
    """How answers are generated; published: beam search with 5 beams."""

    beams: Count = setting(5, "of the beam search; 1 is greedy")
    max_length: Natural = setting(0, "longest answer in tokens; 0: as long as in training")


WIDTHS = (1, 2, 3, 4, 5)
_AT_ONCE = 64  # held-out pairs


class StyleCnn(nn.Module):
    """Logits of two styles for rows of ids.

    Args:
        n_words: V, size of the vocabulary.
        dimension: of the word vectors, drawn from N(0, 1 / sqrt(dimension)).
        filters: for each width.
        dropout: before each linear layer.
    """

    def __init__(
        self, n_words: int, *, dimension: int = 300, filters: int = 128, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.vectors = nn.Embedding(n_words, dimension)
        nn.init.normal_(self.vectors.weight, std=dimension**-0.5)
        self.text = TextCnn(dimension, WIDTHS, filters)
        half = self.text.features // 2
        self.head = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(self.text.features, half),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(half, 2),
        )

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, 2) of ids (B, T), of which the first ``lengths`` (B), at least 1, count."""
        logits: Tensor = self.head(self.text(self.vectors(ids), lengths.clamp(min=1)))
        return logits


class _Learner(Learner):
    """Cross-entropy, then with both rewards (section 2 of the paper)."""

    def __init__(
        self, bart: Seq2Seq, classifier: StyleCnn, paired: Paired, config: TybConfig
    ) -> None:
        self._bart, self._classifier, self._config = bart, classifier, config
        self.network = nn.ModuleDict({"bart": bart.model, "classifier": classifier})
        self.optimizers = {
            "bart": torch.optim.Adam(
                bart.model.parameters(), lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9
            )
        }
        self._train, self._held = (
            [bart.encode([p[side] for p in pairs], config.max_length) for side in (0, 1)]
            for pairs in (paired.train, paired.held_out)
        )
        lengths = [max(len(x), len(y)) for x, y in zip(*self._train, strict=True)]
        self._order = Order(lengths, config.batch_size, config.seed, config.grouping)
        self.steps, self.seed = config.steps, config.seed
        self.validate_every = min(config.validate_every, self._order.steps_per_epoch)

    def update(self, step: int) -> Update:
        config = self._config
        rewarded = step >= config.rewards_from
        return Update(
            name="rewarded" if rewarded else "supervised",
            optimizers=("bart",),
            loss=self._rewarded_loss if rewarded else self._supervised_loss,
            order=self._order,
            number=step,
            rates={"bart": config.learning_rate * config.decay ** (step // config.decay_every)},
        )

    def _supervised_loss(self, batch: np.ndarray) -> Terms:
        logits, targets = self._predicted(self._train, batch)
        return {"words": self._word_loss(logits, targets, batch)}

    def _rewarded_loss(self, batch: np.ndarray) -> Terms:
        config = self._config
        logits, targets = self._predicted(self._train, batch)
        # <s> is written in any case: it is neither rewarded nor part of a sentence's BLEU.
        free, wanted = logits[:, 1:], targets[:, 1:]
        there = wanted != self._bart.pad
        released = config.reward_places == "released"
        with torch.no_grad():
            shares = free.float().softmax(dim=-1)
            drawn = [  # for each reward, or for both
                torch.multinomial(shares.flatten(0, 1), 1).view_as(wanted)
                for _ in range(1 + released)
            ]
            likeliest = shares.argmax(dim=-1)

        masks = [there if released else there & up_to_end(ids, self._bart.end) for ids in drawn]
        log_p = [log_probabilities(free, ids) for ids in drawn]
        style = config.style_weight * self._style_reward(drawn[0], there)
        bleu = config.bleu_weight * self._bleu_reward(drawn[-1], likeliest, wanted)
        return {
            "words": self._word_loss(logits, targets, batch),
            "style": sentence_policy_loss(log_p[0], masks[0], style) / len(batch),
            "bleu": sentence_policy_loss(log_p[-1], masks[-1], bleu) / len(batch),
        }

    def _style_reward(self, drawn: Tensor, there: Tensor) -> Tensor:
        """Equation 2: P(target style) - P(source style) of the words before ``</s>``; (B).

        In the released code, a ``</s>`` before the fifth word ends nothing.
        """
        length = self._n_words(drawn, there & up_to_end(drawn, self._bart.end))
        if self._config.reward_places == "released":
            length = torch.where(length < 4, there.sum(dim=1), length)
        self._classifier.eval()
        with torch.no_grad():
            logits = self._classifier(drawn, length)
            return style_gap(logits, torch.ones(len(drawn), dtype=torch.long, device=drawn.device))

    def _bleu_reward(self, drawn: Tensor, likeliest: Tensor, wanted: Tensor) -> Tensor:
        """Equation 4: how much better the BLEU of drawn words is than the likeliest words'; (B)."""
        there = wanted != self._bart.pad
        length = self._n_words(wanted, there)
        found = [
            sentence_bleu(
                ids, self._n_words(ids, there & up_to_end(ids, self._bart.end)), wanted, length
            )
            for ids in (drawn, likeliest)
        ]
        reward = self_critical(*found)
        return reward if self._config.bleu_sign == "paper" else -reward

    def _n_words(self, ids: Tensor, mask: Tensor) -> Tensor:
        """How many ids of each row count, ``</s>`` apart."""
        return (mask & (ids != self._bart.end)).sum(dim=1)

    def _predicted(
        self, rows: Sequence[Sequence[Sequence[int]]], batch: np.ndarray
    ) -> tuple[Tensor, Tensor]:
        sources, targets = (self._bart.padded([side[i] for i in batch]) for side in rows)
        return self._bart.logits(sources, targets), targets

    def _word_loss(self, logits: Tensor, targets: Tensor, batch: np.ndarray) -> Tensor:
        """Equation 1: the mean over the words of the batch."""
        words = sum(len(self._train[1][i]) for i in batch)
        return self._config.word_weight * self._summed(logits, targets) / words

    def _summed(self, logits: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=self._bart.pad, reduction="sum"
        )

    def validate(self) -> Mapping[str, float]:
        """The cross-entropy of held-out pairs, in nats a word; the lowest is kept."""
        words, total = sum(map(len, self._held[1])), 0.0
        order = np.argsort([len(row) for row in self._held[1]], kind="stable")
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            total += float(self._summed(*self._predicted(self._held, some)))
        return {"cross_entropy": total / words, "selection": -total / words}


@dataclass(frozen=True)
class Tyb(System):
    """BART for one direction, taught by pairs and by rewards.

    Attributes:
        card: its settings and training data.
        bart: model and tokenizer.
    """

    KIND: ClassVar[str] = "tyb"
    FAMILY: ClassVar[Family] = "fpft"
    NEEDS_PARALLEL: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = "Lai et al. (2021), Thank you BART; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    LOCAL: ClassVar[tuple[str, ...]] = ("base",)
    Config: ClassVar[type[SystemConfig]] = TybConfig
    Settings: ClassVar[type] = TybSettings

    card: SystemCard
    bart: Seq2Seq

    @classmethod
    def train(cls, data: TrainingData, config: TybConfig, run: Run = IN_MEMORY) -> Tyb:
        """Learn from pairs; validation pairs choose the weights.

        Raises:
            InputError: there are no pairs, or no BART in the folder ``base``.
            MissingFileError: the weights of ``base`` are not to be found.
        """
        paired = Paired.of(
            data,
            config.pairs,
            lambda sides: lexical_pairs(*sides),
            hold_out=config.hold_out,
            seed=config.seed,
            system=cls.KIND,
        )
        card = cls.planned(data, config)
        sides = [[pair[side] for pair in paired.train] for side in (0, 1)]
        bart = Seq2Seq.pretrained(config.base, [*sides[0], *sides[1]], config.seed)
        bart.check_length(config.max_length)
        torch.manual_seed(config.seed)
        classifier = StyleCnn(
            bart.model.config.vocab_size,
            dimension=config.classifier_dimension,
            filters=config.classifier_filters,
        )
        fit = ReaderFit(
            lambda network: torch.optim.Adam(network.parameters()),
            steps=config.classifier_steps,
            batch_size=32,
            rate=config.classifier_rate,
            decay=0.9,
            seed=config.seed,
        )
        rows = [[row[1:-1] for row in bart.encode(side, config.max_length)] for side in sides]
        accuracy = fit_reader(classifier, rows, fit, run, card.recipe)
        learned = learn(_Learner(bart, classifier, paired, config), run, card.recipe)
        scores = {**learned.scores, "classifier_accuracy": accuracy}
        return cls(replace(card, n_pairs=len(paired.train), scores=scores), bart)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest sentence that the beam search finds."""
        text = preparation(language_of(task.direction))
        longest = self.config.max_length
        rows = self.bart.encode(text.for_classifier([request.source for request in batch]), longest)
        self.bart.check_length(task.settings.max_length)

        def write(chosen: list[int]) -> list[str]:
            written = self.bart.generate(
                [rows[i] for i in chosen],
                max_length=task.settings.max_length or longest,
                beams=task.settings.beams,
            )
            return [text.cleaning(self.bart.decode(row)) for row in written.tolist()]

        return by_length(rows, self.BATCH_SIZE, write)

    def write(self, folder: Path) -> None:
        """Write an ordinary checkpoint of transformers."""
        self.bart.save(folder)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Tyb:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: the checkpoint cannot be read, or there is no such device.
        """
        read_settings(TybConfig, card.settings, cls.KIND)
        bart = Seq2Seq.read(folder, device)
        bart.model.requires_grad_(False)
        return cls(card, bart)
