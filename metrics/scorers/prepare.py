"""Prepare: train the scorers that a direction's metrics need and that do not exist yet.

A scorer with the same recipe (data, settings) is not trained again, and while no file of its data
changes, they are not even read to find that out. Test sentences and their
human rewrites are never trained on: they are removed from the training sentences first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from ... import pace
from ...console import say
from ...datasets_scripts.catalog import DATASETS, OUR_DATASETS, dataset_facts, directions_of
from ...datasets_scripts.cleaning import match_key, parse_cleaning
from ...datasets_scripts.directions import Direction
from ...datasets_scripts.load import StyleData, StyleSplit, load_styles, split_to_learn
from ...datasets_scripts.unchanged import about_dataset
from ...errors import (
    MISSING,
    MissingFileError,
    MissingScorerError,
    TooLittleError,
    TSTBenchError,
    UnknownNameError,
    require_installed,
)
from ...files import home, lock, lock_if_writable
from ...store import data_fingerprint
from ...version import __version__
from ..measure import roles_needed
from ..options import BENCHMARK, Choices, choices
from ..registry import benchmark_metrics
from ..text import FOLDED, Reading, TextProtocol, folded, preparation, tokenized, tokens_name
from . import lexicon, word_vectors
from .artefacts import Artefact, ScorerCard, kept_as, kind_and_split, other_split, with_recipe
from .classifiers import KINDS, classifier_kind, is_kind, kinds
from .find import (
    LANGUAGE_MODELS,
    LEXICON,
    MASKED_VECTORS,
    WORD_VECTORS,
    check_differentiable,
    language_model_name,
    other_attribution,
)
from .language_model import train_language_model
from .lexicon import LEXICON_FILE, read_lexicon
from .profile import Profile, Scorers
from .train import ClassifierConfig, default_config, train_classifier, train_once

if TYPE_CHECKING:
    from .lstm_language_model import LstmConfig


ORDER = 5
RECIPE_VERSION = 1  # of scorers of words: raised when the same settings no longer give the same
# Seconds a sentence on one core of 2025, of what takes long: Yelp's 24,757 negative sentences, and
# its 62,426, took these.
_SECONDS = {"language_model": 5e-5, "word_vectors": 9e-5}
# The roles whose scorers are trained here, and their kinds; none: those of classifiers.
TRAINED: dict[str, tuple[str, ...]] = {
    "classifier": (),
    "paper_classifier": (),
    "attribution": (),
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
        elif not TRAINED[name]:
            kind, _ = kind_and_split(profile.spec(name))
            classifier_kind(kind)  # a slip is told before anything is trained
    read = cache(partial(_read, direction.dataset, data_dir))  # once, if at all
    made = []
    for name in trained:
        with pace.because(_why(name, metrics, scorers, choices)):
            kind, split = _kind_and_split(direction, name, profile)
            try:
                made.append(_made(name, direction, kind, split, read, data_dir))
            except TooLittleError as error:
                scorers.untrained[name] = str(error)
    return made


def renew(
    direction: Direction | None, profile: Profile, metrics: Sequence[str], choices: Choices
) -> None:
    """Train again those of the scorers that are here whose data or settings are others now.

    A name alone does not say what a stored scorer learned. Where that cannot be found out, since the
    training sentences are not at hand, it is said.
    """
    if direction is None or direction.dataset not in DATASETS:
        return
    try:
        if untrained(direction, profile, metrics, choices):
            return
    except TSTBenchError:  # measuring says what is wrong
        return
    try:
        with lock_if_writable(home() / "scorers"):
            prepare(direction, profile, metrics, choices=choices)
    except MissingFileError as error:
        say(f"careful: these scorers may have learned something else than they would now: {error}")


def train_missing(
    missing: MissingScorerError,
    direction: Direction | None,
    profile: Profile,
    metrics: Sequence[str],
    choices: Choices,
) -> None:
    """Train the scorers that some metrics need, and say so.

    Args:
        missing: the error of the first one that was looked for.
        direction: the direction to score on.
        profile: which scorers are used.
        metrics: names of metrics.
        choices: options by family.

    Raises:
        MissingScorerError: nothing is known here of the direction's dataset but its name, or
            published weights are not on this machine and cannot be downloaded.
        MissingFileError: the training sentences were not found.
    """
    if direction is None or direction.dataset not in DATASETS:
        raise missing
    trained = [kind_and_split(spec)[0] for spec in profile.scorers.values()]
    slow = "hours without a GPU" if "transformer" in trained else "minutes"
    say(
        f"scoring {direction} needs scorers that are not in {home()}: they are trained now, once, "
        f"and kept (half a minute for small datasets, {slow} for large ones)"
    )
    with lock(home() / "scorers", "train"):  # a page may be asked twice at the same time
        prepare(direction, profile, metrics, choices=choices)


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
            if not TRAINED[name]:
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
    if role not in TRAINED:
        return False
    kind, _ = kind_and_split(spec)
    return kind in TRAINED[role] if TRAINED[role] else is_kind(kind)


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
    settings: Mapping[str, JsonValue] = {"order": ORDER, "estimator": "own"}
    seconds = _SECONDS["language_model"]
    if kind == "lstm":
        require_installed("torch", "embedded")
        from .lstm_language_model import LstmConfig

        config = config or LstmConfig()
        settings, seconds = config.settings(), 0.0  # its steps tell
    training, facts = data.training, dataset_facts(data.dataset)
    text, read = preparation(facts.language), Reading("paper", FOLDED, folded)
    if role != "language_model" or not facts.tokenized:
        read = text.reading("ppl", "paper" if role == "language_model" else "cleaned")
    sentences = read.prepare(training.of(data.styles.index(style)))
    card = _card(
        data,
        training,
        sentences,
        role=role,
        name=language_model_name(style, name or kind),
        kind="lstm" if config else "kneser-ney",
        styles=(style,),
        text=read.text,
        settings=settings,
        libraries=("torch",) if config else (),
    )

    def write(folder: Path) -> None:
        train_language_model(sentences, folder, ORDER)

    def fit() -> tuple[Callable[[Path], None], dict[str, float]]:
        if not config:
            return write, {}
        from .lstm_language_model import fit

        model, scores = fit(sentences, config)
        return model.save, scores

    what = f"{'LSTM' if config else '5-gram'} language model of {data.dataset}/{style}"
    return train_once(card, what, fit, seconds * len(sentences))


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
    training = _training(data, without)
    sentences, text = _tokens(data, training)
    card = _card(
        data,
        training,
        sentences,
        training.labels,
        role="lexicon",
        name=name or LEXICON,
        kind=LEXICON,
        styles=data.styles,
        text=text,
        settings={**config.settings(), "recipe_version": RECIPE_VERSION},
        libraries=lexicon.LIBRARIES,
    )

    def fit() -> tuple[Callable[[Path], None], dict[str, float]]:
        found = lexicon.fit_lexicon(sentences, training.labels, data.styles, config)
        marked = [any(marks) for marks in found.style_words(sentences)]
        return found.save, {"sentences_with_a_style_word": round(sum(marked) / len(marked), 6)}

    return train_once(card, f"lexicon of {data.dataset}", fit)


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
    sentences, text = _tokens(data, training)
    if masked:
        own = train_style_lexicon(data, without=without, name=f"{name}-lexicon" if name else None)
        found = read_lexicon(own.folder / LEXICON_FILE)
        sentences = [" ".join(tokens) for tokens in found.apply(sentences, "masked")]
    kind = MASKED_VECTORS if masked else WORD_VECTORS
    card = _card(
        data,
        training,
        sentences,
        role="word_vectors",
        name=name or kind,
        kind=kind,
        styles=data.styles,
        text=text,
        settings={**config.settings(), "recipe_version": RECIPE_VERSION},
        libraries=word_vectors.LIBRARIES,
    )

    def fit() -> tuple[Callable[[Path], None], dict[str, float]]:
        return word_vectors.fit_word_vectors(sentences, config).save, {}

    seconds = _SECONDS["word_vectors"] * len(sentences)
    return train_once(card, f"word vectors of {data.dataset}", fit, seconds)


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


def _tokens(data: StyleData, training: StyleSplit) -> tuple[list[str], str]:
    """The training sentences as scorers of words see them, and what that is called."""
    language = dataset_facts(data.dataset).language
    return tokenized(training.texts, language), tokens_name(language, "words")


def _card(
    data: StyleData,
    training: StyleSplit,
    sentences: Sequence[str],
    labels: Sequence[int] | None = None,
    *,
    role: str,
    name: str,
    kind: str,
    styles: Sequence[str],
    text: str,
    settings: Mapping[str, JsonValue],
    libraries: Iterable[str],
) -> ScorerCard:
    """The card of a scorer of words that is to be trained on these sentences."""
    return ScorerCard(
        role=role,
        dataset=data.dataset,
        name=name,
        kind=kind,
        styles=tuple(styles),
        trained_on=trained_on(data, training, text),
        data_fingerprint=data_fingerprint(sentences, labels),
        n_sentences=len(sentences),
        n_excluded=training.excluded,
        settings={**settings, **split_setting(data)},
        versions={"tstbench": __version__, **{name: version(name) for name in libraries}},
    )


def trained_on(data: StyleData, training: StyleSplit, text: str) -> str:
    """A readable description of the training data: split, what was removed, preparation."""
    return f"{data.dataset}/{training.name} without test sentences, {text}"


def _test_texts(data: StyleData) -> Sequence[str]:
    """What no scorer may be trained on; load_styles has already left it out."""
    return data.splits["test"].texts if "test" in data.splits else ()


def _made(
    name: str,
    direction: Direction,
    kind: str,
    split: str,
    read: Callable[..., StyleData],
    data_dir: Path | None,
) -> Artefact:
    """The stored scorer of a role if no file it was trained on has changed; otherwise of its recipe.

    ``split`` is empty where it is the one that the dataset's scorers learn from.
    """
    dataset, role = direction.dataset, name
    kept, train = kind, partial(train_style_classifier, kind=kind, role=role)
    if name == "attribution":
        check_differentiable(kind)
        role, train = "classifier", partial(train_style_classifier, kind=kind)
    elif TRAINED[name] == LANGUAGE_MODELS:
        role = "language_model" if name == "language_model" else "cleaned_language_model"
        is_source = name == "source_language_model"
        style = direction.source_style if is_source else direction.target_style
        kept = language_model_name(style, kind)
        train = partial(train_style_language_model, style=style, role=role, kind=kind)
    elif name == "lexicon":
        train = partial(train_style_lexicon)
    elif TRAINED[name]:
        role, train = "word_vectors", partial(train_dataset_vectors, masked=name != "word_vectors")
    kept = kept_as(kept, split)
    question = {"scorer": [role, dataset, kept], "settings": _own_settings(kind)}
    parts = (split_to_learn(dataset, split or None), "validation", "test")
    about = about_dataset(dataset, question, parts=parts, data_dir=data_dir)
    recipe = about.answer()
    if recipe is not None and (there := with_recipe(role, dataset, kept, recipe)) is not None:
        return there
    before = about.state()
    cleaning = "raw" if role in ("paper_classifier", "language_model") else None
    try:
        artefact = train(read(split or None, cleaning))
    except MissingScorerError as error:
        raise (
            other_attribution(kind, dataset, error) if name == "attribution" else error
        ) from error
    about.keep(artefact.card.recipe, before)
    return artefact


def _own_settings(kind: str) -> dict[str, Any] | None:
    """The settings of a kind from another package; those of ours change only with the code."""
    is_outside = kind in kinds() and kind not in KINDS
    return default_config(kind).settings() if is_outside else None
