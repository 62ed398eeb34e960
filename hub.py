"""Downloading repositories from the Hub (or from ``HF_ENDPOINT``)."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from traceback import walk_tb
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from huggingface_hub import constants

from .errors import MissingFileError

# Whose errors on an answer are the answer's fault.
_CLIENT = {"huggingface_hub", "json", "httpx", "requests"}
_MISREAD = LookupError | TypeError | AttributeError | ValueError | AssertionError | RecursionError
_LONGEST = 96  # characters of an id on the Hub
_REPO_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def is_repo_id(name: str) -> bool:
    """Whether a name looks like a Hub id.

    >>> is_repo_id("tstbench/copy"), is_repo_id("copy"), is_repo_id("../copy")
    (True, False, False)
    """
    return len(name) <= _LONGEST and _REPO_ID.fullmatch(name) is not None


def fetch_model(repo_id: str, *, revision: str | None = None) -> Path:
    """The local folder of a published model, taken from the Hub's cache if it is there.

    Args:
        repo_id: ``owner/name``.
        revision: a branch, tag or commit; default ``main``.

    Raises:
        MissingFileError: there is no such repository or revision, or the Hub cannot be reached.
    """
    from huggingface_hub import snapshot_download  # only now: its client takes a second to import
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    offline = constants.HF_HUB_OFFLINE
    try:
        folder = snapshot_download(
            repo_id, revision=revision, local_files_only=offline, etag_timeout=5
        )
    except Exception as error:
        told = (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError)
        if not (isinstance(error, told) or misunderstood(error)):
            raise
        what = f"{repo_id} at revision {revision}" if revision else repo_id
        why = "HF_HUB_OFFLINE is set" if offline else why_not_downloaded(error)
        raise MissingFileError(
            f"{what} could not be downloaded from {constants.ENDPOINT}: {why}"
        ) from error
    return Path(folder)


def misunderstood(error: Exception) -> bool:
    """Whether the Hub's client failed on an answer: the server is not a Hub, or is broken.

    The client reads answers without checks, so that an empty one is a ``KeyError``. Only where it
    is raised tells it from a bug of ours.
    """
    from huggingface_hub.errors import HFValidationError  # of our own question

    if isinstance(error, HFValidationError) or not isinstance(error, _MISREAD):
        return False
    frames = (frame.f_globals for frame, _ in walk_tb(error.__traceback__))
    packages = [str(names.get("__name__", "")).split(".")[0] for names in frames]
    # The client passes what it did not check to Python's own modules.
    others = [name for name in packages if name not in sys.stdlib_module_names - _CLIENT]
    return bool(others) and others[-1] in _CLIENT


def environment_fault() -> str | None:
    """What in the environment no client of a server can use, without its value."""
    token = os.environ.get("HF_TOKEN", "")
    if not (token.isascii() and token.isprintable()):
        return "the environment variable HF_TOKEN has a character that no token has: copy it again"
    for name, proxy in getproxies_environment().items():
        try:
            usable = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            if name == "no" or (usable.hostname and usable.port != 0):
                continue
        except ValueError:  # brackets, or a port that is none
            pass
        return (
            f"the environment variable {name.upper()}_PROXY is not the address of a proxy: write "
            "it like http://127.0.0.1:3128, or unset it"
        )
    return None


def why_not_downloaded(error: Exception) -> str:
    """Why a download failed, in words: what an HTTP client raises has names for programmers."""
    if fault := environment_fault():
        return fault
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403, 404):
        return f"there is no such public repository or revision there (HTTP {status})"
    if misunderstood(error):
        return "the server's answer is not that of a Hub; check HF_ENDPOINT"
    if status is not None:
        return f"the server answered with an error (HTTP {status})"
    return "no server answered there"


@contextmanager
def offline() -> Iterator[None]:
    """Inside, nothing is downloaded: as if ``HF_HUB_OFFLINE`` were set."""
    variable, before = os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE
    os.environ["HF_HUB_OFFLINE"], constants.HF_HUB_OFFLINE = "1", True
    hub_answers.cache_clear()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
        os.environ.pop("HF_HUB_OFFLINE")
        if variable is not None:
            os.environ["HF_HUB_OFFLINE"] = variable
        hub_answers.cache_clear()


@lru_cache(maxsize=4)
def hub_answers(endpoint: str = constants.ENDPOINT) -> bool:
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
