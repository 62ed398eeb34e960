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
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor, nn
from torch.optim import Optimizer

from ..datasets_scripts.catalog import language_of, parse_direction
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import Pair, TrainingData
from ..errors import InputError, MissingFileError, MissingScorerError
from ..metrics.scorers.weights import fetch, read_model, read_tokenizer
from ..metrics.text import nltk_tokens, preparation
from ..settings import Count, Natural, NotNegative, Positive, Share, read_settings, setting
from .card import Family
from .system import Request, System, SystemCard, SystemConfig, Task
from .training.loop import Learner, Terms, Update, learn
from .training.pairs import (
    Paired,
    PairsFrom,
    clear_in_style,
    lexical_pairs,
    semantic_pairs,
)
from .training.rewarded_bart import (
    SCRATCH,
    DiversityMemory,
    ReaderFit,
    Seq2Seq,
    content_batch,
    fit_reader,
    log_probabilities,
    salience,
    self_critical,
    style_probability,
    text_bleu,
    token_policy_loss,
    up_to_end,
)
from .training.run import IN_MEMORY, Run
from .training.sampler import Order, by_length
from .training.selection import Sides, check_sides, hold_out, selection


@dataclass(frozen=True, kw_only=True)
class BsrrConfig(SystemConfig):
    """The published settings; see the paper's section 4.2 and the released ``Model.py``."""

    base: str = setting(
        "facebook/bart-base", "pretrained BART: Hub id or folder; scratch: a tiny random one"
    )
    classifier: str = setting(
        "FacebookAI/roberta-base",
        "RoBERTa to judge style: Hub id or folder; scratch: a small new one",
    )
    pairs: PairsFrom = setting(
        "auto", "data, mined pseudo-pairs, or auto: mined if the data have none"
    )
    mining: Literal["lexical", "semantic"] = setting(
        "lexical", "pseudo-pairs are similar by letters, or by meaning"
    )
    most_pairs: Count = setting(20_000, "most pseudo-pairs to mine from each style")
    similarity: Annotated[float, Field(ge=-1, le=1)] = setting(
        0.85, "cosine above which a semantic pair is kept"
    )
    max_length: Annotated[int, Field(ge=8)] = setting(
        30, "longest answer in tokens, its style counted"
    )
    sample_length: Annotated[int, Field(ge=8)] = setting(
        25, "longest drawn sentence in tokens, its style counted"
    )
    batch_size: Count = setting(64, "pairs a step")
    grouping: Count = setting(20, "batches sorted by length together; 1 for none")
    optimizer: Literal["adamw", "rmsprop"] = setting(
        "adamw", "adamw, or rmsprop, published for sentiment"
    )
    learning_rate: Positive = setting(1e-5, "the optimiser's")
    reward_rate: Positive = setting(
        1e-5, "the optimiser's once there are rewards; published: equal"
    )
    clip: Positive = setting(1.0, "gradient norm, once there are rewards")
    epochs: Positive = setting(10, "times that each pair is seen, both ways")
    supervised_epochs: NotNegative = setting(2, "first epochs, without rewards")
    smoothing: Share = setting(0.15, "label smoothing")
    supervised_decay: Annotated[float, Field(gt=0, le=1)] = setting(
        0.6, "factor of the supervised loss, each epoch with rewards"
    )
    style_weight: NotNegative = setting(1.0, "weight of the style reward")
    content_weight: NotNegative = setting(1.0, "weight of the content reward")
    temperature: Positive = setting(0.8, "sentences are drawn at")
    baseline: bool = setting(
        True, "compare content with the likeliest sentence; released code: false"
    )
    gated: bool = setting(False, "style counts as far as content does; for sentiment")
    diverse: bool = setting(False, "less reward for words drawn often; for sentiment")
    classifier_steps: Count = setting(12_000, "steps of the classifier")
    classifier_rate: Positive = setting(2e-5, "AdamW's, of the classifier")
    classifier_dimension: Annotated[int, Field(ge=32)] = setting(
        128, "of a classifier from scratch, a multiple of 32"
    )
    classifier_layers: Count = setting(2, "of a classifier from scratch")
    validate_every: Count = setting(1000, "steps between validations; at most an epoch")
    hold_out: Count = setting(500, "most pairs to choose weights with")
    seed: Natural = setting(0, "of everything random")

    def __post_init__(self) -> None:
        if self.classifier_dimension % 32:
            raise InputError(
                f"classifier_dimension {self.classifier_dimension} is not a multiple of 32"
            )

    @classmethod
    def for_direction(cls, direction: Direction) -> BsrrConfig:
        """RMSprop, gates and diversity for sentiment; longer lines for Shakespeare and StylePTB."""
        if direction.dataset in ("yelp", "amazon", "mini"):
            mining: Literal["lexical", "semantic"] = (
                "semantic" if direction.dataset == "amazon" else "lexical"
            )
            return cls(optimizer="rmsprop", gated=True, diverse=True, mining=mining)
        if direction.dataset.startswith("gyafc"):
            return cls()
        return cls(max_length=60, sample_length=60)

    @classmethod
    def tstbench(cls, direction: Direction) -> BsrrConfig:
        """The benchmark's copy: rewards from the start, without a baseline; style weight 0.8."""
        return replace(
            cls.for_direction(direction), supervised_epochs=0, baseline=False, style_weight=0.8
        )

    @classmethod
    def small(cls, direction: Direction) -> BsrrConfig:
        """For a small BART: give its folder as ``base``."""
        return replace(
            cls.for_direction(direction),
            classifier=SCRATCH,
            optimizer="adamw",
            learning_rate=5e-4,
            reward_rate=3e-5,
            batch_size=32,
            epochs=2.7,
            supervised_epochs=2.45,
            sample_length=40,
            classifier_steps=400,
            classifier_rate=3e-4,
            validate_every=100,
            hold_out=120,
        )

    @classmethod
    def tiny(cls, direction: Direction) -> BsrrConfig:
        """A random BART and mined pairs: learns next to nothing within seconds, for tests."""
        return replace(
            cls.for_direction(direction),
            base=SCRATCH,
            classifier=SCRATCH,
            optimizer="adamw",
            most_pairs=60,
            max_length=16,
            sample_length=12,
            batch_size=8,
            learning_rate=3e-3,
            reward_rate=3e-3,
            epochs=1,
            supervised_epochs=0.8,
            classifier_steps=5,
            classifier_dimension=32,
            validate_every=20,
            hold_out=6,
        )


@dataclass(frozen=True, kw_only=True)
class BsrrSettings:
    """How answers are generated; published: greedily."""

    beams: Count = setting(1, "of the beam search; 1 is greedy")
    min_length: Natural = setting(10, "shortest answer in tokens, its style counted")
    max_length: Natural = setting(0, "longest answer in tokens; 0: as long as in training")


CUT = 200  # characters of a sentence that are read
_GREEDY = BsrrSettings(min_length=0)  # of validation


@dataclass(frozen=True)
class StyledBart:
    """A BART that reads and writes ``style # sentence``; side 0 is the source style.

    Attributes:
        bart: model and tokenizer.
        styles: words for the styles.
        max_length: the longest answer, in ids.
    """

    bart: Seq2Seq
    styles: tuple[str, str]
    max_length: int

    def rows(self, texts: Sequence[str], side: int) -> list[list[int]]:
        """Sentences of a side as they are read and taught: the first 200 characters."""
        return self.bart.encode(
            [text[:CUT] for text in texts], self.bart.longest, before=f"{self.styles[side]} #"
        )

    def begin(self, side: int) -> list[int]:
        """``<s> style #``, which a sentence of that style begins with."""
        return self.bart.encode([""], 0, before=f"{self.styles[side]} #")[0][:-1]

    def text(self, row: Sequence[int], side: int) -> str:
        """The sentence of a row, without its style."""
        return self.bart.decode(row[len(self.begin(side)) :])

    def rewritten(self, texts: Sequence[str], side: int, how: BsrrSettings, size: int) -> list[str]:
        """Sentences of a side in the other style, in their order; ``size`` at a time."""
        rows = self.rows(texts, side)

        def write(chosen: list[int]) -> list[str]:
            written = self.bart.generate(
                [rows[i] for i in chosen],
                max_length=how.max_length or self.max_length,
                min_length=how.min_length,
                beams=how.beams,
                begin=[self.begin(1 - side)] * len(chosen),
            )
            return [self.text(row, 1 - side) for row in written.tolist()]

        return by_length(rows, size, write)


class StyleRoberta(nn.Module):
    """Logits of two styles for rows of ids; a row is a sentence without ``<s>`` and ``</s>``.

    Args:
        model: ``RobertaForSequenceClassification`` with two labels, attention ``eager``.
        start: id of ``<s>``, whose place the verdict is read at.
        end: id of ``</s>``.
    """

    def __init__(self, model: Any, *, start: int, end: int) -> None:
        super().__init__()
        self.model = model
        self._start, self._end = start, end
        self._pad = int(model.config.pad_token_id)

    @property
    def longest(self) -> int:
        """The most ids that a row may have: RoBERTa's places start behind its padding's id."""
        return int(self.model.config.max_position_embeddings) - self._pad - 3

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, 2) of ids (B, T), of which the first ``lengths`` (B) count."""
        logits: Tensor = self._read(ids, lengths, attentions=False).logits
        return logits

    def verdict(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Logits (B, 2), and of each layer the attentions (B, heads, T + 2, T + 2).

        Place 0 is ``<s>``, and the id at place t of a row is at place t + 1.
        """
        output = self._read(ids, lengths, attentions=True)
        return output.logits, output.attentions

    def _read(self, ids: Tensor, lengths: Tensor, *, attentions: bool) -> Any:
        places = torch.arange(ids.shape[1] + 2, device=ids.device)
        edge = torch.full((len(ids), 1), self._pad, device=ids.device)
        rows = torch.cat([edge, ids, edge], dim=1)
        rows = rows.masked_fill(places > lengths[:, None], self._pad)
        rows[:, 0] = self._start
        rows.scatter_(1, lengths[:, None] + 1, self._end)
        seen = (places <= lengths[:, None] + 1).long()
        return self.model(input_ids=rows, attention_mask=seen, output_attentions=attentions)


def style_roberta(
    classifier: str, bart: Seq2Seq, *, dimension: int, layers: int, seed: int
) -> StyleRoberta:
    """A RoBERTa classifier, yet to be trained, that reads the ids its BART writes.

    Args:
        classifier: Hub id or folder of a RoBERTa, or ``scratch``.
        bart: whose ids it reads.
        dimension: of one from scratch.
        layers: of one from scratch.
        seed: of one from scratch, and of the head.

    Raises:
        MissingFileError: the weights cannot be found.
        InputError: the checkpoint cannot be read, or its tokenizer is not the BART's.
    """
    torch.manual_seed(seed)
    model = (
        _from_scratch(bart, dimension, layers)
        if classifier == SCRATCH
        else _pretrained(classifier, bart)
    )
    return StyleRoberta(model, start=bart.start, end=bart.end)


def _from_scratch(bart: Seq2Seq, dimension: int, layers: int) -> Any:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    # The base class's settings, num_labels and attn_implementation, are not in its signature.
    kind: Any = RobertaConfig
    return RobertaForSequenceClassification(
        kind(
            vocab_size=bart.model.config.vocab_size,
            hidden_size=dimension,
            num_hidden_layers=layers,
            num_attention_heads=max(1, dimension // 32),
            intermediate_size=4 * dimension,
            max_position_embeddings=bart.model.config.max_position_embeddings + bart.pad + 3,
            pad_token_id=bart.pad,
            bos_token_id=bart.start,
            eos_token_id=bart.end,
            num_labels=2,
            attn_implementation="eager",  # the others do not say where they look
        )
    )


def _pretrained(classifier: str, bart: Seq2Seq) -> Any:
    try:
        folder = fetch(classifier)
    except MissingScorerError as error:
        raise MissingFileError(
            f"{error}. Or train a small classifier from scratch: --classifier {SCRATCH}"
        ) from error
    tokenizer = read_tokenizer(folder)
    model = read_model(
        folder,
        "RobertaForSequenceClassification",
        new_head=True,
        settings={"num_labels": 2, "attn_implementation": "eager"},
        dtype=torch.float32,
    )
    words = bart.tokenizer.get_vocab()
    theirs = tokenizer.get_vocab()
    if any(theirs.get(word) != number for word, number in words.items()):
        raise InputError(
            f"{classifier} does not have the word pieces of the BART that it is to judge: give a "
            f"RoBERTa with the same tokenizer, or --classifier {SCRATCH}"
        )
    return model


_BLEU_WEIGHTS = (0.15, 0.15, 0.35, 0.35)
_MOST_STYLE, _LEAST_SALIENCE, _MOST_SALIENCE = 0.8, 0.2, 0.5
_CONTENT_SHARE = 0.7  # a word's weight for content is this less its weight for style

Validate = Callable[[], Mapping[str, float]]


class BsrrLearner(Learner):
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
        kinds: dict[str, Callable[..., Optimizer]] = {
            "adamw": torch.optim.AdamW,
            "rmsprop": torch.optim.RMSprop,
        }
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
        """The pairs' loss, and from ``supervised_epochs`` on, the rewards' too."""
        rewarded = step >= self._config.supervised_epochs * self._epoch
        if rewarded:
            self._memory.begin(step)
        # The supervised loss fades once there are rewards.
        fading = self._config.supervised_decay ** (step // self._epoch + 1)

        def rewarded_loss(batch: np.ndarray) -> Terms:
            return {
                "words": fading * self._word_loss(batch),
                **self._reward_losses(batch),
            }

        def supervised_loss(batch: np.ndarray) -> Terms:
            return {"words": self._word_loss(batch)}

        return Update(
            name="rewarded" if rewarded else "supervised",
            optimizers=("bart",),
            loss=rewarded_loss if rewarded else supervised_loss,
            order=self._order,
            number=step,
            rates={"bart": self._config.reward_rate if rewarded else self._config.learning_rate},
            clip=self._config.clip if rewarded else None,
        )

    def _word_loss(self, batch: np.ndarray) -> Tensor:
        """Label-smoothed, the mean over the words of the batch."""
        sources = self._bart.padded([self._sources[i] for i in batch])
        targets = self._bart.padded([self._targets[i] for i in batch])
        total = F.cross_entropy(
            self._bart.logits(sources, targets).flatten(0, 1),
            targets.flatten(),
            ignore_index=self._bart.pad,
            label_smoothing=self._config.smoothing,
            reduction="sum",
        )
        return total / sum(len(self._targets[i]) for i in batch)

    def _reward_losses(self, batch: np.ndarray) -> Terms:
        """Both rewards of sentences drawn now: a mean over the words of the batch."""
        config, bart = self._config, self._bart
        was_training = self.network.training
        self.network.eval()  # drawn and scored without dropout: the same distribution twice
        sides = [int(i >= self._half) for i in batch]
        begin = [self._begin[1 - side] for side in sides]
        rows = [self._sources[i] for i in batch]
        drawn = bart.generate(
            rows, max_length=config.sample_length, temperature=config.temperature, begin=begin
        )
        free = torch.arange(drawn.shape[1], device=drawn.device) >= torch.tensor(
            [[len(row)] for row in begin], device=drawn.device
        )
        mask = up_to_end(drawn, bart.end) & free
        content = self._content_advantage(batch, rows, drawn, begin)
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
        return {
            "style": config.style_weight * token_policy_loss(log_p, mask, style[:, None] * weight),
            "content": config.content_weight
            * token_policy_loss(log_p, mask, content[:, None] * content_share),
        }

    def _content_advantage(
        self,
        batch: np.ndarray,
        rows: Sequence[Sequence[int]],
        drawn: Tensor,
        begin: Sequence[Sequence[int]],
    ) -> Tensor:
        """How much better drawn sentences can be turned back than the likeliest ones; (B)."""
        config, bart = self._config, self._bart
        versions = [drawn]
        if config.baseline:
            versions.append(bart.generate(rows, max_length=config.sample_length, begin=begin))
        sides = [int(i >= self._half) for i in batch] * len(versions)
        written = [self._ended(row) for ids in versions for row in ids.tolist()]
        back = bart.generate(
            written, max_length=config.sample_length, begin=[self._begin[side] for side in sides]
        )

        found = [
            self._tokens(self._writer.text(row, side), side, bart.end in row)
            for row, side in zip(back.tolist(), sides, strict=True)
        ]
        wanted = [self._tokens(self._texts[i], int(i >= self._half)) for i in batch] * len(versions)
        scores = text_bleu(found, wanted, _BLEU_WEIGHTS).to(drawn.device).split(len(batch))
        if not config.baseline:
            return scores[0]
        return self_critical(scores[0], scores[1], only_better=True)

    def _tokens(self, text: str, side: int, ended: bool = True) -> str:
        """``<s>style # text</s>`` as NLTK's tokenizer parts it, which the released BLEU reads."""
        written = nltk_tokens(" ".join(text[:CUT].split()))
        return f"< s > {self._writer.styles[side]} # {written}" + " < /s >" * ended

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
        weight[words] = looks[:, 1:][inside].to(weight.dtype)  # under autocast they are bfloat16
        return style_probability(logits, target, top=_MOST_STYLE), weight

    def validate(self) -> Mapping[str, float]:
        """See :func:`.bsrr._by_references` and :func:`.bsrr._by_judge`."""
        return self._validate()


@dataclass(frozen=True)
class Bsrr(System):
    """BART both ways, taught by (mined) pairs and stepwise rewards.

    Attributes:
        card: its settings and training data.
        writer: model, tokenizer and the styles' words.
    """

    KIND: ClassVar[str] = "bsrr"
    FAMILY: ClassVar[Family] = "fpft"
    BOTH_WAYS: ClassVar[bool] = True
    RECIPE_VERSION: ClassVar[int] = 2  # 1 cut sentences at max_length; BLEU of words between spaces
    ORIGIN: ClassVar[str] = "Liu and Chen (2022), BSRR; TSTBench's implementation"
    LIBRARIES: ClassVar[tuple[str, ...]] = ("torch", "transformers")
    LOCAL: ClassVar[tuple[str, ...]] = ("base", "classifier")
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
        split = _split(data, config) if mined else None
        source = data if split is None else _only(data, split[0])
        paired = Paired.of(
            source,
            config.pairs,
            lambda sides: _mined(sides, config),
            hold_out=config.hold_out,
            seed=config.seed,
            system=cls.KIND,
        )
        prepare = preparation(language_of(data.direction)).for_classifier
        sentences = Sides(*(tuple(prepare(s)) for s in (source.train.source, source.train.target)))
        check_sides(data, sentences)
        styles = _style_words(data.direction)
        texts = [
            f"{style} # {text}"
            for style, side in zip(styles, sentences, strict=True)
            for text in side
        ]
        bart = Seq2Seq.pretrained(config.base, texts, config.seed)
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
            [
                row[len(writer.begin(side)) : -1][: classifier.longest]
                for row in writer.rows(texts, side)
            ]
            for side, texts in enumerate(sentences)
        ]
        accuracy = fit_reader(classifier, rows, fit, run, card.recipe)
        if split is None:
            validate = _by_references(writer, paired.held_out, len(card.directions))
        else:
            validate = _by_judge(writer, data, sentences, split[1], config.seed)
        learner = BsrrLearner(writer, classifier, paired.train, config, validate)
        learned = learn(learner, run, card.recipe)
        scores = {**learned.scores, "classifier_accuracy": accuracy}
        return cls(replace(card, n_pairs=len(paired.train), scores=scores), writer)

    def rewrite(self, batch: Sequence[Request], task: Task) -> list[str]:
        """The likeliest words, one after the other, or those that a beam search finds."""
        text = preparation(language_of(task.direction))
        how: BsrrSettings = task.settings
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

        def clear(style: int) -> list[str]:
            def own(texts: Sequence[str]) -> np.ndarray:
                return judge.distribution(texts)[:, style]

            return clear_in_style(sides[style], own)

        first, second = clear(0), clear(1)
        there = semantic_pairs(first, second, vectors, similarity=config.similarity)
        back = semantic_pairs(second, first, vectors, similarity=config.similarity)
        there, back = there[: config.most_pairs], back[: config.most_pairs]
    return list(dict.fromkeys([*there, *((source, target) for target, source in back)]))


def _by_references(writer: StyledBart, pairs: Sequence[Pair], ways: int) -> Validate:
    """The BLEU of held-out rewrites, in [0, 1], the mean over the directions that there are."""

    def validate() -> Mapping[str, float]:
        found = {}
        for side, name in list(enumerate(("forward", "back")))[:ways]:
            written = writer.rewritten([pair[side] for pair in pairs], side, _GREEDY, 64)
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
    learned, kept = (Sides(*(tuple(prepare(side)) for side in both)) for both in (train, held))
    judge = selection(learned, kept, seed)

    def rewrite(texts: Sequence[str], side: int) -> list[str]:
        return prepare(writer.rewritten(texts, side, _GREEDY, 64))

    return lambda: judge.scores(rewrite)
