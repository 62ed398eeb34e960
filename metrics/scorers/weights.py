"""A pretrained model: find its files in a folder, the Hub's cache or by download, and load it.

torch is only imported to load one: the files alone identify a scorer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...errors import InputError, MissingScorerError, TSTBenchError
from ...files import folder_digest
from ...hub import why_not_downloaded
from ...untrusted import read_json
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
# What of a configuration would change the weights, or take them from elsewhere.
_NOT_READ = ("quantization_config", "compression_config", "transformers_weights", "fusion_config")
# In published files and read by no model: poolers, masks of attention, a part of STRAP's GPT-2.
_UNUSED = re.compile(
    r"(^|\.)(pooler\.|extra_embedding_project\.|attn\.(attention\.)?((masked_)?bias|causal_mask)$)"
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


def load_pretrained(
    folder: Path, placement: Placement, head: str, *, pooled: bool = False
) -> tuple[Any, Any]:
    """A model of a local folder, ready to score, and its tokenizer.

    Only safetensors are read, nothing is downloaded and no code of the folder is run.

    Args:
        folder: with weights, configuration and tokenizer.
        placement: device and number type.
        head: the class of transformers: ``AutoModel``, ``AutoModelForSequenceClassification``.
        pooled: whether the pooler is used, which an ``AutoModel`` may otherwise lack.
    """
    import torch

    device = placement.resolve()
    model = read_model(folder, head, pooled=pooled, dtype=getattr(torch, placement.dtype))
    return model.eval().to(device), read_tokenizer(folder)


def read_model(
    folder: Path,
    head: str,
    *,
    new_head: bool = False,
    pooled: bool = False,
    settings: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> Any:
    """A model of a local folder, from safetensors alone; none of the folder's code is run.

    Nothing is filled in: the weights must be those of the model that ``config.json`` describes.
    ``AutoModel`` needs the body's: a checkpoint may have a head besides, and lack the pooler.

    Args:
        folder: with weights and configuration.
        head: the class of transformers: ``AutoModel``, ``AutoModelForSequenceClassification``.
        new_head: whether the head is to be trained, so that only the body's weights are needed.
        pooled: whether an ``AutoModel`` needs its pooler too.
        settings: of the configuration, in place of those of ``config.json``.
        options: more of what ``from_pretrained`` takes, such as ``dtype``.

    Raises:
        InputError: it is damaged, incomplete, of another kind, quantised, or needs code of its own.
    """
    import transformers

    kind = getattr(transformers, head)
    read_config(folder)
    # How attention is computed is not for a folder to say: the name can be of code on the Hub.
    attention = settings.get("attn_implementation")
    with quiet_loading():
        config = _read(
            partial(
                transformers.AutoConfig.from_pretrained,
                **{**settings, "attn_implementation": attention},
            ),
            folder,
            "model",
        )
        config._attn_implementation = attention  # of the parts of a configuration, too
        wanted = getattr(kind, "config_class", None)
        if wanted is not None and config.model_type != wanted.model_type:
            raise InputError(f"{folder} is a {config.model_type}; a {wanted.model_type} is needed")
        load = partial(
            kind.from_pretrained,
            config=config,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # they are refused below
            output_loading_info=True,
            **options,
        )
        model, found = _read(load, folder, "model")
    body_only = new_head or head == "AutoModel"
    _check_complete(folder, model, found, body_only=body_only, pooled=pooled)
    return model


def read_config(folder: Path) -> dict[str, Any]:
    """The ``config.json`` of a model's folder, after a look at what else its weights depend on.

    Raises:
        InputError: it is no JSON object, has quantised weights, or weights outside of the folder; or
            there is an adapter beside it.
    """
    file, index = folder / "config.json", folder / "model.safetensors.index.json"
    if (folder / "adapter_config.json").exists():
        raise InputError(
            f"{folder} has an adapter (adapter_config.json), and scores and systems need one whole "
            "model: add it to the weights and give that folder (tstbench merge does it for "
            "adapters trained here, PEFT's merge_and_unload for others)"
        )
    config = read_json(file)
    if not isinstance(config, dict):
        raise InputError(f"{file} is not a JSON object")
    for key, value in _items(config):
        if key in _NOT_READ and value is not None:
            raise InputError(
                f"{file} has {key}, which is not read here: give a model whose weights are not "
                "quantised, in model.safetensors"
            )
    labels = config.get("id2label")
    if isinstance(labels, dict) and {*labels} != {str(i) for i in range(len(labels))}:
        raise InputError(f"{file}: the keys of id2label are not 0 to {len(labels) - 1}")
    if index.exists():
        parts = read_json(index)
        parts = parts.get("weight_map") if isinstance(parts, dict) else None
        if not isinstance(parts, dict) or any(
            not isinstance(part, str) or Path(part).name != part for part in parts.values()
        ):
            raise InputError(f"{index} does not name files of its folder under weight_map")
    return config


def _items(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The values in a JSON value, each with the key that it, or a list around it, stands under."""
    yield key, value
    if isinstance(value, dict):
        for inner_key, inner in value.items():
            yield from _items(inner, inner_key)
    elif isinstance(value, list):
        for inner in value:
            yield from _items(inner, key)


def _check_complete(
    folder: Path, model: Any, found: Mapping[str, Any], *, body_only: bool, pooled: bool
) -> None:
    """Raise :class:`InputError` if weights are missing, superfluous or of another shape."""
    body, prefix = model.base_model, f"{model.base_model_prefix}."
    parts = dict(body.named_children())

    def of_head(name: str) -> bool:
        inner = name.removeprefix(prefix)
        return body_only and inner == name and inner.split(".")[0] not in parts

    def may_lack(name: str) -> bool:
        places = name.split(".")
        # An encoder of pairs is read without its decoder.
        unread = set() if pooled else {"pooler"}
        if "encoder" in parts and body is model:
            unread.add("decoder")
        return of_head(name) or (body_only and not unread.isdisjoint(places))

    def unused(name: str) -> bool:
        return of_head(name) or _UNUSED.search(name) is not None

    wrong = {
        "missing": [name for name in found["missing_keys"] if not may_lack(name)],
        "not of this model": [name for name in found["unexpected_keys"] if not unused(name)],
        "of another shape": [name for name, *_ in found["mismatched_keys"] if not of_head(name)],
    }
    told = [
        f"{len(names)} {how} ({', '.join(name[:60] for name in sorted(names)[:3])}"
        f"{', ...' if len(names) > 3 else ''})"
        for how, names in wrong.items()
        if names
    ]
    if told:
        raise InputError(
            f"the weights in {folder} are not those of the {type(model).__name__} that its "
            f"config.json describes: {', '.join(told)}. Nothing is filled in: give a whole "
            "model, trained for this and saved with its own save_pretrained"
        )


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
    except TSTBenchError:
        raise
    except Exception as error:  # transformers', tokenizers', safetensors' own, of many kinds
        if "trust_remote_code" in str(error):
            raise InputError(
                f"{folder}: its {what} needs Python code that is in the folder. Such code is never "
                "run here: use a model whose architecture transformers itself has"
            ) from error
        why = " ".join(str(error).split())[:300]
        raise InputError(f"{folder} has no {what} that can be read: {why}") from error


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Without transformers' bars and tables: what matters of these is an error here."""
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
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
