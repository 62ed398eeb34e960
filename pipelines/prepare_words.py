"""Train the scorers of words: a dataset's style lexicon and its word vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue

from .. import pace
from ..console import say
from ..datasets_scripts.catalog import dataset_facts
from ..datasets_scripts.cleaning import match_key, parse_cleaning
from ..datasets_scripts.load import StyleData, StyleSplit
from ..errors import require_installed
from ..metrics.scorers import lexicon, word_vectors
from ..metrics.scorers.artefacts import Artefact, ScorerCard, find_recipe, other_split, store
from ..metrics.scorers.find import LEXICON, MASKED_VECTORS, WORD_VECTORS
from ..metrics.scorers.lexicon import LEXICON_FILE, StyleLexicon, read_lexicon
from ..metrics.scorers.published import fetch_recipe
from ..metrics.scorers.tokens import tokenized, tokens_name
from ..metrics.scorers.word_vectors import WordVectors
from ..store import data_fingerprint
from ..version import __version__

# Seconds a sentence on one core of 2025, of what takes long: Yelp's 62,426 took these.
_SECONDS = {"word_vectors": 9e-5}
RECIPE_VERSION = 1  # raised when the same settings no longer give the same scorer


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
    asked = _Asked("lexicon", LEXICON, name, config.settings(), lexicon.LIBRARIES)

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
    asked = _Asked("word_vectors", kind, name, settings, word_vectors.LIBRARIES)

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
class _Asked:
    """What is to be trained."""

    role: str
    kind: str
    name: str | None
    settings: dict[str, int | float] | dict[str, int | bool]
    libraries: tuple[str, ...]


def _trained(
    asked: _Asked,
    data: StyleData,
    training: StyleSplit,
    sentences: list[str],
    labels: Iterable[int],
    fit: Callable[[], tuple[StyleLexicon | WordVectors, dict[str, float]]],
) -> Artefact:
    """The scorer of that recipe: stored, published, or trained now."""
    language = dataset_facts(data.dataset).language
    tokens = tokens_name(language, "words")
    settings: dict[str, JsonValue] = {**asked.settings, "recipe_version": RECIPE_VERSION}
    settings.update(split_setting(data))
    card = ScorerCard(
        role=asked.role,
        dataset=data.dataset,
        name=asked.name or asked.kind,
        kind=asked.kind,
        styles=tuple(data.styles),
        trained_on=f"{data.dataset}/{training.name} without test sentences, {tokens}",
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

        def write(folder: Path) -> None:
            scorer.save(folder)

        rounded = {name: round(value, 6) for name, value in scores.items()}
        return store(replace(card, scores=rounded), write)
