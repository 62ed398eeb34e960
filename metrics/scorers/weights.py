"""A pretrained model: find its files in a folder, the Hub's cache or by download, and load it.

torch is only imported to load one: the files alone identify a scorer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingScorerError
from ...files import folder_digest
from ...hub import why_not_downloaded
from .device import Placement

MODEL_FILES = ("config.json", "*.safetensors", "*.safetensors.index.json")
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)


def fetch(model: str | Path, revision: str | None = None) -> Path:
    """The local folder of a model: a folder as given, the Hub's cache, or a download.

    Raises:
        MissingScorerError: it is not in the cache, and there is no network or HF_HUB_OFFLINE is
            set; the message says how to download it.
    """
    if Path(model).is_dir():
        return _complete(Path(model), str(model))
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    pin = f" --revision {revision}" if revision else ""
    advice = f"Download it once with a network connection: hf download {model}{pin}"
    try:
        cached = snapshot_download(str(model), revision=revision, local_files_only=True)
        return _complete(Path(cached), str(model))
    except (LocalEntryNotFoundError, MissingScorerError, ValueError) as error:
        if constants.HF_HUB_OFFLINE:
            raise MissingScorerError(
                f"the weights of {model} are not in {constants.HF_HUB_CACHE} and HF_HUB_OFFLINE "
                f"is set. {advice}"
            ) from error
    try:
        # Asked first, since it does not repeat itself: without a network the download tries for
        # half a minute before it gives up.
        HfApi().model_info(str(model), revision=revision, timeout=10)
        wanted = [*MODEL_FILES, *TOKENIZER_FILES]
        fetched = snapshot_download(str(model), revision=revision, allow_patterns=wanted)
    except Exception as error:  # what an HTTP client raises changes with the Hub library's version
        raise MissingScorerError(
            f"the weights of {model} are not in {constants.HF_HUB_CACHE} and could not be "
            f"downloaded from {constants.ENDPOINT}: {why_not_downloaded(error)}. {advice}"
        ) from error
    return _complete(Path(fetched), str(model))


def load_pretrained(folder: Path, placement: Placement, head: str) -> tuple[Any, Any]:
    """A model of a local folder, ready to score, and its tokenizer.

    Only safetensors are read, nothing is downloaded and no code of the folder is run.

    Args:
        folder: with weights, configuration and tokenizer.
        placement: device and number type.
        head: the class of transformers: ``AutoModel``, ``AutoModelForSequenceClassification``.
    """
    import torch

    device = placement.resolve()
    model = read_model(folder, head, dtype=getattr(torch, placement.dtype))
    return model.eval().to(device), read_tokenizer(folder)


def read_model(folder: Path, head: str, **options: Any) -> Any:
    """A model of a local folder, from safetensors alone; none of the folder's code is run.

    Args:
        folder: with weights and configuration.
        head: the class of transformers: ``AutoModel``, ``AutoModelForSequenceClassification``.
        options: more of what ``from_pretrained`` takes, such as ``dtype``.

    Raises:
        InputError: it is damaged, of another kind, or needs code of its own.
    """
    import transformers

    load = partial(getattr(transformers, head).from_pretrained, use_safetensors=True, **options)
    with quiet_loading():
        return _read(load, folder, "model")


def read_tokenizer(folder: Path) -> Any:
    """The tokenizer of a local folder; none of the folder's code is run.

    Raises:
        InputError: it is damaged, or needs code of its own.
    """
    from transformers import AutoTokenizer

    return _read(AutoTokenizer.from_pretrained, folder, "tokenizer")


def _read(load: Callable[..., Any], folder: Path, what: str) -> Any:
    try:
        return load(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # transformers', tokenizers', safetensors' own, of many kinds
        if "trust_remote_code" in str(error):
            raise InputError(
                f"{folder}: its {what} needs Python code that is in the folder. Such code is never "
                "run here: use a model whose architecture transformers itself has"
            ) from error
        raise InputError(f"{folder} has no {what} that can be read: {error}") from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Without transformers' bars, which come and go in a moment and litter logs and pipes."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def weights_digest(folder: Path, patterns: tuple[str, ...]) -> str:
    """SHA-256 hex of those files of a model that match one of the patterns.

    Large files are hashed once per process, and again if a file has changed.
    """
    hashed = sorted({file for pattern in patterns for file in folder.glob(pattern)})
    return _digest(folder, tuple(hashed), tuple(map(stamp, hashed)))


def file_digest(file: Path) -> str:
    """SHA-256 hex of one file, hashed again where it has changed."""
    return _file_digest(file, stamp(file))


def signature_name(name: str) -> str:
    """A file's or folder's name as a signature can have it.

    >>> signature_name("my model")
    'my_model'
    """
    return re.sub(r"[\s|]+", "_", name)


@lru_cache(maxsize=16)
def _file_digest(file: Path, _stamp: tuple[int, int]) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stamp(file: Path) -> tuple[int, int]:
    """What shows that a file has changed: modification time in ns, size."""
    facts = file.stat()
    return facts.st_mtime_ns, facts.st_size


@lru_cache(maxsize=16)
def _digest(folder: Path, hashed: tuple[Path, ...], _stamps: tuple[tuple[int, int], ...]) -> str:
    others = {*folder.rglob("*")} - {*hashed}
    return folder_digest(folder, skip=[file.relative_to(folder).as_posix() for file in others])


def _complete(folder: Path, name: str) -> Path:
    tokenizer = any(next(folder.glob(p), None) for p in ("tokenizer.json", "vocab.*", "*.model"))
    weights = any(folder.glob("*.safetensors"))
    if not ((folder / "config.json").exists() and weights and tokenizer):
        raise MissingScorerError(
            f"{name if Path(name) == folder else f'{name} ({folder})'} is not a complete model: config.json, *.safetensors weights and a "
            "tokenizer are needed; checkpoints in other formats are not read"
        )
    return folder
