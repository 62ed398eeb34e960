"""Train the fastText classifier (Joulin et al. 2017) with floret."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import require
from ...files import temporary_folder, write_text
from ...metrics.scorers.fasttext import LABEL, FastTextModel, training_line
from ...settings import Count, Positive, setting
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("floret",)


@dataclass(frozen=True, kw_only=True)
class FastTextConfig(ClassifierConfig):
    """Settings of floret's supervised trainer, in one thread: the same seed, the same model."""

    epochs: Count = setting(5, "passes over the sentences")
    learning_rate: Positive = setting(0.5, "at the beginning; it falls to 0")
    longest_ngram: Count = setting(2, "words of the longest n-grams")
    dimension: Count = setting(20, "numbers per word")
    buckets: Count = setting(200_000, "for n-grams, which are hashed")
    min_count: Count = setting(1, "how often a word must occur")


Config = FastTextConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: FastTextConfig) -> FastTextModel:
    """Train on labelled sentences.

    Raises:
        MissingExtraError: floret is not installed.
    """
    floret = require("floret", "train")
    pairs = zip(data.labels, data.sentences, strict=True)
    lines = [f"{LABEL}{label} {training_line(sentence)}\n" for label, sentence in pairs]
    # It reads the file in order: with one style after the other, it would forget the first.
    random.Random(config.seed).shuffle(lines)
    with temporary_folder() as folder:
        file = folder / "train.txt"
        write_text(file, "".join(lines))
        model = floret.train_supervised(
            str(file),
            epoch=config.epochs,
            lr=config.learning_rate,
            wordNgrams=config.longest_ngram,
            dim=config.dimension,
            bucket=config.buckets,
            minCount=config.min_count,
            seed=config.seed,
            thread=1,
            verbose=0,
        )
    return FastTextModel(tuple(styles), model)
