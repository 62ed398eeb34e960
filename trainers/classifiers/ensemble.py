"""Train an ensemble: each member on the same sentences, its spread on a few kept from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from pydantic import JsonValue

from ...errors import InputError
from ...metrics.scorers.classifiers import KINDS, classifier_kind
from ...metrics.scorers.ensemble import NAME, EnsembleModel, spread
from ...settings import Count, setting
from ..learning.pace import part
from .config import ClassifierConfig
from .data import LabelledSentences

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
