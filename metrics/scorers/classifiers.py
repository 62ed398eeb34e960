"""Style classifiers, whatever their kind: a model of some kind, a memo, a name and a hash."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

from ...errors import InputError, IntegrityError, require, unknown_name
from .artefacts import Artefact, Role, find, open_artefact
from .batching import SentenceMemo

ACCEPTABILITY_STYLES = ("unacceptable", "acceptable")

# Imported when used: a linear classifier needs no torch.
KINDS: dict[str, str] = {
    "linear": "tstbench.metrics.scorers.linear:LinearModel",
    "fasttext": "tstbench.metrics.scorers.fasttext:FastTextModel",
    "textcnn": "tstbench.metrics.scorers.textcnn:TextCnnModel",
    "transformer": "tstbench.metrics.scorers.transformer:TransformerModel",
    "probe": "tstbench.metrics.scorers.probe:ProbeModel",
}


class StyleModel(Protocol):
    """What each kind has to offer: a distribution over styles, and files."""

    @property
    def styles(self) -> tuple[str, ...]:
        """The S styles, in the order of the columns of :meth:`distribution`."""
        ...

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; N >= 1, no memory."""
        ...

    def save(self, folder: Path) -> None:
        """Write all that :meth:`load` needs into an existing folder."""
        ...

    @classmethod
    def load(cls, folder: Path) -> StyleModel:
        """Read back what :meth:`save` wrote."""
        ...


class Classifier:
    """A style classifier for metrics: it scores each distinct sentence once.

    Args:
        model: does the scoring.
        name: what it is, for a signature, such as ``linear:yelp``.
        hash: SHA-256 hex over its files.
    """

    def __init__(self, model: StyleModel, *, name: str, hash: str) -> None:  # noqa: A002
        self._model = model
        self._memo = SentenceMemo(model.distribution)
        self.name = name
        self.hash = hash

    @property
    def styles(self) -> tuple[str, ...]:
        """The S styles, in the order of the columns of :meth:`distribution`."""
        return self._model.styles

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1; an empty sentence too."""
        return self._memo(sentences).reshape(-1, len(self.styles))


# What a kind imports beyond the core, and the extra that brings it.
LIBRARIES: dict[str, tuple[tuple[str, str], ...]] = {
    "fasttext": (("floret", "train"),),
    "textcnn": (("torch", "train"),),
    "transformer": (("torch", "embedded"), ("transformers", "embedded")),
    "probe": (("torch", "embedded"), ("transformers", "embedded")),
}


def require_libraries(kind: str) -> None:
    """Raise :class:`MissingExtraError`, with the pip line, where a kind's library is not there."""
    for module, extra in LIBRARIES.get(kind, ()):
        require(module, extra)


def model_class(kind: str) -> type[StyleModel]:
    """The class that reads and writes models of that kind.

    Raises:
        UnknownNameError: no such kind.
        MissingExtraError: the kind needs a library that is not installed.
    """
    if kind not in KINDS:
        raise unknown_name("kind of classifier", kind, KINDS)
    require_libraries(kind)
    module, attribute = KINDS[kind].split(":")
    found: type[StyleModel] = getattr(import_module(module), attribute)
    return found


def load_classifier(artefact: Artefact | Path | str) -> Classifier:
    """The classifier in a scorer's folder, in the cache or downloaded.

    Raises:
        MissingScorerError, IntegrityError: as :func:`~.artefacts.open_artefact`.
        InputError: the folder holds another sort of scorer.
    """
    if not isinstance(artefact, Artefact):
        artefact = open_artefact(artefact)
    card = artefact.card
    if card.role == "language_model":
        raise InputError(f"{artefact.folder} holds a {card.role}, not a classifier")
    model = model_class(card.kind).load(artefact.folder)
    if model.styles != card.styles:
        raise IntegrityError(
            f"{artefact.folder}: the model's styles {model.styles} are not its card's {card.styles}"
        )
    return Classifier(model, name=f"{card.kind}:{card.dataset}", hash=artefact.hash)


def find_classifier(dataset: str, name: str, *, role: Role = "classifier") -> Classifier:
    """The classifier of that name in the cache: ``find_classifier("yelp", "linear")``.

    Raises:
        MissingScorerError: there is none; says which command makes it.
    """
    return load_classifier(find(role, dataset, name))
