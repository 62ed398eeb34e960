"""Prepare: train the scorers that a direction's metrics need and that do not exist yet.

A scorer with the same recipe (data, settings) is not trained again, and while no file of its data
changes, they are not even read to find that out. Test sentences and their
human rewrites are never trained on: they are removed from the training sentences first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from .. import pace
from ..console import say
from ..datasets_scripts.catalog import OUR_DATASETS, dataset_facts, directions_of
from ..datasets_scripts.cleaning import match_key, parse_cleaning
from ..datasets_scripts.directions import Direction
from ..datasets_scripts.load import StyleData, StyleSplit, load_styles, split_to_learn
from ..datasets_scripts.unchanged import about_dataset
from ..errors import (
    MISSING,
    MissingScorerError,
    TooLittleError,
    TSTBenchError,
    UnknownNameError,
    require,
    require_installed,
)
from ..metrics.measure import roles_needed
from ..metrics.options import BENCHMARK, Choices, choices
from ..metrics.registry import benchmark_metrics
from ..metrics.scorers import lexicon, word_vectors
from ..metrics.scorers.artefacts import (
    Artefact,
    ScorerCard,
    find_recipe,
    kept_as,
    kind_and_split,
    other_split,
    store,
    with_recipe,
)
from ..metrics.scorers.classifiers import KINDS, classifier_kind, is_kind, kinds
from ..metrics.scorers.find import (
    LANGUAGE_MODELS,
    LEXICON,
    MASKED_VECTORS,
    WORD_VECTORS,
    check_differentiable,
    language_model_name,
    other_attribution,
)
from ..metrics.scorers.labelled import ClassifierConfig
from ..metrics.scorers.language_model import train_language_model
from ..metrics.scorers.lexicon import LEXICON_FILE, StyleLexicon, read_lexicon
from ..metrics.scorers.profile import Profile, Scorers
from ..metrics.scorers.published import fetch_recipe
from ..metrics.scorers.tokens import tokenized, tokens_name
from ..metrics.scorers.train import default_config, train_classifier
from ..metrics.scorers.word_vectors import WordVectors
from ..metrics.text import FOLDED, Reading, TextProtocol, folded, preparation
from ..store import data_fingerprint
from ..version import __version__

if TYPE_CHECKING:
    from ..metrics.scorers.lstm_language_model import LstmConfig


ORDER = 5
RECIPE_VERSION = 1  # of scorers of words: raised when the same settings no longer give the same
# Seconds a sentence on one core of 2025, of what takes long: Yelp's 24,757 negative sentences, and
# its 62,426, took these.
_SECONDS = {"language_model": 5e-5, "word_vectors": 9e-5}
# Roles with kinds of their own that are trained here; the others have the kinds of classifiers.
OWN_KINDS = {
    "language_model": LANGUAGE_MODELS,
    "cleaned_language_model": LANGUAGE_MODELS,
    "source_language_model": LANGUAGE_MODELS,
    "lexicon": (LEXICON,),
    "word_vectors": (WORD_VECTORS,),
    "masked_vectors": (MASKED_VECTORS,),
}


def prepare(
    direction: Direction,
    profile: Profile,
    metrics: Iterable[str],
    *,
    choices: Choices = BENCHMARK,
    data_dir: Path | None = None,
) -> list[Artefact]:
    """Make sure that every scorer the metrics need on one direction exists.

    Metrics whose scorer has too little to learn from are left out.

    Returns:
        The scorers that are trained here; others are only looked up.

    Raises:
        MissingFileError: the training sentences were not found.
        MissingScorerError: published weights are not on this machine and cannot be downloaded.
        MissingExtraError: a library that a scorer needs is not installed.
    """
    scorers, metrics = Scorers(profile, direction), tuple(metrics)
    scorers.untrained.clear()  # there may be more to learn from now
    needed = roles_needed(metrics, scorers, choices)
    trained = [name for name in needed if is_trained_here(name, profile.spec(name))]
    for name in needed:  # better missed now than after an hour of training
        if name not in trained:
            scorers.find(name)
        elif name not in OWN_KINDS:
            kind, _ = kind_and_split(profile.spec(name))
            classifier_kind(kind)  # a slip is told before anything is trained
    data = cache(partial(_read, direction.dataset, data_dir))  # read once, if at all
    made = []
    for name in trained:
        with pace.because(_why(name, metrics, scorers, choices)):
            kind, split = _kind_and_split(direction, name, profile)
            of_split = partial(data, split=split or None)
            try:
                made.append(TRAINERS[name](_Asked(direction, kind, split, of_split, data_dir)))
            except TooLittleError as error:
                scorers.untrained[name] = str(error)
    return made


def check_names(
    direction: Direction, profile: Profile, metrics: Iterable[str], choices: Choices
) -> None:
    """Tell a slip in a scorer's name before anything is trained; what is missing may come yet.

    Raises:
        UnknownNameError, InputError: no such kind of scorer, or no such split to train it on.
    """
    scorers = Scorers(profile, direction)
    for name in roles_needed(tuple(metrics), scorers, choices):
        with suppress(*MISSING):
            if not is_trained_here(name, profile.spec(name)):
                scorers.find(name)
                continue
            kind, _ = _kind_and_split(direction, name, profile)
            if name not in OWN_KINDS:
                classifier_kind(kind)


def _kind_and_split(direction: Direction, name: str, profile: Profile) -> tuple[str, str]:
    """What a scorer's spec asks for; the split is empty where it is the dataset's own."""
    spec = profile.spec(name)
    kind, split = kind_and_split(spec)
    try:
        split_to_learn(direction.dataset, split or None)
    except UnknownNameError as error:
        raise UnknownNameError(
            f"{error} The profile {profile.name} asks for it, with {name}={spec}; for another: "
            f"--scorer {name}={kind}@SPLIT"
        ) from error
    return kind, other_split(direction.dataset, split)


def untrained(
    direction: Direction, profile: Profile, metrics: Iterable[str], choices: Choices
) -> list[str]:
    """The roles whose scorers :func:`prepare` would have to train, or to look up in vain."""
    scorers = Scorers(profile, direction)
    found = []
    for name in roles_needed(tuple(metrics), scorers, choices):
        try:
            scorers.find(name)
        except TSTBenchError:
            found.append(name)
    return found


def _why(name: str, metrics: Sequence[str], scorers: Scorers, choices: Choices) -> str:
    """Which metrics need a scorer, and which do without."""
    users = [one for one in metrics if name in roles_needed([one], scorers, choices)]
    others = [one for one in metrics if one not in users]
    without = f"; to do without it: evaluate --metrics {' '.join(others)}" if others else ""
    return f"It is needed for {', '.join(users)}{without}"


def _read(
    dataset: str, data_dir: Path | None, split: str | None, cleaning: str | None = None
) -> StyleData:
    if dataset != "mini" and dataset in OUR_DATASETS:  # it may take a minute
        say(f"reading the training sentences of {dataset}{', uncleaned' if cleaning else ''}")
    return load_styles(dataset, split=split, cleaning=cleaning, data_dir=data_dir)


def is_trained_here(role: str, spec: str) -> bool:
    """Whether a profile's scorer is a kind that is trained here, not a Hub id or a folder.

    >>> is_trained_here("classifier", "linear"), is_trained_here("encoder", "some/model@6")
    (True, False)
    """
    if role not in TRAINERS:
        return False
    kind, _ = kind_and_split(spec)
    return kind in OWN_KINDS[role] if role in OWN_KINDS else is_kind(kind)


def prepare_dataset(
    dataset: str, profile: Profile, *, data_dir: Path | None = None
) -> list[Artefact]:
    """Make sure that all scorers of a dataset exist: for each style, one direction into it."""
    made = {}
    into = {direction.target_style: direction for direction in directions_of(dataset)}
    for direction in into.values():
        for artefact in prepare(
            direction,
            profile,
            benchmark_metrics(),
            choices=choices(profile.options, {}),
            data_dir=data_dir,
        ):
            made[artefact.hash] = artefact
    return list(made.values())


def train_style_classifier(
    data: StyleData,
    kind: str,
    config: ClassifierConfig | None = None,
    *,
    without: Iterable[str] = (),
    name: str | None = None,
    role: str = "classifier",
) -> Artefact:
    """Train the style classifier of a dataset, unless it exists.

    Its accuracy is measured on the validation split if it is not trained on that, otherwise on a
    tenth held out.

    Args:
        data: the dataset, read with ``cleaning="raw"`` for ``paper_classifier``.
        kind: of classifier.
        config: settings of that kind; ``None`` for its defaults.
        without: further sentences that must not be learned from, such as those of a study of human
            judgments that were taken from the training data.
        name: its name among the stored classifiers; by default the kind's, which metrics use.
        role: ``classifier``, or ``paper_classifier`` for ACC's protocol ``paper``.
    """
    protocol: TextProtocol = "paper" if role == "paper_classifier" else "cleaned"
    text = preparation(dataset_facts(data.dataset).language).reading("acc", protocol)
    training, validation = data.training, data.validation
    held_out = None
    if validation is not None:
        held_out = (text.prepare(validation.texts), validation.labels)
    return train_classifier(
        kind,
        text.prepare(training.texts),
        training.labels,
        data.styles,
        config,
        dataset=data.dataset,
        trained_on=trained_on(data, training, text.text),
        exclude=text.prepare([*_test_texts(data), *without]),
        n_excluded=training.excluded,
        held_out=held_out,
        role=role,
        name=name,
        split=other_split(data.dataset, data.learn_from),
    )


def train_style_language_model(
    data: StyleData,
    style: str,
    role: str = "language_model",
    kind: str = "kn5",
    config: LstmConfig | None = None,
    name: str | None = None,
) -> Artefact:
    """Train the language model of one style of a dataset, unless it exists.

    Args:
        data: the dataset, read with ``cleaning="raw"`` for ``language_model``.
        style: one of its styles.
        role: ``language_model``, for PPL's protocol ``paper``, or ``cleaned_language_model``.
        kind: ``kn5`` or ``lstm``.
        config: settings of an LSTM; ``None`` for the defaults.
        name: under which it is kept, followed by the style; by default its kind, which metrics use.

    Raises:
        MissingExtraError: an LSTM needs torch.
    """
    settings: dict[str, Any] = {"order": ORDER, "estimator": "own"}
    versions = {"tstbench": __version__}
    if kind == "lstm":
        torch = require("torch", "embedded")
        from ..metrics.scorers.lstm_language_model import LstmConfig

        config = config or LstmConfig()
        settings, versions = config.settings(), {**versions, "torch": torch.__version__}
    training, facts = data.training, dataset_facts(data.dataset)
    text, read = preparation(facts.language), Reading("paper", FOLDED, folded)
    if role != "language_model" or not facts.tokenized:
        read = text.reading("ppl", "paper" if role == "language_model" else "cleaned")
    sentences = read.prepare(training.of(data.styles.index(style)))
    card = ScorerCard(
        role=role,
        dataset=data.dataset,
        name=language_model_name(style, name or kind),
        kind="lstm" if kind == "lstm" else "kneser-ney",
        styles=(style,),
        trained_on=trained_on(data, training, read.text),
        data_fingerprint=data_fingerprint(sentences),
        n_sentences=len(sentences),
        n_excluded=training.excluded,
        settings={**settings, **split_setting(data)},
        versions=versions,
    )
    if there := find_recipe(card) or fetch_recipe(card):
        return there
    what = "an LSTM" if config else "a 5-gram"
    say(f"training {what} language model, {data.dataset}/{style}, {len(sentences)} sentences")
    with pace.training(f"language model of {data.dataset}/{style}", card.name, card.recipe):
        if config:
            from ..metrics.scorers.lstm_language_model import fit

            model, scores = fit(sentences, config)
            return store(replace(card, scores=scores), model.save)
        pace.announce(_SECONDS["language_model"] * len(sentences))

        def write(folder: Path) -> None:
            train_language_model(sentences, folder, ORDER)

        return store(card, write)


def train_style_lexicon(
    data: StyleData,
    config: lexicon.LexiconConfig | None = None,
    *,
    without: Iterable[str] = (),
    name: str | None = None,
) -> Artefact:
    """Train the style lexicon of a dataset, unless it exists; test sentences are left out.

    Args:
        data: the dataset.
        config: settings; ``None`` for the defaults.
        without: further sentences that are not learned from, such as those of a study of human
            judgments; case and spacing do not matter.
        name: its name among the stored scorers; by default the one that metrics use.

    Raises:
        InputError: no n-gram tells the styles apart, or settings that do not suit the corpus.
    """
    config = config or lexicon.LexiconConfig()
    training, language = _training(data, without), dataset_facts(data.dataset).language
    sentences = tokenized(training.texts, language)
    asked = _Words("lexicon", LEXICON, name, config.settings(), lexicon.LIBRARIES)

    def fit() -> tuple[StyleLexicon, dict[str, float]]:
        found = lexicon.fit_lexicon(sentences, training.labels, data.styles, config)
        marked = [any(marks) for marks in found.style_words(sentences)]
        return found, {"sentences_with_a_style_word": sum(marked) / len(marked)}

    return _trained(asked, data, training, sentences, training.labels, fit)


def train_dataset_vectors(
    data: StyleData,
    config: word_vectors.WordVectorsConfig | None = None,
    *,
    without: Iterable[str] = (),
    name: str | None = None,
    masked: bool = False,
) -> Artefact:
    """Train word2vec on the sentences of all styles, unless it exists; test sentences are left out.

    With ``masked``, the style words of the dataset's own lexicon, of the same sentences, are masked
    first, so that ``<customstyle>`` has a vector, as in Mir et al.'s released code
    (``train_word2vec_model`` of ``content_preservation.py``). Further arguments: as of
    :func:`train_style_lexicon`.

    Raises:
        InputError: no word is frequent enough.
        MissingExtraError: gensim is not installed.
    """
    config = config or word_vectors.WordVectorsConfig()
    require_installed("gensim", "vectors")
    training = _training(data, without)
    sentences = tokenized(training.texts, dataset_facts(data.dataset).language)
    kind, settings = WORD_VECTORS, {**config.settings()}
    if masked:
        own = train_style_lexicon(data, without=without, name=f"{name}-lexicon" if name else None)
        found = read_lexicon(own.folder / LEXICON_FILE)
        sentences = [" ".join(tokens) for tokens in found.apply(sentences, "masked")]
        kind = MASKED_VECTORS
    asked = _Words("word_vectors", kind, name, settings, word_vectors.LIBRARIES)

    def fit() -> tuple[WordVectors, dict[str, float]]:
        return word_vectors.fit_word_vectors(sentences, config), {}

    return _trained(asked, data, training, sentences, (), fit)


def split_setting(data: StyleData) -> dict[str, str]:
    """What a scorer's settings say of its split: nothing, if it is the one that is pinned."""
    split = other_split(data.dataset, data.learn_from)
    return {"split": split} if split else {}


def _training(data: StyleData, without: Iterable[str]) -> StyleSplit:
    """The training sentences but those, cleaned as they are."""
    training = data.training
    forbidden = set(map(match_key, map(parse_cleaning(data.cleaning), without)))
    if not forbidden:
        return training
    kept = [i for i, text in enumerate(training.texts) if match_key(text) not in forbidden]
    return replace(
        training,
        texts=tuple(training.texts[i] for i in kept),
        labels=tuple(training.labels[i] for i in kept),
        excluded=training.excluded + len(training) - len(kept),
    )


@dataclass(frozen=True)
class _Words:
    """A scorer of words that is to be trained."""

    role: str
    kind: str
    name: str | None
    settings: dict[str, int | float] | dict[str, int | bool]
    libraries: tuple[str, ...]


def _trained(
    asked: _Words,
    data: StyleData,
    training: StyleSplit,
    sentences: list[str],
    labels: Iterable[int],
    fit: Callable[[], tuple[StyleLexicon | WordVectors, dict[str, float]]],
) -> Artefact:
    """The scorer of that recipe: stored, published, or trained now."""
    tokens = tokens_name(dataset_facts(data.dataset).language, "words")
    settings: dict[str, JsonValue] = {**asked.settings, "recipe_version": RECIPE_VERSION}
    settings.update(split_setting(data))
    card = ScorerCard(
        role=asked.role,
        dataset=data.dataset,
        name=asked.name or asked.kind,
        kind=asked.kind,
        styles=tuple(data.styles),
        trained_on=trained_on(data, training, tokens),
        data_fingerprint=data_fingerprint(sentences, [*labels] or None),
        n_sentences=len(sentences),
        n_excluded=training.excluded,
        settings=settings,
        versions={
            "tstbench": __version__,
            **{library: version(library) for library in asked.libraries},
        },
    )
    if (there := find_recipe(card) or fetch_recipe(card)) is not None:
        return there
    what = asked.role.replace("_", " ")
    say(f"training the {what} of {data.dataset}, {len(sentences)} sentences")
    with pace.training(f"{what} of {data.dataset}", asked.role, card.recipe):
        pace.announce(_SECONDS.get(asked.role, 0.0) * len(sentences))
        scorer, scores = fit()
        rounded = {name: round(value, 6) for name, value in scores.items()}
        return store(replace(card, scores=rounded), scorer.save)


def trained_on(data: StyleData, training: StyleSplit, text: str) -> str:
    """A readable description of the training data: split, what was removed, preparation."""
    return f"{data.dataset}/{training.name} without test sentences, {text}"


def _test_texts(data: StyleData) -> Sequence[str]:
    """What no scorer may be trained on; load_styles has already left it out."""
    return data.splits["test"].texts if "test" in data.splits else ()


@dataclass(frozen=True)
class _Asked:
    """A scorer that metrics need, and the data to train it on."""

    direction: Direction
    kind: str
    split: str  # if it is not the one that the dataset's scorers learn from
    data: Callable[..., StyleData]
    data_dir: Path | None

    def of_dataset(
        self, role: str, name: str, train: Callable[[StyleData], Artefact], *, raw: bool = False
    ) -> Artefact:
        """The stored scorer if no file it was trained on has changed; otherwise of its recipe."""
        dataset, name = self.direction.dataset, kept_as(name, self.split)
        question = {"scorer": [role, dataset, name], "settings": _own_settings(self.kind)}
        learned = split_to_learn(dataset, self.split or None)
        about = about_dataset(
            dataset, question, parts=(learned, "validation", "test"), data_dir=self.data_dir
        )
        recipe = about.answer()
        if recipe is not None and (there := with_recipe(role, dataset, name, recipe)) is not None:
            return there
        before = about.state()
        artefact = train(self.data(cleaning="raw") if raw else self.data())
        about.keep(artefact.card.recipe, before)
        return artefact


def _own_settings(kind: str) -> dict[str, Any] | None:
    """The settings of a kind from another package; those of ours change only with the code."""
    is_outside = kind in kinds() and kind not in KINDS
    return default_config(kind).settings() if is_outside else None


def _classifier(asked: _Asked, role: str = "classifier") -> Artefact:
    train = partial(train_style_classifier, kind=asked.kind, role=role)
    return asked.of_dataset(role, asked.kind, train, raw=role == "paper_classifier")


def _attribution(asked: _Asked) -> Artefact:
    check_differentiable(asked.kind)
    try:
        return _classifier(asked)
    except MissingScorerError as error:
        raise other_attribution(asked.kind, asked.direction.dataset, error) from error


def _language_model(asked: _Asked, style: str, role: str = "cleaned_language_model") -> Artefact:
    name = language_model_name(style, asked.kind)
    train = partial(train_style_language_model, style=style, role=role, kind=asked.kind)
    return asked.of_dataset(role, name, train, raw=role == "language_model")


def _masked_vectors(asked: _Asked) -> Artefact:
    train = partial(train_dataset_vectors, masked=True)
    return asked.of_dataset("word_vectors", asked.kind, train)


# Role -> how a missing scorer is trained. The roles themselves are defined in one table,
# metrics/scorers/roles.py, which cannot know the trainers: they are in a higher room.
TRAINERS: dict[str, Callable[[_Asked], Artefact]] = {
    "classifier": _classifier,
    "paper_classifier": partial(_classifier, role="paper_classifier"),
    "language_model": lambda one: _language_model(
        one, one.direction.target_style, "language_model"
    ),
    "cleaned_language_model": lambda one: _language_model(one, one.direction.target_style),
    "source_language_model": lambda one: _language_model(one, one.direction.source_style),
    "attribution": _attribution,
    "lexicon": lambda one: one.of_dataset("lexicon", one.kind, train_style_lexicon),
    "word_vectors": lambda one: one.of_dataset("word_vectors", one.kind, train_dataset_vectors),
    "masked_vectors": _masked_vectors,
}
