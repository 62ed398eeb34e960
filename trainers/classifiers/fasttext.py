"""Train the fastText classifier (Joulin et al. 2017) with floret."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import require
from ...files import write_text
from ...metrics.scorers.fasttext import LABEL, FastTextModel, training_line
from ...scratch import scratch_folder
from .config import ClassifierConfig
from .data import LabelledSentences

LIBRARIES = ("floret",)


@dataclass(frozen=True, kw_only=True)
class FastTextConfig(ClassifierConfig):
    """Settings of floret's supervised trainer, in one thread: the same seed, the same model."""

    epochs: int = 5
    learning_rate: float = 0.5
    longest_ngram: int = 2  # words
    dimension: int = 20
    buckets: int = 200_000  # for n-grams, which are hashed
    min_count: int = 1


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
    with scratch_folder() as folder:
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
