"""Trained scorers: their card, and the store that keeps them (:mod:`tstbench.store`).

They are stored in ``$TSTBENCH_HOME/scorers``, indexed by role, dataset and name; the card is
``scorer.json``. A scorer's hash is in the signature of every score it contributes to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, JsonValue

from ...datasets_scripts.cards import model_front_matter
from ...datasets_scripts.catalog import DATASETS
from ...datasets_scripts.load import split_to_learn
from ...errors import (
    InputError,
    IntegrityError,
    MissingFileError,
    MissingScorerError,
    TSTBenchError,
)
from ...files import folder_digest
from ...hub import fetch_model, hub_answers
from ...store import README_FILE, Key, Store, StoredModel, recipe_of
from ...untrusted import read_json
from .roles import roles
from .weights import file_digest

CARD_FILE = "scorer.json"
_RECIPE = ("role", "dataset", "name", "kind", "styles", "data_fingerprint", "settings")


def _known_role(role: str) -> str:
    trained = [one.name for one in roles().values() if one.trained]
    if role not in trained:
        raise InputError(f"unknown role {role!r}; known: {', '.join(trained)}")
    return role


@dataclass(frozen=True, kw_only=True)
class ScorerCard:
    """What a scorer is and where it comes from: everything except the weights.

    Attributes:
        role: what metrics use it for.
        dataset: the dataset it scores, such as ``yelp``, or the corpus, such as ``cola``.
        name: its name there, such as ``linear`` or ``kn5-positive``.
        kind: which class reads its files.
        styles: the meaning of its columns; a language model has the one style it was trained on.
        trained_on: a description of the data, for people: ``yelp/validation without test``.
        data_fingerprint: SHA-256 of that data, see :func:`tstbench.store.data_fingerprint`.
        n_sentences: number of training sentences, without those held out.
        n_excluded: number of sentences left out because they occur in evaluation data.
        settings: the trainer's configuration.
        scores: its measured scores, such as ``held_out_accuracy``, as fractions.
        versions: the libraries that trained it, for people.
        schema_version: of this card.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", strict=True, allow_inf_nan=False
    )

    role: Annotated[str, AfterValidator(_known_role)]
    dataset: str
    name: str
    kind: str
    styles: tuple[str, ...]
    trained_on: str
    data_fingerprint: str
    n_sentences: int
    n_excluded: int = 0
    settings: dict[str, JsonValue] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    schema_version: Literal[1] = 1

    @property
    def recipe(self) -> str:
        """SHA-256 of what is known before training: the same recipe is not trained twice."""
        return recipe_of(self, _RECIPE)

    @property
    def split(self) -> str:
        """The split that it learned from, if that is not the one that its dataset pins."""
        return str(self.settings.get("split", ""))

    @property
    def corpus(self) -> str:
        """What signatures say that it learned: ``yelp``, or ``yelp/train``."""
        return f"{self.dataset}/{self.split}" if self.split else self.dataset


Artefact = StoredModel[ScorerCard]


def find(role: str, dataset: str, name: str) -> Artefact:
    """The scorer with that name in the cache, checked.

    Raises:
        MissingScorerError: there is none; the message says which command makes it.
        IntegrityError: its files or the index were changed.
    """
    return SCORERS.find(_key(role, dataset, name))


def with_recipe(role: str, dataset: str, name: str, recipe: str) -> Artefact | None:
    """The scorer in the cache with that name, if it was trained with that recipe."""
    return SCORERS.with_recipe(_key(role, dataset, name), recipe)


def kind_and_split(spec: str) -> tuple[str, str]:
    """The kind of a scorer, and the split that it is to learn from.

    >>> kind_and_split("linear@train"), kind_and_split("kn5"), kind_and_split("org/model@6")
    (('linear', 'train'), ('kn5', ''), ('org/model@6', ''))
    """
    kind, separator, split = spec.partition("@")
    if not separator or "/" in spec:
        return spec, ""
    if not split:
        raise InputError(f"scorer {spec!r}: '@' must be followed by a split, such as {kind}@train")
    return kind, split


def other_split(dataset: str, split: str) -> str:
    """The split if it is not the one that the dataset's scorers learn from, otherwise nothing.

    Raises:
        UnknownNameError: the dataset has no such split with sentences.
    """
    return split if split and split_to_learn(dataset, split) != split_to_learn(dataset) else ""


def kept_as(name: str, split: str) -> str:
    """A scorer's name in the index; ``split`` is that of its card."""
    return f"{name}.{split}" if split else name


def _key(role: str, dataset: str, name: str) -> Key:
    _known_role(role)
    return role, dataset, name


# Kinds of style classifiers that the default profile does not use: 'prepare' makes none of them.
_BY_NAME = ("fasttext", "textcnn", "transformer", "probe", "finetuned", "lora", "ensemble")


def _command(key: Key) -> str:
    role, dataset, name = key
    name, _, split = name.partition(".")
    dataset += f" --split {split}" if split else ""
    if role in ("lexicon", "word_vectors"):  # only further metrics need them
        masked = " --masked" if name.endswith("-masked") else ""
        return f"tstbench train {role.replace('_', '-')} {dataset}{masked}"
    if role == "paper_classifier":
        return f"tstbench train classifier {dataset} --kind {name} --role {role}"
    if role == "cleaned_language_model":
        kind = name.split("-")[0]
        return f"tstbench train language-model {dataset} --kind {kind} --role {role}"
    if role == "language_model" and split:
        return f"tstbench train language-model {dataset} --kind {name.split('-')[0]}"
    if role == "classifier" and (name in _BY_NAME or split):
        return f"tstbench train classifier {dataset} --kind {name}"
    return f"tstbench prepare {dataset}"


def _describe(scorer: Artefact) -> dict[str, str]:
    return {README_FILE: _readme(scorer.card, scorer.hash)}


def _readme(card: ScorerCard, digest: str) -> str:
    """The model card, for people and for the Hub."""
    what = f"{card.role.replace('_', ' ')} `{card.name}` for {card.dataset}"
    scores = [f"| {name} | {value:.4f} |" for name, value in card.scores.items()]
    lines = [
        f"# TSTBench scorer: {what}",
        "",
        f"- kind: {card.kind}",
        f"- styles, in the order of its columns: {', '.join(card.styles)}",
        f"- trained on: {card.trained_on}; {card.n_sentences:,} sentences, "
        f"{card.n_excluded:,} left out because they occur in evaluation data",
        f"- data fingerprint: `{card.data_fingerprint}`",
        f"- hash: `{digest}`",
        f"- made with: {', '.join(f'{k} {v}' for k, v in card.versions.items()) or 'tstbench'}",
        "",
        "## Scores",
        "",
        *(["| score | value |", "| --- | --- |", *scores] if scores else ["None."]),
        "",
        "## Settings",
        "",
        "```json",
        json.dumps(card.settings, indent=2, ensure_ascii=False),
        "```",
        "",
        "Scores of this model are comparable only with those of a model with the same hash.",
    ]
    tags = [card.role.replace("_", "-"), card.kind]
    datasets = dict.fromkeys([card.dataset, *base_datasets(card.settings)])
    return model_front_matter(datasets, tags) + "\n".join(lines) + "\n"


SCORERS = Store(
    what="scorer",
    folder="scorers",
    card_file=CARD_FILE,
    card_type=ScorerCard,
    key=lambda card: _key(card.role, card.dataset, kept_as(card.name, card.split)),
    describe=_describe,
    command=_command,
    missing=MissingScorerError,
)
store, adopt, find_recipe, open_artefact = (
    SCORERS.keep,
    SCORERS.adopt,
    SCORERS.find_recipe,
    SCORERS.open,
)


@contextmanager
def whole(folder: Path, what: str) -> Iterator[None]:
    """Read a scorer's files; they can be wrong in as many kinds of ways as there are libraries.

    Raises:
        IntegrityError: any error but ours; the message names the folder.
    """
    try:
        yield
    except TSTBenchError:
        raise
    except Exception as error:
        raise IntegrityError(
            f"{folder} does not hold a whole {what}: {' '.join(str(error).split())[:300]}. "
            f"Train or download it again"
        ) from error


# The cards of what can be a base: a backbone, a merged adapter, a system, a scorer.
_CARDS = ("backbone.json", "merged.json", "system.json", "scorer.json")


def portable(settings: Mapping[str, JsonValue], names: Sequence[str]) -> dict[str, JsonValue]:
    """The settings with the name and the hash of a local file or folder instead of its path.

    Two folders with the same content are then one recipe, and no card has a path that means nothing
    elsewhere. What is not there is left as it is: a Hub id, or a mistake that is found later.

    Args:
        settings: by name.
        names: those that may be paths.
    """
    return {
        name: _portable(value) if name in names and isinstance(value, str) and value else value
        for name, value in settings.items()
    }


def portable_folder(folder: Path, name: str) -> str:
    """``name@hash``, and after a bar the datasets that a model in this folder learned from."""
    learned = ",".join(_datasets_of(folder))
    return f"{name}@{folder_digest(folder)}{'|' * bool(learned)}{learned}"


def base_datasets(settings: Mapping[str, Any]) -> list[str]:
    """The datasets behind the local models that a card's settings name: their terms go with it.

    >>> base_datasets({"base": f"bart@{'0' * 64}|mini,yelp", "epochs": 2})
    ['mini', 'yelp']
    """
    texts = (value for value in settings.values() if isinstance(value, str) and "|" in value)
    parts = (part for text in texts for part in text.rpartition("|")[2].split(","))
    return sorted({part for part in parts if part in DATASETS})


def _portable(value: str) -> str:
    path = Path(value).expanduser()
    if path.is_dir():
        return portable_folder(path, path.resolve().name)
    if path.is_file():
        learned = ",".join(_datasets_of(path.parent) if path.suffix == ".gguf" else ())
        return f"{path.name}@{file_digest(path)}{'|' * bool(learned)}{learned}"
    return value


def _datasets_of(folder: Path) -> list[str]:
    """What a model learned from, and what its own base did, as the cards beside it say."""
    found: set[str] = set()
    for file in (place / name for place in (folder, folder.resolve().parent) for name in _CARDS):
        card = read_json(file) if file.is_file() else None
        if not isinstance(card, dict):
            continue
        for key in ("datasets", "directions", "dataset"):
            named = card.get(key)
            named = named if isinstance(named, list) else [named]
            found |= {str(one).split("/")[0] for one in named} & DATASETS.keys()
        settings = card.get("settings")
        found.update(base_datasets(settings if isinstance(settings, dict) else {}))
    return sorted(found)


NAMESPACE = "tstbench"


def repository_name(role: str, dataset: str, name: str) -> str:
    """The Hub name of a scorer, without the organisation.

    >>> repository_name("language_model", "yelp", "kn5-positive")
    'language-model-yelp-kn5-positive'
    """
    return f"{role}-{dataset}-{name}".replace("_", "-")


def fetch_recipe(card: ScorerCard) -> Artefact | None:
    """The published scorer of a card's recipe; ``None`` if there is none or no Hub answers.

    Two machines that train with one recipe get the same scores, but not the same bytes: processors
    add in different orders, so hashes differ. Using the published scorer gives everyone its hash.
    """
    if not hub_answers():
        return None
    try:
        artefact = _fetch(card.role, card.dataset, kept_as(card.name, card.split))
    except TSTBenchError:
        return None
    return adopt(artefact) if artefact.card.recipe == card.recipe else None


def find_or_fetch(role: str, dataset: str, name: str, split: str = "") -> Artefact:
    """The scorer with that name: trained here, or else published on the Hub (or ``HF_ENDPOINT``).

    Args:
        role: its role.
        dataset: its dataset.
        name: its name there.
        split: that it learned from; empty for the one that the dataset's scorers learn from.

    Raises:
        MissingScorerError: it is in neither place, or the Hub cannot be reached; names the command
            that trains it.
        IntegrityError: its files do not match its card.
    """
    name = kept_as(name, other_split(dataset, split))
    try:
        return find(role, dataset, name)
    except MissingScorerError as error:
        missing = error
    try:
        return _fetch(role, dataset, name)
    except MissingScorerError as error:
        raise MissingScorerError(f"{missing} ({error})") from error


def _fetch(role: str, dataset: str, name: str) -> Artefact:
    repo_id = f"{NAMESPACE}/{repository_name(role, dataset, name)}"
    try:
        artefact = open_artefact(fetch_model(repo_id))
    except MissingFileError as error:
        raise MissingScorerError(str(error)) from error
    card = artefact.card
    if (card.role, card.dataset, kept_as(card.name, card.split)) != (role, dataset, name):
        raise MissingScorerError(f"{repo_id} contains another scorer: {card.role} {card.name}")
    return artefact
