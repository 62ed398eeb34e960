"""Scorers that others have trained and published: fetched by name when none was trained here.

Repositories are called after role, dataset and name: ``tstbench/classifier-yelp-linear``.
"""

from __future__ import annotations

import socket
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ...errors import MissingScorerError, TSTBenchError
from .artefacts import Artefact, Role, ScorerCard, adopt, find, open_artefact

NAMESPACE = "tstbench"


def repository_name(role: Role, dataset: str, name: str) -> str:
    """The Hub name of a scorer, without the organisation.

    >>> repository_name("language_model", "yelp", "kn5-positive")
    'language-model-yelp-kn5-positive'
    """
    return f"{role}-{dataset}-{name}".replace("_", "-")


def fetch_recipe(card: ScorerCard) -> Artefact | None:
    """The published scorer of a card's recipe; ``None`` where there is none or no Hub answers.

    Two machines that train by one recipe get the same scores, but not the same bytes: processors
    add up in different orders, and the hash tells. Who takes the published scorer has its hash.
    """
    if not _hub_answers(constants.ENDPOINT):
        return None
    try:
        artefact = _fetch(card.role, card.dataset, card.name)
    except TSTBenchError:
        return None
    return adopt(artefact) if artefact.card.recipe == card.recipe else None


def find_or_fetch(role: Role, dataset: str, name: str) -> Artefact:
    """The scorer of that name: trained here, else published on the Hub (or ``HF_ENDPOINT``).

    Raises:
        MissingScorerError: it is in neither place, or the Hub cannot be asked; says which command
            trains it.
        IntegrityError: its files are not those its card was made for.
    """
    try:
        return find(role, dataset, name)
    except MissingScorerError as error:
        missing = error
    try:
        return _fetch(role, dataset, name)
    except MissingScorerError as error:
        raise MissingScorerError(f"{missing} ({error})") from error


def _fetch(role: Role, dataset: str, name: str) -> Artefact:
    repo_id = f"{NAMESPACE}/{repository_name(role, dataset, name)}"
    try:
        folder = snapshot_download(
            repo_id, local_files_only=constants.HF_HUB_OFFLINE, etag_timeout=5
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise MissingScorerError(
            f"{repo_id} is not to be had from {constants.ENDPOINT}: {type(error).__name__}"
        ) from error
    artefact = open_artefact(Path(folder))
    card = artefact.card
    if (card.role, card.dataset, card.name) != (role, dataset, name):
        raise MissingScorerError(f"{repo_id} holds another scorer: {card.role} {card.name}")
    return artefact


@lru_cache(maxsize=4)
def _hub_answers(endpoint: str) -> bool:
    """Whether anybody listens there; the client itself would go on trying for half a minute."""
    if constants.HF_HUB_OFFLINE:
        return False
    url = urlsplit(endpoint)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        with socket.create_connection((url.hostname or "", port), timeout=3):
            return True
    except OSError:
        return False
