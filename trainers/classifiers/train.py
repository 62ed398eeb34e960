"""Train a style classifier of any kind, measure it, and keep it in the cache."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from typing import Protocol, cast

import numpy as np

from ... import __version__
from ...errors import InputError, unknown_name
from ...metrics.scorers.artefacts import (
    Artefact,
    Role,
    ScorerCard,
    data_fingerprint,
    find_recipe,
    store,
)
from ...metrics.scorers.classifiers import StyleModel, require_libraries
from ...metrics.scorers.published import fetch_recipe
from .config import ClassifierConfig
from .data import LabelledSentences, labelled, split_held_out, without

# Imported when used: training a linear classifier needs no torch.
TRAINERS: dict[str, str] = {
    "linear": "tstbench.trainers.classifiers.linear:LinearConfig",
    "fasttext": "tstbench.trainers.classifiers.fasttext:FastTextConfig",
    "textcnn": "tstbench.trainers.classifiers.textcnn:TextCnnConfig",
    "transformer": "tstbench.trainers.classifiers.transformer:TransformerConfig",
    "probe": "tstbench.trainers.classifiers.probe:ProbeConfig",
}
RECIPE_VERSION = 1  # raised when the same settings no longer give the same weights

HeldOut = tuple[Sequence[str], Sequence[int]]


class _TrainerModule(Protocol):
    LIBRARIES: tuple[str, ...]

    def fit(
        self, data: LabelledSentences, styles: Sequence[str], config: ClassifierConfig
    ) -> StyleModel: ...


def default_config(kind: str) -> ClassifierConfig:
    """The settings a kind is trained with when nothing else is said.

    Raises:
        UnknownNameError: no such kind.
    """
    if kind not in TRAINERS:
        raise unknown_name("kind of classifier", kind, TRAINERS)
    require_libraries(kind)
    module, name = TRAINERS[kind].split(":")
    config: ClassifierConfig = getattr(import_module(module), name)()
    return config


def fit(
    kind: str, data: LabelledSentences, styles: Sequence[str], config: ClassifierConfig
) -> StyleModel:
    """Train a model of that kind, in memory only.

    Raises:
        UnknownNameError: no such kind.
        InputError: the settings are another kind's.
    """
    expected = type(default_config(kind))
    if not isinstance(config, expected):
        raise InputError(f"{kind} is trained with {expected.__name__}, got {type(config).__name__}")
    return _trainer(kind).fit(data, styles, config)


def train_classifier(
    kind: str,
    sentences: Sequence[str],
    labels: Sequence[int],
    styles: Sequence[str],
    config: ClassifierConfig | None = None,
    *,
    dataset: str,
    trained_on: str,
    exclude: Collection[str] = (),
    n_excluded: int = 0,
    held_out: HeldOut | None = None,
    role: Role = "classifier",
    name: str | None = None,
    measure: Callable[[StyleModel], Mapping[str, float]] | None = None,
) -> Artefact:
    """Train a classifier and keep it; what was trained by the same recipe is not trained again.

    Args:
        kind: a key of :data:`TRAINERS`.
        sentences: N training sentences.
        labels: N indices into ``styles``.
        styles: S names, in the order of the classifier's columns.
        config: of that kind; None for the kind's own.
        dataset: what it will score, such as ``yelp``.
        trained_on: the data, for people, such as ``yelp/validation without test``.
        exclude: test sources and references; no training sentence equals one of them, whatever
            its case and spacing.
        n_excluded: how many the caller has left out already, for the card.
        held_out: sentences and labels to measure accuracy on, left out of training as well. None
            holds out a tenth, see :func:`~.data.split_held_out`.
        role: what metrics use it for.
        name: in the cache; the kind when not given.
        measure: gives further scores of the trained model for its card, fractions.

    Returns:
        The artefact; ``card.scores["held_out_accuracy"]`` says how good it is.

    Raises:
        InputError: unequal lengths, labels that are no styles, a style without sentences.
        UnknownNameError: no such kind.
    """
    config = config or default_config(kind)
    data = without(labelled(sentences, labels, styles, what=trained_on), exclude)
    n_excluded += len(sentences) - len(data)
    if held_out is None:
        train, held = split_held_out(data)
    else:
        held = labelled(*held_out, styles, what="held-out sentences")
        train = without(data, held.sentences)
    for part, what in ((train, "training sentences"), (held, "held-out sentences")):
        labelled(part.sentences, part.labels, styles, what=f"{trained_on}, {what}")
    libraries = _trainer(kind).LIBRARIES
    card = ScorerCard(
        role=role,
        dataset=dataset,
        name=name or kind,
        kind=kind,
        styles=tuple(styles),
        trained_on=trained_on,
        data_fingerprint=data_fingerprint(train.sentences, train.labels),
        n_sentences=len(train),
        n_excluded=n_excluded,
        settings={**config.settings(), "recipe_version": RECIPE_VERSION},
        versions={"tstbench": __version__, **{library: version(library) for library in libraries}},
    )
    if (there := find_recipe(card) or fetch_recipe(card)) is not None:
        return there
    model = fit(kind, train, styles, config)
    scores = {"held_out_accuracy": accuracy(model, held), **(measure(model) if measure else {})}
    rounded = {score: round(float(value), 6) for score, value in scores.items()}
    return store(replace(card, scores=rounded), model.save)


def accuracy(model: StyleModel, data: LabelledSentences) -> float:
    """Share of sentences whose most probable style is their label."""
    predicted = model.distribution(data.sentences).argmax(axis=1)
    return float(np.mean(predicted == np.asarray(data.labels)))


def _trainer(kind: str) -> _TrainerModule:
    if kind not in TRAINERS:
        raise unknown_name("kind of classifier", kind, TRAINERS)
    return cast(_TrainerModule, import_module(TRAINERS[kind].split(":")[0]))
