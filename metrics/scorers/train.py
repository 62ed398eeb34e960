"""Train a style classifier of any kind, measure it, and store it in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, ClassVar, Protocol, cast

import numpy as np
from pydantic import Field, JsonValue

from ...console import say
from ...datasets_scripts.cleaning import match_key
from ...errors import InputError
from ...pace import announce, training
from ...settings import setting
from ...store import data_fingerprint
from ...version import __version__
from .artefacts import Artefact, ScorerCard, fetch_recipe, find_recipe, portable, store
from .classifiers import StyleModel, classifier_kind


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """Settings of a trainer; each kind adds its own.

    Attributes:
        measured_on: how many held-out sentences the accuracy is measured on, at most.
    """

    measured_on: ClassVar[int | None] = None
    seed: Annotated[int, Field(ge=0, lt=2**32)] = setting(0, "of everything random")

    def settings(self) -> dict[str, JsonValue]:
        """Everything that can change the trained weights, for the card and the recipe.

        A local model is named by its content and by what it learned from, never by its path.
        """
        settings = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }
        return portable(settings, ("base", "encoder"))


@dataclass(frozen=True)
class LabelledSentences:
    """N sentences and their labels, indices into the styles."""

    sentences: tuple[str, ...]
    labels: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.sentences)


def labelled(
    sentences: Sequence[str], labels: Sequence[int], styles: Sequence[str], *, what: str
) -> LabelledSentences:
    """Check sentences and labels, and pair them.

    Args:
        sentences: N texts.
        labels: N indices into ``styles``.
        styles: S names, S >= 2.
        what: what the sentences are, for error messages.

    Raises:
        InputError: unequal lengths, a label that is not a style, or a style without sentences.
    """
    if len(styles) < 2:
        raise InputError(f"a classifier needs at least two styles, got {list(styles)}")
    if len(sentences) != len(labels):
        raise InputError(f"{what}: {len(sentences)} sentences and {len(labels)} labels")
    for i, label in enumerate(labels):
        if not 0 <= int(label) < len(styles):
            raise InputError(
                f"{what}, sentence {i}: label {label} is not one of the {len(styles)} styles"
            )
    present = {int(label) for label in labels}
    absent = [style for i, style in enumerate(styles) if i not in present]
    if absent:
        raise InputError(f"{what}: no sentence is {' or '.join(absent)}")
    return LabelledSentences(tuple(sentences), tuple(int(label) for label in labels))


def without(data: LabelledSentences, forbidden: Collection[str]) -> LabelledSentences:
    """Leave out forbidden sentences, ignoring case and spacing.

    >>> data = LabelledSentences(("Good .", "bad"), (1, 0))
    >>> without(data, ["good."])
    LabelledSentences(sentences=('bad',), labels=(0,))
    """
    keys = [match_key(sentence) for sentence in data.sentences]
    found = set(keys).intersection(map(match_key, forbidden))  # which may be a million
    return _take(data, [i for i, key in enumerate(keys) if key not in found])


def split_held_out(
    data: LabelledSentences, share: float = 0.1
) -> tuple[LabelledSentences, LabelledSentences]:
    """Training and held-out sentences, chosen by the hash of each sentence.

    The choice depends only on the sentence: it is the same on every machine and in every
    order, and copies of a sentence are on the same side.
    """
    limit = round(share * 2**32)
    held = [_draw(sentence) < limit for sentence in data.sentences]
    return (
        _take(data, [i for i, out in enumerate(held) if not out]),
        _take(data, [i for i, out in enumerate(held) if out]),
    )


def most(data: LabelledSentences, n: int | None) -> LabelledSentences:
    """At most N of the sentences, chosen by their hashes as those held out are; in their order."""
    if n is None or len(data) <= n:
        return data
    by_hash = sorted(range(len(data)), key=lambda i: (_draw(data.sentences[i]), i))
    return _take(data, sorted(by_hash[:n]))


def _draw(sentence: str) -> int:
    """A number below 2**32 that looks random and depends on the sentence only."""
    return int.from_bytes(hashlib.sha256(match_key(sentence).encode()).digest()[:4], "big")


def _take(data: LabelledSentences, indices: Sequence[int]) -> LabelledSentences:
    return LabelledSentences(
        tuple(data.sentences[i] for i in indices), tuple(data.labels[i] for i in indices)
    )


RECIPE_VERSION = 1  # raised when the same settings no longer give the same weights
# Seconds a sentence on one core of 2025, of kinds that take no steps: Yelp's 62,426 took these.
_SECONDS = {"linear": 8e-5, "fasttext": 2e-5, "probe": 4e-3}

HeldOut = tuple[Sequence[str], Sequence[int]]


class Trainer(Protocol):
    """How a kind is trained: by a module here, or an object in another package."""

    LIBRARIES: tuple[str, ...]  # libraries whose versions the card states
    Config: type[ClassifierConfig]

    def fit(
        self, data: LabelledSentences, styles: Sequence[str], config: ClassifierConfig
    ) -> StyleModel:
        """Train on labelled sentences, in memory only."""
        ...


def trainer(kind: str) -> Trainer:
    """The trainer of a kind: the module with its name here, imported when used.

    Raises:
        UnknownNameError: no such kind.
        MissingExtraError: the kind needs a library that is not installed.
    """
    found = classifier_kind(kind).trainer
    return cast(Trainer, found or import_module(f".{kind}", __package__))


def default_config(kind: str) -> ClassifierConfig:
    """The default settings of a kind; raises like :func:`trainer`."""
    return trainer(kind).Config()


def fit(
    kind: str, data: LabelledSentences, styles: Sequence[str], config: ClassifierConfig
) -> StyleModel:
    """Train a model of that kind, in memory only.

    Raises:
        UnknownNameError: no such kind.
        InputError: the settings belong to another kind.
    """
    expected = type(default_config(kind))
    if not isinstance(config, expected):
        raise InputError(f"{kind} is trained with {expected.__name__}, got {type(config).__name__}")
    return trainer(kind).fit(data, styles, config)


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
    role: str = "classifier",
    name: str | None = None,
    split: str = "",
    measure: Callable[[StyleModel], Mapping[str, float]] | None = None,
) -> Artefact:
    """Train and store a classifier; the same recipe is not trained twice.

    Args:
        kind: such as ``linear``; see :func:`~tstbench.metrics.scorers.classifiers.kinds`.
        sentences: N training sentences.
        labels: N indices into ``styles``.
        styles: S names, in the order of the classifier's columns.
        config: settings of that kind; None for its defaults.
        dataset: the dataset it will score, such as ``yelp``.
        trained_on: a description of the data, for people, such as ``yelp/validation without test``.
        exclude: test sources and references; equal training sentences are left out, whatever their
            case and spacing.
        n_excluded: how many the caller has already left out, for the card.
        held_out: sentences and labels to measure accuracy on, also left out of training. None
            holds out a tenth, see :func:`~.data.split_held_out`.
        role: what metrics use it for.
        name: its name in the cache; default: the kind.
        split: that it learns from, if not the one that its dataset's scorers learn from.
        measure: returns further scores of the trained model for its card, as fractions.

    Returns:
        The artefact; ``card.scores["held_out_accuracy"]`` says how good it is, unless there were
        too few sentences to hold some of each style out.

    Raises:
        InputError: unequal lengths, labels that are not styles, a style without sentences.
        UnknownNameError: no such kind.
    """
    config = config or default_config(kind)
    data = without(labelled(sentences, labels, styles, what=trained_on), exclude)
    n_excluded += len(sentences) - len(data)
    held: LabelledSentences | None
    if held_out is None:
        train, held = split_held_out(data)
        if any({*part.labels} != {*data.labels} for part in (train, held)):
            train, held = data, None  # too few sentences to spare a tenth of them
    else:
        held = labelled(*held_out, styles, what="held-out sentences")
        train = without(data, held.sentences)
    labelled(train.sentences, train.labels, styles, what=f"{trained_on}, training sentences")
    libraries = trainer(kind).LIBRARIES
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
        settings={
            **config.settings(),
            "recipe_version": RECIPE_VERSION,
            **({"split": split} if split else {}),
        },
        versions={"tstbench": __version__, **{library: version(library) for library in libraries}},
    )

    def fitted() -> tuple[Callable[[Path], None], dict[str, float]]:
        model = fit(kind, train, styles, config)
        scores = (
            {"held_out_accuracy": accuracy(model, most(held, config.measured_on))} if held else {}
        )
        scores |= measure(model) if measure else {}
        return model.save, {name: round(float(value), 6) for name, value in scores.items()}

    what = f"{kind} {'style' if role.endswith('classifier') else role} classifier of {dataset}"
    return train_once(card, what, fitted, _SECONDS.get(kind, 0.0) * len(train))


def train_once(
    card: ScorerCard,
    what: str,
    fit: Callable[[], tuple[Callable[[Path], None], Mapping[str, float]]],
    seconds: float = 0.0,
) -> Artefact:
    """The scorer of a card's recipe: stored, or published; otherwise trained now, and stored.

    Args:
        card: of the scorer, without scores.
        what: the scorer, for people: ``linear style classifier of yelp``.
        fit: trains it; returns what writes its files into a folder, and scores for the card.
        seconds: how long it takes on one core, if its steps do not tell.
    """
    if (there := find_recipe(card) or fetch_recipe(card)) is not None:
        return there
    say(f"training the {what}, {card.n_sentences} sentences of {card.trained_on}")
    with training(what, f"{card.role}-{card.name}", card.recipe):
        announce(seconds)
        write, scores = fit()
        return store(replace(card, scores=dict(scores)), write)


def accuracy(model: StyleModel, data: LabelledSentences) -> float:
    """Share of sentences whose most probable style is their label."""
    predicted = model.distribution(data.sentences).argmax(axis=1)
    return float(np.mean(predicted == np.asarray(data.labels)))
