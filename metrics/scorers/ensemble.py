"""An ensemble: classifiers of several kinds, their log-odds brought to one scale and averaged.

Kinds differ in how certain they are more than in which sentences they find more or less certain:
one that answers 0.999 and 0.001 would decide any mean of probabilities. So each member's
log-odds are divided by their spread on sentences that it was not trained on, and multiplied by that of
the logistic distribution: P(style) of ordinary sentences is then spread about evenly over 0 to 1,
which also keeps apart what one classifier alone would call certain. The most probable style is
that of a vote weighted by certainty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ...errors import InputError, IntegrityError
from ...files import read_text, write_json
from ...pace import part
from ...settings import Count, setting
from .classifiers import KINDS, StyleModel, classifier_kind, model_class
from .device import HERE, Placement
from .linear import softmax
from .train import ClassifierConfig, LabelledSentences

NAME = "ensemble"
# Root mean square of a style's centred log-probability if the log-odds of two styles are logistic.
SPREAD = math.pi / math.sqrt(3) / 2
_LEAST = 1e-12  # probabilities below have no finite or no meaningful logarithm


def centred_log_probabilities(distribution: np.ndarray) -> np.ndarray:
    """Log-probabilities minus their mean over styles: shape (N, S); half the log-odds if S is 2."""
    logs = np.log(np.maximum(np.asarray(distribution, dtype=np.float64), _LEAST))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def spread(distribution: np.ndarray) -> float:
    """Root mean square of the centred log-probabilities of N sentences.

    Raises:
        InputError: a classifier that gives every sentence and style the same probability.
    """
    found = float(np.sqrt(np.mean(centred_log_probabilities(distribution) ** 2)))
    if not found > 0:
        raise InputError("a member of the ensemble finds all styles equally probable")
    return found


class EnsembleModel:
    """Members of different kinds and what their log-odds are divided by.

    Args:
        members: (kind, model), M of them, of the same styles in the same order.
        spreads: M numbers, see :func:`spread`.

    Raises:
        InputError: no member, another number of spreads, or members of different styles.
    """

    def __init__(self, members: Sequence[tuple[str, StyleModel]], spreads: Sequence[float]) -> None:
        if not members or len(members) != len(spreads):
            raise InputError(f"an ensemble of {len(members)} members with {len(spreads)} spreads")
        if len({model.styles for _, model in members}) > 1:
            raise InputError("the members of an ensemble tell different styles apart")
        if not all(math.isfinite(one) and one > 0 for one in spreads):
            raise InputError(f"the spreads of an ensemble must be above 0: {list(spreads)}")
        self.members = tuple(members)
        self.spreads = tuple(float(one) for one in spreads)
        self.styles = members[0][1].styles

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1."""
        scaled = [
            centred_log_probabilities(model.distribution(sentences)) * (SPREAD / own)
            for (_, model), own in zip(self.members, self.spreads, strict=True)
        ]
        return softmax(np.mean(scaled, axis=0))

    def save(self, folder: Path) -> None:
        """Write ``model.json``, and each member into a folder named after its kind."""
        settings = {"styles": self.styles, "kinds": self.kinds, "spreads": self.spreads}
        write_json(folder / "model.json", settings)
        for kind, model in self.members:
            (folder / kind).mkdir()
            model.save(folder / kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The members' kinds."""
        return tuple(kind for kind, _ in self.members)

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> EnsembleModel:
        """Read back what :meth:`save` wrote.

        Raises:
            IntegrityError: it names a member of a kind that is not ours.
            MissingExtraError: a member needs a library that is not installed.
        """
        settings = json.loads(read_text(folder / "model.json"))
        kinds = settings["kinds"]
        for kind in kinds:  # they are names of folders, too
            if kind not in KINDS or kind == NAME:
                raise IntegrityError(f"{folder}: {kind!r} cannot be a member of an ensemble")
        members = [(kind, model_class(kind).load(folder / kind, placement)) for kind in kinds]
        ensemble = cls(members, settings["spreads"])
        if ensemble.styles != tuple(settings["styles"]):
            raise IntegrityError(f"{folder}: the members' styles are not the ensemble's")
        return ensemble


LIBRARIES = ("scikit-learn", "numpy", "torch", "transformers", "floret")
_SHORTER: dict[str, dict[str, Any]] = {
    "finetuned": {
        "epochs": 1.0, "most_sentences": 16_000, "least_steps": 100, "frozen_layers": 2,
    }
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EnsembleConfig(ClassifierConfig):
    """Settings of an ensemble; members have their defaults, but for a shorter fine-tuning."""

    members: tuple[str, ...] = setting(
        ("linear", "fasttext", "textcnn", "probe", "finetuned"),
        'kinds, such as ["linear", "textcnn"]',
    )
    kept: Count = setting(2000, "most sentences on which spreads are measured")

    def __post_init__(self) -> None:
        """Check the members.

        Raises:
            UnknownNameError: no such kind.
            InputError: none, one twice, or an ensemble.
        """
        for kind in self.members:
            classifier_kind(kind)
        own = {kind for kind in self.members if kind in KINDS and kind != NAME}
        if not own or len(own) < len(self.members):
            named = ", ".join(self.members) or "nothing"
            raise InputError(f"an ensemble of {named}: name one or more of our kinds, each once")

    def member(self, kind: str) -> ClassifierConfig:
        """The settings of a member."""
        config: ClassifierConfig = import_module(f".{kind}", __package__).Config()
        return replace(config, seed=self.seed, **_SHORTER.get(kind, {}))

    def settings(self) -> dict[str, JsonValue]:
        """The members' settings too: they decide the weights."""
        each: dict[str, JsonValue] = {k: {**self.member(k).settings()} for k in self.members}
        return {"seed": self.seed, "kept": self.kept, "members": each}


Config = EnsembleConfig


def fit(data: LabelledSentences, styles: Sequence[str], config: EnsembleConfig) -> EnsembleModel:
    """Train on labelled sentences.

    Raises:
        InputError, MissingExtraError, MissingScorerError: see the members' trainers.
    """
    order = np.random.RandomState(config.seed).permutation(len(data))
    n = min(config.kept, max(1, len(data) // 20))
    kept, learned = sorted(order[:n]), sorted(order[n:])
    if {data.labels[i] for i in learned} != {*data.labels}:
        learned = list(range(len(data)))  # too few sentences to spare one
    train = LabelledSentences(
        tuple(data.sentences[i] for i in learned), tuple(data.labels[i] for i in learned)
    )
    held = [data.sentences[i] for i in kept]
    members, spreads = [], []
    for kind in config.members:
        with part(kind):
            model = import_module(f".{kind}", __package__).fit(train, styles, config.member(kind))
        members.append((kind, model))
        spreads.append(spread(model.distribution(held)))
    return EnsembleModel(members, spreads)
