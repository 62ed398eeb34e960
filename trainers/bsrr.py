"""BSRR: pseudo-pairs to begin with, then a reward for each word.

Liu and Chen (Findings of NAACL 2022), "Learning from Bootstrapping and Stepwise Reinforcement
Reward: A Semi-Supervised Framework for Text Style Transfer". A BART learns from pairs (section
3.2): the data's own, or pseudo-pairs mined from the corpus (3.1). Then it draws sentences, which
are rewarded for their style and for how well they can be turned back into their source (3.3). A
style classifier's attention says which words earn the style's reward, and which earn the content's.
One model rewrites both ways: ``style # sentence`` is what it reads and writes.

Where we differ from the released code: its style words are chosen by hand, ours are the dataset's
names of the styles. It lets the model write the style itself; ours begins each sentence with it, so
that a reward never belongs to another direction, and those places are not learned from. It hides
the style from its classifier by a mask, ours leaves it out. Its loss is a mean over padding
too, ours is not. Its forward pass has the greedy baseline disabled; ours has it, and
``baseline = false`` is the other. Sentences are drawn and scored again without dropout, from the
same distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor, nn

from ..datasets_scripts.directions import Direction
from ..datasets_scripts.known import language_of, parse_direction
from ..datasets_scripts.training import Pair, TrainingData
from ..errors import InputError
from ..metrics.text import preparation
from .bsrr_config import BsrrConfig, BsrrSettings
from .learning.loop import Learner, Terms, Update, learn
from .learning.mining import clear_in_style, lexical_pairs, semantic_pairs
from .learning.order import Order
from .learning.paired import Paired, check_sides, no_pairs
from .learning.policy import log_probabilities, token_policy_loss, up_to_end
from .learning.rewards import (
    DiversityMemory,
    salience,
    self_critical,
    style_probability,
    text_bleu,
)
from .learning.roberta import style_roberta
from .learning.run import IN_MEMORY, Run
from .learning.selection import Sides, hold_out, selection
from .learning.seq2seq import SCRATCH, Seq2Seq, identified
from .learning.style_reader import ReaderFit, content_batch, fit_reader
from .learning.styled import Decoding, StyledBart
from .nets.style_roberta import StyleRoberta
from .settings import read_settings
from .system import Request, System, SystemCard, SystemConfig, Task
from .system_card import Family

_BLEU_WEIGHTS = (0.15, 0.15, 0.35, 0.35)
_MOST_STYLE, _LEAST_SALIENCE, _MOST_SALIENCE = 0.8, 0.2, 0.5
_CONTENT_SHARE = 0.7  # a word's weight for content is this less its weight for style


Validate = Callable[[], Mapping[str, float]]


class _Learner(Learner):
    """Pairs alone, then pairs and rewards (sections 3.2 and 3.3 of the paper)."""

    def __init__(
        self,
        writer: StyledBart,
        classifier: StyleRoberta,
        pairs: Sequence[Pair],
        config: BsrrConfig,
        validate: Validate,
    ) -> None:
        self._writer, self._bart, self._config = writer, writer.bart, config
        self._classifier, self._validate = classifier, validate
        self._memory = DiversityMemory(self._bart.model.config.vocab_size)
        self.network = nn.ModuleDict(
            {"bart": self._bart.model, "classifier": classifier, "memory": self._memory}
        )
        kinds = {"adamw": torch.optim.AdamW, "rmsprop": torch.optim.RMSprop}
        kind = kinds[config.optimizer]
        self.optimizers = {"bart": kind(self._bart.model.parameters(), lr=config.learning_rate)}
        # Every pair both ways: example i goes from side 0 if i is one of the first half.
        self._half = len(pairs)
        texts = [[pair[side] for pair in pairs] for side in (0, 1)]
        self._texts = [*texts[0], *texts[1]]
        rows = [writer.rows(texts[side], side) for side in (0, 1)]
        self._sources, self._targets = [*rows[0], *rows[1]], [*rows[1], *rows[0]]
        self._begin = [writer.begin(side) for side in (0, 1)]
        lengths = [max(len(x), len(y)) for x, y in zip(self._sources, self._targets, strict=True)]
        self._order = Order(lengths, config.batch_size, config.seed, config.grouping)
        self._epoch = self._order.steps_per_epoch
        self.steps = max(1, round(config.epochs * self._epoch))
        self.validate_every = min(config.validate_every, self._epoch)
        self.seed = config.seed

    def update(self, step: int) -> Update:
        rewarded = step >= self._config.supervised_epochs * self._epoch
        if rewarded:
            self._memory.begin(step)
        # The supervised loss fades once there are rewards.
        fading = self._config.supervised_decay ** (step // self._epoch + 1)

        def rewarded_loss(part: np.ndarray, whole: np.ndarray) -> Terms:
            return {
                "words": fading * self._word_loss(part, whole),
                **self._reward_losses(part, whole),
            }

        def supervised_loss(part: np.ndarray, whole: np.ndarray) -> Terms:
            return {"words": self._word_loss(part, whole)}

        return Update(
            name="rewarded" if rewarded else "supervised",
            optimizers=("bart",),
            loss=rewarded_loss if rewarded else supervised_loss,
            order=self._order,
            number=step,
            clip=self._config.clip if rewarded else None,
        )

    def _word_loss(self, part: np.ndarray, whole: np.ndarray) -> Tensor:
        """Label-smoothed, the mean over the words of the whole batch."""
        sources = self._bart.padded([self._sources[i] for i in part])
        targets = self._bart.padded([self._targets[i] for i in part])
        total = F.cross_entropy(
            self._bart.logits(sources, targets).flatten(0, 1),
            targets.flatten(),
            ignore_index=self._bart.pad,
            label_smoothing=self._config.smoothing,
            reduction="sum",
        )
        return total / sum(len(self._targets[i]) for i in whole)

    def _reward_losses(self, part: np.ndarray, whole: np.ndarray) -> Terms:
        config, bart = self._config, self._bart
        was_training = self.network.training
        self.network.eval()  # drawn and scored without dropout: the same distribution twice
        sides = [int(i >= self._half) for i in part]
        begin = [self._begin[1 - side] for side in sides]
        rows = [self._sources[i] for i in part]
        drawn = bart.generate(
            rows, max_length=config.sample_length, temperature=config.temperature, begin=begin
        )
        free = torch.arange(drawn.shape[1], device=drawn.device) >= torch.tensor(
            [[len(row)] for row in begin], device=drawn.device
        )
        mask = up_to_end(drawn, bart.end) & free
        content = self._content_advantage(part, rows, drawn, begin)
        style, weight = self._style_rewards(drawn, mask, sides)
        content_share = _CONTENT_SHARE - weight
        if config.diverse:
            self._memory.add(drawn, mask & (drawn != bart.end))
            weight = (weight * self._memory.factor(drawn)).clamp(min=_LEAST_SALIENCE)
        if config.gated:
            style = style * content
        logits = bart.logits(bart.padded(rows), drawn).float() / config.temperature
        unwritten = torch.tensor(bart.unwritten, device=logits.device)
        log_p = log_probabilities(logits.index_fill(-1, unwritten, -torch.inf), drawn)
        log_p = log_p.where(mask, 0.0)
        self.network.train(was_training)
        share = len(part) / len(whole)
        return {
            "style": config.style_weight
            * share
            * token_policy_loss(log_p, mask, style[:, None] * weight),
            "content": config.content_weight
            * share
            * token_policy_loss(log_p, mask, content[:, None] * content_share),
        }

    def _content_advantage(
        self,
        part: np.ndarray,
        rows: Sequence[Sequence[int]],
        drawn: Tensor,
        begin: Sequence[Sequence[int]],
    ) -> Tensor:
        """How much better drawn sentences can be turned back than the likeliest ones; (B)."""
        config, bart = self._config, self._bart
        versions = [drawn]
        if config.baseline:
            versions.append(bart.generate(rows, max_length=config.sample_length, begin=begin))
        sides = [int(i >= self._half) for i in part] * len(versions)
        written = [self._ended(row) for ids in versions for row in ids.tolist()]
        back = bart.generate(
            written, max_length=config.sample_length, begin=[self._begin[side] for side in sides]
        )

        def styled(text: str, side: int) -> str:
            return f"{self._writer.styles[side]} # {text}"

        found = [
            styled(self._writer.text(row, side), side)
            for row, side in zip(back.tolist(), sides, strict=True)
        ]
        wanted = [styled(self._texts[i], int(i >= self._half)) for i in part] * len(versions)
        scores = text_bleu(found, wanted, _BLEU_WEIGHTS).to(drawn.device).split(len(part))
        if not config.baseline:
            return scores[0]
        return self_critical(scores[0], scores[1], only_better=True)

    def _ended(self, row: list[int]) -> list[int]:
        """A generated row as one that can be read: up to ``</s>``, which it has."""
        end = self._bart.end
        return [*row[: row.index(end)], end] if end in row else [*row, end]

    def _style_rewards(
        self, drawn: Tensor, mask: Tensor, sides: Sequence[int]
    ) -> tuple[Tensor, Tensor]:
        """P(target style), clamped, (B), and each word's salience, (B, T)."""
        words = mask & (drawn != self._bart.end)
        rows = [row[there].tolist() for row, there in zip(drawn, words, strict=True)]
        target = torch.tensor([1 - side for side in sides], device=drawn.device)
        with torch.no_grad():
            ids, lengths = content_batch(rows, drawn.device)
            logits, attentions = self._classifier.verdict(ids, lengths)
            looks = salience(attentions, low=_LEAST_SALIENCE, high=_MOST_SALIENCE)
        weight = torch.full(drawn.shape, _LEAST_SALIENCE, device=drawn.device)
        # Place 0 of the classifier is <s>; a sentence's words are next to each other in drawn.
        inside = torch.arange(1, looks.shape[1], device=drawn.device) <= lengths[:, None]
        weight[words] = looks[:, 1:][inside]
        return style_probability(logits, target, top=_MOST_STYLE), weight

    def validate(self) -> Mapping[str, float]:
        return self._validate()


@dataclass(frozen=True)
class Bsrr(System):
    """BART for both directions, taught by pairs or pseudo-pairs and by stepwise rewards.

    Attributes:
        card: its settings and training data.
        writer: model, tokenizer and the styles' words.
    """

    KIND: ClassVar[str] = "bsrr"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    ORIGIN: ClassVar[str] = "Liu and Chen (2022), BSRR; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    Config: ClassVar[type[SystemConfig]] = BsrrConfig
    Settings: ClassVar[type] = BsrrSettings

    card: SystemCard
    writer: StyledBart

    @classmethod
    def train(cls, data: TrainingData, config: BsrrConfig, run: Run = IN_MEMORY) -> Bsrr:
        """Learn from pairs or pseudo-pairs; validation data choose the weights.

        With the data's own pairs, the BLEU of held-out rewrites chooses; with pseudo-pairs, ACC
        and self-BLEU of held-out sentences.

        Raises:
            InputError: a style has no sentences, there are too few pairs, or a checkpoint is not
                of the right kind.
            MissingFileError: the weights of ``base`` or ``classifier`` are not to be found.
        """
        card = cls.planned(data, config)
        mined = not card.needs_parallel
        train, held = _split(data, config) if mined else (None, None)
        source = data if train is None else _only(data, train)
        paired = Paired.of(
            source,
            "mined" if mined else "data",
            lambda sides: _mined(sides, config),
            hold_out=config.hold_out,
            seed=config.seed,
            system=cls.KIND,
        )
        prepare = preparation(language_of(data.direction)).for_classifier
        sentences = Sides(*(tuple(prepare(s)) for s in (source.train.source, source.train.target)))
        check_sides(data, sentences)
        styles = _style_words(data.direction)
        if config.base == SCRATCH:
            texts = [
                f"{s} # {text}" for s, side in zip(styles, sentences, strict=True) for text in side
            ]
            bart = Seq2Seq.scratch(texts, seed=config.seed)
        else:
            bart = Seq2Seq.pretrained(config.base)
        bart.check_length(max(config.max_length, config.sample_length))
        writer = StyledBart(bart, styles, config.max_length)
        classifier = style_roberta(
            config.classifier,
            bart,
            dimension=config.classifier_dimension,
            layers=config.classifier_layers,
            seed=config.seed,
        )
        fit = ReaderFit(
            lambda network: torch.optim.AdamW(network.parameters(), betas=(0.9, 0.98)),
            steps=config.classifier_steps,
            batch_size=64,
            rate=config.classifier_rate,
            validate_every=3000,
            seed=config.seed,
        )
        rows = [
            [row[len(writer.begin(side)) : -1] for row in writer.rows(texts, side)]
            for side, texts in enumerate(sentences)
        ]
        judged = fit_reader(classifier, rows, fit, run)
        if held is None:
            validate = _by_references(writer, paired.held_out, len(card.directions))
        else:
            validate = _by_judge(writer, data, sentences, held, config.seed)
        learner = _Learner(writer, classifier, paired.train, config, validate)
        learned = learn(learner, run, card.recipe)
        scores = {**learned.scores, "classifier_accuracy": judged["accuracy"]}
        return cls(replace(card, n_pairs=len(paired.train), scores=scores), writer)

    @classmethod
    def planned(cls, data: TrainingData, config: SystemConfig) -> SystemCard:
        """As :meth:`System.planned`; folders given as checkpoints are named by their content."""
        card = super().planned(data, config)
        checkpoints = {
            name: identified(str(card.settings[name])) for name in ("base", "classifier")
        }
        choice = card.settings["pairs"]
        if choice == "data" and not data.train.pairs:
            raise InputError(no_pairs(data, cls.KIND))
        return replace(
            card,
            settings={**card.settings, **checkpoints},
            needs_parallel=choice != "mined" and bool(data.train.pairs),
        )

    @property
    def config(self) -> BsrrConfig:
        """The settings of its card."""
        return read_settings(BsrrConfig, self.card.settings, self.KIND)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest words, one after the other, or those that a beam search finds."""
        text = preparation(language_of(task.direction))
        how = Decoding(task.settings.beams, task.settings.min_length, task.settings.max_length)
        self.writer.bart.check_length(how.max_length)
        side = self.card.directions.index(task.direction.name)
        sources = text.for_classifier([request.source for request in batch])
        return [
            text.cleaning(words)
            for words in self.writer.rewritten(sources, side, how, self.BATCH_SIZE)
        ]

    def write(self, folder: Path) -> None:
        """Write an ordinary checkpoint of transformers."""
        self.writer.bart.save(folder)

    @classmethod
    def read(cls, folder: Path, card: SystemCard, device: str) -> Bsrr:
        """Read back what :meth:`write` wrote.

        Raises:
            InputError: the checkpoint cannot be read, or there is no such device.
        """
        config = read_settings(BsrrConfig, card.settings, cls.KIND)
        bart = Seq2Seq.read(folder, device)
        bart.model.requires_grad_(False)
        styles = _style_words(parse_direction(card.directions[0]))
        return cls(card, StyledBart(bart, styles, config.max_length))


def _style_words(direction: Direction) -> tuple[str, str]:
    """``present_tense`` is written ``present tense``."""
    return (
        direction.source_style.replace("_", " "),
        direction.target_style.replace("_", " "),
    )


def _split(data: TrainingData, config: BsrrConfig) -> tuple[Sides, Sides]:
    """Sentences to mine from, and those to choose weights with."""
    check_sides(data, Sides(data.train.source, data.train.target))
    return hold_out(data, config.hold_out, config.seed)


def _only(data: TrainingData, train: Sides) -> TrainingData:
    part = replace(data.train, source=train.source, target=train.target, pairs=())
    return replace(data, train=part)


def _mined(sides: Sides, config: BsrrConfig) -> list[Pair]:
    """Pseudo-pairs (source, target), for sentences of both styles (section 3.1)."""
    if config.mining == "lexical":
        there = lexical_pairs(sides.source, sides.target, most=config.most_pairs)
        back = lexical_pairs(sides.target, sides.source, most=config.most_pairs)
    else:
        from ..metrics.scorers.encoder import load_encoder

        vectors = load_encoder().sentence_vectors
        judge = selection(sides, sides, config.seed).classifier
        clear = [
            clear_in_style(side, lambda texts, k=k: judge.distribution(texts)[:, k])
            for k, side in enumerate(sides)
        ]
        there = semantic_pairs(*clear, vectors, similarity=config.similarity)
        back = semantic_pairs(*clear[::-1], vectors, similarity=config.similarity)
        there, back = there[: config.most_pairs], back[: config.most_pairs]
    return list(dict.fromkeys([*there, *((source, target) for target, source in back)]))


def _by_references(writer: StyledBart, pairs: Sequence[Pair], ways: int) -> Validate:
    """The BLEU of held-out rewrites, in [0, 1], the mean over the directions that there are."""

    def validate() -> Mapping[str, float]:
        found = {}
        for side, name in list(enumerate(("forward", "back")))[:ways]:
            written = writer.rewritten([pair[side] for pair in pairs], side, Decoding(), 64)
            bleu = BLEU(lowercase=True, force=True)
            score = bleu.corpus_score(written, [[pair[1 - side] for pair in pairs]]).score
            found[f"ref_bleu_{name}"] = score / 100
        return {**found, "selection": float(np.mean(list(found.values())))}

    return validate


def _by_judge(
    writer: StyledBart, data: TrainingData, train: Sides, held: Sides, seed: int
) -> Validate:
    """ACC and self-BLEU of held-out sentences; the judge is not the reward's classifier."""
    prepare = preparation(language_of(data.direction)).for_language_model
    sides = [Sides(*(tuple(prepare(side)) for side in both)) for both in (train, held)]
    judge = selection(*sides, seed)

    def rewrite(texts: Sequence[str], side: int) -> list[str]:
        return prepare(writer.rewritten(texts, side, Decoding(), 64))

    return lambda: judge.scores(rewrite)
