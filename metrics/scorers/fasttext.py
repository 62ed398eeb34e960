"""fastText style classifier (Joulin et al. 2017), through floret.

floret is the only build of fastText that trains the same model twice from the same seed. Its file
format is read by a C++ parser: load only your own models or those of people you trust.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import require
from ...files import read_text, temporary_folder, write_json, write_text
from ...settings import Count, Positive, setting
from ..text import words
from .device import HERE, Placement
from .train import ClassifierConfig, LabelledSentences

LABEL = "__label__"


class FastTextModel:
    """A trained floret model; its labels are the indices of the styles.

    Args:
        styles: S names.
        model: the model returned by ``floret.train_supervised``.
    """

    def __init__(self, styles: tuple[str, ...], model: Any) -> None:
        self.styles = styles
        self._model = model

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64."""
        rows = np.array([self._row(sentence) for sentence in sentences])
        rows = rows.clip(0.0, 1.0)  # fastText returns up to 1.00001
        return rows / rows.sum(axis=1, keepdims=True)

    def _row(self, sentence: str) -> list[float]:
        # One line at a time and below the wrapper: floret's predict(list) repeats the first
        # label's probability for all of them, and its predict(str) breaks under numpy 2.
        line = training_line(sentence) + "\n"  # the end of the line is a word too: never empty
        row = [0.0] * len(self.styles)
        for probability, label in self._model.f.predict(line, len(row), 0.0, "strict"):
            row[int(label.removeprefix(LABEL))] = probability
        return row

    def save(self, folder: Path) -> None:
        """Write ``model.json`` and ``model.bin``."""
        write_json(folder / "model.json", {"styles": self.styles})
        self._model.save_model(str(folder / "model.bin"))

    @classmethod
    def load(cls, folder: Path, _placement: Placement = HERE) -> FastTextModel:
        """Read back what :meth:`save` wrote."""
        floret = require("floret", "train")
        styles = json.loads(read_text(folder / "model.json"))["styles"]
        return cls(tuple(styles), floret.load_model(str(folder / "model.bin")))


def training_line(sentence: str) -> str:
    r"""The sentence as fastText reads it: words separated by spaces, never a label or a line break.

    >>> training_line("__label__1 Great\nfood!")
    '_label_1 great food !'
    """
    return " ".join(words(sentence)).replace(LABEL, LABEL[1:-1])


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
