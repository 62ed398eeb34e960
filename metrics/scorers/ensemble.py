"""An ensemble: classifiers of several kinds, their log-odds brought to one scale and averaged.

Kinds differ in how certain they are more than in which sentences they find more or less certain:
one that answers 0.999 and 0.001 would decide any mean of probabilities. So each member's
log-odds are divided by their spread on sentences that it was not trained on, and multiplied by that of
the logistic distribution: P(style) of ordinary sentences is then spread about evenly over 0 to 1,
which also keeps apart what one classifier alone would call certain. The most probable style is
that of a vote weighted by certainty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import InputError, IntegrityError
from ...files import read_text, write_json
from .classifiers import KINDS, StyleModel, model_class
from .device import HERE, Placement
from .linear import softmax

NAME = "ensemble"
# Root mean square of a style's centred log-probability if the log-odds of two styles are logistic.
SPREAD = math.pi / math.sqrt(3) / 2
_LEAST = 1e-12  # probabilities below have no finite or no meaningful logarithm


def centred_log_probabilities(distribution: np.ndarray) -> np.ndarray:
    """Log-probabilities minus their mean over styles: shape (N, S); half the log-odds if S is 2."""
    logs = np.log(np.maximum(np.asarray(distribution, dtype=np.float64), _LEAST))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def spread(distribution: np.ndarray) -> float:
    """Root mean square of the centred log-probabilities of N sentences.

    Raises:
        InputError: a classifier that gives every sentence and style the same probability.
    """
    found = float(np.sqrt(np.mean(centred_log_probabilities(distribution) ** 2)))
    if not found > 0:
        raise InputError("a member of the ensemble finds all styles equally probable")
    return found


class EnsembleModel:
    """Members of different kinds and what their log-odds are divided by.

    Args:
        members: (kind, model), M of them, of the same styles in the same order.
        spreads: M numbers, see :func:`spread`.

    Raises:
        InputError: no member, another number of spreads, or members of different styles.
    """

    def __init__(self, members: Sequence[tuple[str, StyleModel]], spreads: Sequence[float]) -> None:
        if not members or len(members) != len(spreads):
            raise InputError(f"an ensemble of {len(members)} members with {len(spreads)} spreads")
        if len({model.styles for _, model in members}) > 1:
            raise InputError("the members of an ensemble tell different styles apart")
        if not all(math.isfinite(one) and one > 0 for one in spreads):
            raise InputError(f"the spreads of an ensemble must be above 0: {list(spreads)}")
        self.members = tuple(members)
        self.spreads = tuple(float(one) for one in spreads)
        self.styles = members[0][1].styles

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64, rows sum to 1."""
        scaled = [
            centred_log_probabilities(model.distribution(sentences)) * (SPREAD / own)
            for (_, model), own in zip(self.members, self.spreads, strict=True)
        ]
        return softmax(np.mean(scaled, axis=0))

    def save(self, folder: Path) -> None:
        """Write ``model.json``, and each member into a folder named after its kind."""
        settings = {"styles": self.styles, "kinds": self.kinds, "spreads": self.spreads}
        write_json(folder / "model.json", settings)
        for kind, model in self.members:
            (folder / kind).mkdir()
            model.save(folder / kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The members' kinds."""
        return tuple(kind for kind, _ in self.members)

    @classmethod
    def load(cls, folder: Path, placement: Placement = HERE) -> EnsembleModel:
        """Read back what :meth:`save` wrote.

        Raises:
            IntegrityError: it names a member of a kind that is not ours.
            MissingExtraError: a member needs a library that is not installed.
        """
        settings = json.loads(read_text(folder / "model.json"))
        kinds = settings["kinds"]
        for kind in kinds:  # they are names of folders, too
            if kind not in KINDS or kind == NAME:
                raise IntegrityError(f"{folder}: {kind!r} cannot be a member of an ensemble")
        members = [(kind, model_class(kind).load(folder / kind, placement)) for kind in kinds]
        ensemble = cls(members, settings["spreads"])
        if ensemble.styles != tuple(settings["styles"]):
            raise IntegrityError(f"{folder}: the members' styles are not the ensemble's")
        return ensemble
