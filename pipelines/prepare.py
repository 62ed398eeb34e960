"""Prepare: train the scorers that a direction's metrics need and that are not there yet.

What is there with the same recipe (data, settings) is not trained again. Test sentences and their
human rewrites are never trained on: they are removed from the training sentences first.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .. import __version__
from ..datasets_scripts.directions import Direction, dataset_facts
from ..datasets_scripts.load import StyleData, StyleSplit, load_styles
from ..metrics.facts import METRICS, scorers_needed
from ..metrics.scorers.artefacts import Artefact, ScorerCard, data_fingerprint, find_recipe, store
from ..metrics.scorers.profile import (
    Profile,
    Scorers,
    acceptability_corpus,
    language_model_name,
)
from ..metrics.scorers.published import fetch_recipe
from ..metrics.text import (
    CLASSIFIER_TEXT,
    LANGUAGE_MODEL_TEXT,
    classifier_texts,
    language_model_texts,
)
from ..trainers.acceptability import (
    cola_corpus,
    corrupted_corpus,
    train_acceptability,
)
from ..trainers.classifiers.config import ClassifierConfig
from ..trainers.classifiers.train import train_classifier
from ..trainers.language_model import train_language_model
from .talk import say

ORDER = 5


def prepare(
    direction: Direction,
    profile: Profile,
    metrics: Iterable[str],
    *,
    data_dir: Path | None = None,
) -> list[Artefact]:
    """Make every scorer there that the metrics need on one direction.

    Returns:
        The scorers that are trained here; those of the Hub are only looked for.

    Raises:
        MissingFileError: training sentences that are nowhere.
        MissingScorerError: published weights that are not here and cannot be fetched.
        MissingExtraError: a library that a scorer needs is not installed.
    """
    needed = scorers_needed(metrics)
    scorers = Scorers(profile, direction)
    trained_here = "/" not in profile.acceptability
    # What comes from the Hub first: better missed now than after an hour of training.
    if "encoder" in needed:
        _ = scorers.encoder
    if "acceptability" in needed and not trained_here:
        _ = scorers.acceptability
    made = []
    if needed & {"classifier", "language_model"}:
        data = load_styles(direction.dataset, data_dir=data_dir)
        if "classifier" in needed:
            made.append(train_style_classifier(data, profile.classifier))
        if "language_model" in needed:
            made.append(train_style_language_model(data, direction.target_style))
    if "acceptability" in needed and trained_here:
        corpus = acceptability_corpus(direction.dataset)
        made.append(train_corpus_acceptability(corpus, profile.acceptability))
    return made


def prepare_dataset(
    dataset: str, profile: Profile, *, data_dir: Path | None = None
) -> list[Artefact]:
    """Make all scorers of a dataset there, for both directions."""
    made = {}
    for direction in dataset_facts(dataset).directions:
        for artefact in prepare(direction, profile, METRICS, data_dir=data_dir):
            made[artefact.hash] = artefact
    return list(made.values())


def train_style_classifier(
    data: StyleData, kind: str, config: ClassifierConfig | None = None
) -> Artefact:
    """Train the style classifier of a dataset, unless it is there.

    Its accuracy is measured on the validation split where that is not what it is trained on, else
    on a tenth held out.
    """
    training = data.training
    source = f"{data.dataset}/{training.name}, {len(training)} sentences"
    say(f"scorer: {kind} style classifier, {source}")
    held_out = None
    if training.name != "validation" and "validation" in data.splits:
        validation = data.splits["validation"]
        held_out = (classifier_texts(validation.texts), validation.labels)
    return train_classifier(
        kind,
        classifier_texts(training.texts),
        training.labels,
        data.styles,
        config,
        dataset=data.dataset,
        trained_on=trained_on(data, training, CLASSIFIER_TEXT),
        exclude=test_sentences(data),
        n_excluded=training.excluded,
        held_out=held_out,
    )


def train_style_language_model(data: StyleData, style: str) -> Artefact:
    """Train the n-gram model of one style of a dataset, unless it is there."""
    training = data.training
    sentences = language_model_texts(training.of(data.styles.index(style)))
    card = ScorerCard(
        role="language_model",
        dataset=data.dataset,
        name=language_model_name(style),
        kind="kneser-ney",
        styles=(style,),
        trained_on=trained_on(data, training, LANGUAGE_MODEL_TEXT),
        data_fingerprint=data_fingerprint(sentences),
        n_sentences=len(sentences),
        n_excluded=training.excluded,
        settings={"order": ORDER, "estimator": "own"},
        versions={"tstbench": __version__},
    )
    if there := find_recipe(card) or fetch_recipe(card):
        return there
    say(f"scorer: 5-gram language model, {data.dataset}/{style}, {len(sentences)} sentences")
    return store(card, lambda folder: _write_language_model(sentences, folder))


def train_corpus_acceptability(
    corpus: str, kind: str, config: ClassifierConfig | None = None
) -> Artefact:
    """Train the acceptability classifier of a corpus, unless it is there.

    Args:
        corpus: ``cola``, or a dataset whose sentences, and corruptions of them, are learned from.
        kind: of classifier.
        config: of that kind; ``None`` for the kind's own.
    """
    if corpus == "cola":
        say(f"scorer: {kind} acceptability classifier, CoLA")
        return train_acceptability(cola_corpus(), kind, config)
    data = load_styles(corpus)
    say(f"scorer: {kind} acceptability classifier, {corpus} and corruptions of it")
    exclude = data.splits["test"].texts if "test" in data.splits else ()
    corrupted = corrupted_corpus(corpus, data.training.texts, exclude=exclude)
    return train_acceptability(corrupted, kind, config)


def trained_on(data: StyleData, training: StyleSplit, text: str) -> str:
    """The training data, for people: which split, without what, prepared how."""
    return f"{data.dataset}/{training.name} without test sentences, {text}"


def test_sentences(data: StyleData) -> list[str]:
    """Sentences that no scorer may be trained on; load_styles has left them out already."""
    return classifier_texts(data.splits["test"].texts) if "test" in data.splits else []


def _write_language_model(sentences: list[str], folder: Path) -> None:
    train_language_model(sentences, folder, ORDER)
