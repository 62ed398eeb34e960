"""Scorers that others trained and published: downloaded by name if none was trained here.

Repositories are named after role, dataset and name: ``tstbench/classifier-yelp-linear``.
"""

from __future__ import annotations

from ...errors import MissingFileError, MissingScorerError, TSTBenchError
from ...hub import fetch_model, hub_answers
from .artefacts import Artefact, ScorerCard, adopt, find, kept_as, open_artefact, other_split

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
