"""Scorers that others have trained and published: fetched by name when none was trained here.

Repositories are called after role, dataset and name: ``tstbench/classifier-yelp-linear``.
"""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from ...errors import MissingScorerError
from .artefacts import Artefact, Role, find, open_artefact

NAMESPACE = "tstbench"


def repository_name(role: Role, dataset: str, name: str) -> str:
    """The Hub name of a scorer, without the organisation.

    >>> repository_name("language_model", "yelp", "kn5-positive")
    'language-model-yelp-kn5-positive'
    """
    return f"{role}-{dataset}-{name}".replace("_", "-")


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
    repo_id = f"{NAMESPACE}/{repository_name(role, dataset, name)}"
    try:
        folder = snapshot_download(
            repo_id, local_files_only=constants.HF_HUB_OFFLINE, etag_timeout=5
        )
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise MissingScorerError(
            f"{missing} (nor is {repo_id} on {constants.ENDPOINT}: {type(error).__name__})"
        ) from error
    artefact = open_artefact(Path(folder))
    card = artefact.card
    if (card.role, card.dataset, card.name) != (role, dataset, name):
        raise MissingScorerError(f"{repo_id} holds another scorer: {card.role} {card.name}")
    return artefact
