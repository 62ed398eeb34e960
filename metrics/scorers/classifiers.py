"""Style classifiers, of any kind: a model, a memo, a name and a hash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ...errors import InputError, IntegrityError, require_installed, unknown_name
from ...plugins import outside
from ...store import StoredModel
from .artefacts import Artefact, find, open_artefact, whole
from .base import SentenceMemo
from .device import HERE, Placement
from .weights import MODEL_FILES, TOKENIZER_FILES, fetch, signature_name, weights_digest

ACCEPTABILITY_STYLES = ("unacceptable", "acceptable")


class StyleModel(Protocol):
    """What each kind must provide: a distribution over styles, and files."""

    @property
    def styles(self) -> tuple[str, ...]:
        """The S styles, in the order of the columns of :meth:`distribution`."""
        ...

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; N >= 1, not memoised."""
        ...

    def save(self, folder: Path) -> None:
        """Write everything that :meth:`load` needs into an existing folder."""
        ...

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> StyleModel:
        """Read back what :meth:`save` wrote; only transformers use the placement."""
        ...


class Classifier:
    """A style classifier for metrics: it scores each distinct sentence once.

    Args:
        model: does the scoring.
        name: what it is, for a signature, such as ``linear:yelp``.
        hash: SHA-256 hex of its files.
    """

    def __init__(self, model: StyleModel, *, name: str, hash: str) -> None:  # noqa: A002
        self._model = model
        self._memo = SentenceMemo(model.distribution)
        self.name = name
        self.hash = hash

    @property
    def model(self) -> StyleModel:
        """What does the scoring."""
        return self._model

    @property
    def styles(self) -> tuple[str, ...]:
        """The S styles, in the order of the columns of :meth:`distribution`."""
        return self._model.styles

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; an empty sentence too."""
        return self._memo(sentences).reshape(-1, len(self.styles))


@dataclass(frozen=True)
class Kind:
    """A kind of classifier: the class of its models, and the libraries it needs.

    Attributes:
        model: ``module:class``, imported when used (a linear one does not need torch), or the
            class itself, in other packages.
        requires: modules beyond the core, and our extra that installs each.
        trainer: in other packages, a module or object with ``Config`` and ``fit`` like those of
            our kinds' modules, which are found by the kind's name.
    """

    model: str | type[StyleModel]
    requires: tuple[tuple[str, str], ...] = ()
    trainer: Any = None


_TORCH = (("torch", "embedded"), ("transformers", "embedded"))
KINDS: dict[str, Kind] = {
    "linear": Kind(".linear:LinearModel"),
    "fasttext": Kind(".fasttext:FastTextModel", (("floret", "train"),)),
    "textcnn": Kind(".textcnn:TextCnnModel", (("torch", "train"),)),
    "transformer": Kind(".transformer:TransformerModel", _TORCH),
    "probe": Kind(".probe:ProbeModel", _TORCH),
    "finetuned": Kind(".transformer:TransformerModel", _TORCH),
    "lora": Kind(".lora:LoraModel", _TORCH),
    "lm": Kind(".lm:LmModel", _TORCH),
    "ensemble": Kind(".ensemble:EnsembleModel", (*_TORCH, ("floret", "train"))),
}


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by name, ours first; other packages' are entry points ``tstbench.scorers``."""
    others = outside("tstbench.scorers").items()
    found = {name: o for name, o in others if isinstance(o, Kind) and name not in KINDS}
    return {**KINDS, **found}


def is_kind(name: str) -> bool:
    """Whether a profile names a classifier by its kind, not by a folder or a Hub id."""
    return name in kinds() or not ("/" in name or Path(name).is_dir())


def classifier_kind(name: str) -> Kind:
    """The kind with that name, after checking that its libraries are installed.

    Raises:
        UnknownNameError: no such kind.
        MissingExtraError: the kind needs a library that is not installed.
    """
    if name not in kinds():
        raise unknown_name("kind of classifier", name, kinds())
    for module, extra in kinds()[name].requires:
        require_installed(module, extra)
    return kinds()[name]


def model_class(kind: str) -> type[StyleModel]:
    """The class that reads and writes models of that kind; raises like :func:`classifier_kind`."""
    model = classifier_kind(kind).model
    if not isinstance(model, str):
        return model
    module, attribute = model.split(":")
    found: type[StyleModel] = getattr(import_module(module, __package__), attribute)
    return found


def load_classifier(artefact: Artefact | Path | str, placement: Placement = HERE) -> Classifier:
    """The classifier in a scorer's folder, in the cache or downloaded.

    Args:
        artefact: the folder, or its opened artefact.
        placement: the device and number type of transformers.

    Raises:
        MissingScorerError, IntegrityError: see :func:`~.artefacts.open_artefact`.
        InputError: the folder contains another kind of scorer.
    """
    if not isinstance(artefact, StoredModel):
        artefact = open_artefact(artefact)
    card = artefact.card
    if card.role == "language_model":
        raise InputError(f"{artefact.folder} contains a {card.role}, not a classifier")
    with (
        whole(artefact.folder, f"classifier of kind {card.kind}")
        if card.kind in KINDS
        else nullcontext()  # the errors of other packages are theirs
    ):
        model = model_class(card.kind).load(artefact.folder, placement)
    if model.styles != card.styles:
        raise IntegrityError(
            f"{artefact.folder}: the model's styles {model.styles} are not its card's {card.styles}"
        )
    return Classifier(model, name=f"{card.kind}:{card.dataset}", hash=artefact.hash)


def find_classifier(dataset: str, name: str, *, role: str = "classifier") -> Classifier:
    """The classifier with that name in the cache: ``find_classifier("yelp", "linear")``.

    Raises:
        MissingScorerError: there is none; the message says which command makes it.
    """
    return load_classifier(find(role, dataset, name))


@runtime_checkable
class ShowsFeatures(Protocol):
    """A model that shows what it sees in a sentence before it decides: one vector for each.

    Of a transformer it is the first token ("CLS") after the last layer, of a linear classifier the
    weights of the n-grams, of a probe the means of its encoder's layers. Other kinds show none.

    Attributes:
        features_are: what the vectors are, in words.
    """

    features_are: str

    def features(self, sentences: Sequence[str]) -> np.ndarray:
        """One vector for each sentence: shape (N, D)."""
        ...


def shown_features(classifier: Classifier) -> ShowsFeatures | None:
    """The classifier's model, if it shows its features."""
    model = classifier.model
    return model if isinstance(model, ShowsFeatures) else None


@dataclass(frozen=True)
class HubClassifier:
    """A published classifier whose labels do not say what they mean.

    Attributes:
        model: its Hub id.
        revision: commit; a branch name cannot be reproduced.
        labels: style -> the model's own label.
        source: where the meaning of the labels is documented.
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


def classifier_folder(model: str | Path, revision: str | None = None) -> Path:
    """The local folder of a published classifier; known models are pinned to a commit.

    Raises:
        MissingScorerError: the weights are not in the Hub's cache and cannot be downloaded.
    """
    known = HUB_CLASSIFIERS.get(str(model))
    return fetch(model, revision or (known.revision if known else None))


def describe_hub_classifier(model: str | Path, revision: str | None = None) -> tuple[str, str]:
    """Name and hash (SHA-256 hex of its files) of a published classifier; nothing is loaded.

    Raises:
        MissingScorerError: see :func:`classifier_folder`.
    """
    folder = classifier_folder(model, revision)
    name = signature_name(Path(model).name if Path(model).is_dir() else str(model))
    return name, weights_digest(folder, (*MODEL_FILES, *TOKENIZER_FILES))
