"""Any transformer for sequence classification as a style classifier: a Hub id or a local folder.

Weights are read from safetensors only: a pickled checkpoint can run code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...errors import InputError, MissingScorerError
from ...files import folder_digest
from .batching import length_sorted_batches
from .classifiers import Classifier
from .linear import softmax
from .packed_bert import PackedBert, is_packable

MAX_TOKENS = 4_096  # in a batch, padding included where there is any
_MODEL_FILES = ("config.json", "*.safetensors", "*.safetensors.index.json")
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)


@dataclass(frozen=True)
class HubClassifier:
    """A published classifier whose labels do not say what they mean.

    Attributes:
        model: its Hub id.
        revision: commit; a branch name cannot be reproduced.
        labels: style -> the model's own label.
        source: where the meaning of the labels is established.
    """

    model: str
    revision: str
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""


HUB_CLASSIFIERS: dict[str, HubClassifier] = {
    known.model: known
    for known in (
        # The other way round than the CoLA corpus, where 1 is acceptable.
        HubClassifier(
            "cointegrated/roberta-large-cola-krishna2020",
            revision="efffc0dbebedfdb84747a32b30ec0c3df15812b1",
            labels={"unacceptable": "LABEL_1", "acceptable": "LABEL_0"},
            source="the benchmark's own evaluator counts LABEL_0 as fluent: "
            "FayeXXX/A-Benchmark-of-Text-Style-Transfer at 74ef060, "
            "Evaluation/fluency/evaluator_cola.py; public evaluation code for text "
            "detoxification, the model's first use, reads column 0 of its softmax as well",
        ),
    )
}


class TransformerModel:
    """A sequence classifier, its tokenizer, and which of its columns is which style.

    Args:
        styles: S names.
        model: a transformers model for sequence classification, float32.
        tokenizer: its tokenizer.
        columns: for each style, the model's column.
    """

    def __init__(
        self, styles: tuple[str, ...], model: Any, tokenizer: Any, columns: Sequence[int]
    ) -> None:
        self.styles = styles
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._columns = list(columns)
        self._longest = longest_input(model, tokenizer)
        self._packed: PackedBert | None = None
        if is_packable(model.config):
            self._packed = PackedBert(model.base_model, model.config.num_hidden_layers)

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64; over-long sentences are cut at the end."""
        encoded = self._tokenizer(list(sentences), truncation=True, max_length=self._longest)
        lengths = [len(ids) for ids in encoded["input_ids"]]
        logits = np.empty((len(lengths), len(self.styles)))
        with torch.inference_mode():
            for batch in length_sorted_batches(lengths, MAX_TOKENS):
                rows = {name: [values[i] for i in batch] for name, values in encoded.items()}
                logits[batch] = self._logits(rows)[:, self._columns].float().cpu().numpy()
        return softmax(logits)

    def _logits(self, rows: dict[str, list[list[int]]]) -> torch.Tensor:
        """Of sentences as the tokenizer gives them, longest first: shape (B, labels)."""
        if self._packed is None:
            inputs = self._tokenizer.pad(rows, return_tensors="pt").to(self._model.device)
            return self._model(**inputs).logits
        # BERT's head reads the first token through a pooler, RoBERTa's reads it itself.
        first = self._packed.first_tokens(rows["input_ids"])[:, None]
        pooler = getattr(self._model.base_model, "pooler", None)
        return self._model.classifier(first if pooler is None else pooler(first))

    def save(self, folder: Path) -> None:
        """Write what ``save_pretrained`` writes; the labels are named after the styles."""
        config = self._model.config
        if [config.id2label.get(i) for i in range(config.num_labels)] != list(self.styles):
            raise InputError("only a model whose labels are its styles, in order, can be saved")
        self._model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)

    @classmethod
    def load(cls, folder: Path) -> TransformerModel:
        """Read back what :meth:`save` wrote."""
        model, tokenizer = _from_folder(folder)
        labels = model.config.id2label
        styles = tuple(labels[i] for i in range(model.config.num_labels))
        return cls(styles, model, tokenizer, range(len(styles)))


def load_hub_classifier(
    model: str | Path,
    styles: Sequence[str],
    *,
    labels: Mapping[str, str] | None = None,
    revision: str | None = None,
) -> Classifier:
    """A published classifier, with a name and a hash for signatures.

    Args:
        model: Hub id or local folder.
        styles: the S styles, in the order wanted.
        labels: style -> the model's label, where the labels are not the styles' names. Known
            models (:data:`HUB_CLASSIFIERS`) need none.
        revision: commit of the Hub repository; known models are pinned.

    Raises:
        InputError: the labels cannot be matched with the styles.
        MissingScorerError: the weights are not in the Hub's cache and cannot be fetched.
    """
    known = HUB_CLASSIFIERS.get(str(model))
    folder = fetch(model, revision or (known.revision if known else None))
    if labels is None and known:
        labels = known.labels
    network, tokenizer = _from_folder(folder)
    columns = style_columns(network.config.id2label, styles, labels or {}, name=str(model))
    name = Path(model).name if Path(model).is_dir() else str(model)
    files = _files(folder)
    skip = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p not in files}
    digest = folder_digest(folder, skip=skip)
    return Classifier(
        TransformerModel(tuple(styles), network, tokenizer, columns), name=name, hash=digest
    )


def style_columns(
    id2label: Mapping[int, str], styles: Sequence[str], labels: Mapping[str, str], *, name: str
) -> list[int]:
    """For each style, the model's column; every column must be one style's.

    Args:
        id2label: the model's labels, by column.
        styles: the styles wanted, in order.
        labels: style -> label, for styles whose label is not their own name.
        name: of the model, for the message.

    Raises:
        InputError: labels and styles do not match one to one.

    Example:
        >>> style_columns({0: "POSITIVE", 1: "NEGATIVE"}, ["negative", "positive"], {}, name="m")
        [1, 0]
    """
    columns = {label.casefold(): column for column, label in id2label.items()}
    found = [columns.get(labels.get(style, style).casefold()) for style in styles]
    known = [column for column in found if column is not None]
    if len(set(known)) != len(styles) or len(styles) != len(id2label):
        have = ", ".join(repr(label) for label in id2label.values())
        raise InputError(
            f"the labels of {name} are {have}; the styles are {', '.join(styles)}. Each style "
            "needs one label: say which with labels={style: label, ...}, or rename id2label in "
            "the model's config.json"
        )
    return known


def fetch(model: str | Path, revision: str | None = None) -> Path:
    """The local folder of a model: itself, the Hub's cache, or a download (with its progress bar).

    Raises:
        MissingScorerError: it is not in the cache, and there is no network or HF_HUB_OFFLINE is
            set; says how to fetch it.
    """
    if Path(model).is_dir():
        return _complete(Path(model), str(model))
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    pin = f" --revision {revision}" if revision else ""
    advice = f"Fetch it once where there is a network: hf download {model}{pin}"
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
        wanted = [*_MODEL_FILES, *_TOKENIZER_FILES]
        fetched = snapshot_download(str(model), revision=revision, allow_patterns=wanted)
    except Exception as error:  # what an HTTP client raises changes with the Hub library's version
        raise MissingScorerError(
            f"the weights of {model} are not in {constants.HF_HUB_CACHE} and cannot be "
            f"downloaded ({type(error).__name__}). {advice}"
        ) from error
    return _complete(Path(fetched), str(model))


def longest_input(model: Any, tokenizer: Any) -> int:
    """Most tokens the model takes, special tokens included."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1  # their positions start after the padding's
    return int(min(positions, tokenizer.model_max_length))


def _files(folder: Path) -> list[Path]:
    patterns = (*_MODEL_FILES, *_TOKENIZER_FILES)
    return sorted({file for pattern in patterns for file in folder.glob(pattern)})


def _complete(folder: Path, name: str) -> Path:
    tokenizer = any(next(folder.glob(p), None) for p in ("tokenizer.json", "vocab.*", "*.model"))
    weights = any(folder.glob("*.safetensors"))
    if not ((folder / "config.json").exists() and weights and tokenizer):
        raise MissingScorerError(
            f"{name} ({folder}) is not a whole model: config.json, *.safetensors weights and a "
            "tokenizer are needed; checkpoints in other formats are not read"
        )
    return folder


def _from_folder(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, use_safetensors=True, local_files_only=True
    )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return model.to(device), AutoTokenizer.from_pretrained(folder, local_files_only=True)
