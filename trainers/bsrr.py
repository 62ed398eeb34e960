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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from sacrebleu.metrics.bleu import BLEU

from ..datasets_scripts.catalog import language_of, parse_direction
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.training import Pair, TrainingData
from ..errors import InputError
from ..metrics.scorers.portable import portable
from ..metrics.text import preparation
from ..settings import read_settings
from .bsrr_config import BsrrConfig, BsrrSettings
from .bsrr_learner import BsrrLearner, Validate
from .learning.loop import learn
from .learning.mining import clear_in_style, lexical_pairs, semantic_pairs
from .learning.paired import Paired, check_sides, no_pairs
from .learning.roberta import style_roberta
from .learning.run import IN_MEMORY, Run
from .learning.selection import Sides, hold_out, selection
from .learning.seq2seq import SCRATCH, Seq2Seq
from .learning.style_reader import ReaderFit, fit_reader
from .learning.styled import Decoding, StyledBart
from .system import Request, System, SystemCard, SystemConfig, Task
from .system_card import Family


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
            [
                row[len(writer.begin(side)) : -1][: classifier.longest]
                for row in writer.rows(texts, side)
            ]
            for side, texts in enumerate(sentences)
        ]
        judged, following = fit_reader(classifier, rows, fit, run, card.recipe)
        if split is None:
            validate = _by_references(writer, paired.held_out, len(card.directions))
        else:
            validate = _by_judge(writer, data, sentences, split[1], config.seed)
        learner = BsrrLearner(writer, classifier, paired.train, config, validate)
        learned = learn(learner, following, card.recipe)
        scores = {**learned.scores, "classifier_accuracy": judged["accuracy"]}
        return cls(replace(card, n_pairs=len(paired.train), scores=scores), writer)

    @classmethod
    def planned(cls, data: TrainingData, config: SystemConfig) -> SystemCard:
        """As :meth:`System.planned`; folders given as checkpoints are named by their content."""
        card = super().planned(data, config)
        choice = card.settings["pairs"]
        if choice == "data" and not data.train.pairs:
            raise InputError(no_pairs(data, cls.KIND))
        return replace(
            card,
            settings=portable(card.settings, cls.LOCAL),
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
    learned, kept = (Sides(*(tuple(prepare(side)) for side in both)) for both in (train, held))
    judge = selection(learned, kept, seed)

    def rewrite(texts: Sequence[str], side: int) -> list[str]:
        return prepare(writer.rewritten(texts, side, Decoding(), 64))

    return lambda: judge.scores(rewrite)
