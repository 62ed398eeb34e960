"""Choosing weights: the style and the content of rewrites of held-out training sentences.

The style classifier is trained here, on the training sentences alone, and is of another kind than
the one that the benchmark scores with: a system must not be chosen by its judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from ...datasets_scripts.cleaning import match_key
from ...datasets_scripts.load import TrainingData
from ...errors import InputError
from ...metrics.scorers.classifiers import StyleModel
from ...metrics.scorers.fasttext import FastTextConfig, fit
from ...metrics.scorers.train import labelled

_STYLES = ("source", "target")


class Sides(NamedTuple):
    """Sentences of the two styles."""

    source: tuple[str, ...]
    target: tuple[str, ...]


@dataclass(frozen=True)
class Selection:
    """Held-out sentences and their judge.

    Attributes:
        held_out: what is rewritten.
        classifier: trained on the rest.
    """

    held_out: Sides
    classifier: StyleModel

    def scores(self, rewrite: Callable[[Sequence[str], int], Sequence[str]]) -> dict[str, float]:
        """ACC and self-BLEU of both directions, in [0, 1], and the mean of their products.

        Args:
            rewrite: gives, for sentences and the side they are of, their rewrites.
        """
        found: dict[str, float] = {}
        for side, name in enumerate(("forward", "back")):
            sources = self.held_out[side]
            if not sources:
                raise InputError("no sentences are held out of a style: hold_out is too small")
            outputs = list(rewrite(sources, side))
            shares = self.classifier.distribution(outputs)
            found[f"acc_{name}"] = float(np.mean(shares.argmax(axis=1) == 1 - side))
            bleu = BLEU(tokenize="none", lowercase=True, effective_order=False, force=True)
            found[f"self_bleu_{name}"] = bleu.corpus_score(outputs, [list(sources)]).score / 100
        products = [found[f"acc_{n}"] * found[f"self_bleu_{n}"] for n in ("forward", "back")]
        return {**found, "selection": float(np.mean(products))}


def hold_out(data: TrainingData, size: int, seed: int) -> tuple[Sides, Sides]:
    """Split training sentences into those to learn from and those to select with.

    The dataset's validation split is for selection if there is one; otherwise ``size`` sentences a
    style are drawn from the training split, and all copies of them leave it, whatever their case
    and spaces.

    Raises:
        InputError: a style has too few sentences.
    """
    train = Sides(data.train.source, data.train.target)
    if data.validation is not None and data.validation.source and data.validation.target:
        return train, Sides(
            _first(data.validation.source, size), _first(data.validation.target, size)
        )
    kept, held = [], []
    styles = (data.direction.source_style, data.direction.target_style)
    for side in (0, 1):
        distinct = list(dict.fromkeys(train[side]))
        if len(distinct) < 2 * size:
            raise InputError(
                f"{data.direction} has {len(distinct)} {styles[side]} sentences to learn from; "
                f"{size} are held out to choose weights with: lower hold_out, or add sentences"
            )
        drawn = np.random.default_rng([seed, side]).choice(len(distinct), size, replace=False)
        out = {match_key(distinct[i]) for i in drawn}  # what is learned is lower-cased later
        held.append(tuple(distinct[i] for i in sorted(drawn)))
        kept.append(tuple(text for text in train[side] if match_key(text) not in out))
    return Sides(*kept), Sides(*held)


def selection(train: Sides, held_out: Sides, seed: int) -> Selection:
    """Train the judge."""
    labels = [0] * len(train.source) + [1] * len(train.target)
    data = labelled([*train.source, *train.target], labels, _STYLES, what="training sentences")
    return Selection(held_out, fit(data, _STYLES, FastTextConfig(seed=seed)))


def _first(sentences: Sequence[str], size: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentences))[:size]


def check_sides(data: TrainingData, sides: Sides) -> None:
    """Raise :class:`InputError` if a style has no sentences."""
    for style, part in zip(
        (data.direction.source_style, data.direction.target_style), sides, strict=True
    ):
        if not part:
            raise InputError(f"{data.direction} has no {style} sentences to learn from")
