"""What a style classifier sees in a sentence before it decides: one vector for each sentence.

Of a transformer it is the first token ("CLS") after the last layer, of a linear classifier the
weights of the n-grams, of a probe the means of its encoder's layers. Other kinds show none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from .classifiers import Classifier


@runtime_checkable
class ShowsFeatures(Protocol):
    """A model that can show them.

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
