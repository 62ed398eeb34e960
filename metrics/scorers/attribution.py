"""The scorer that says how much each word of a sentence contributes to its style.

Its warm-up, :meth:`StyleAttribution.distribution`, is the classifier's own; attributions cost a
hundred times as much and depend on a metric's options, so they are computed when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..scorers.masking import word_attributions, word_spans
from .batching import SentenceMemo

if TYPE_CHECKING:
    from .integrated_gradients import Attribution, Baseline, Output
    from .transformer import TransformerModel

_How = tuple[int, "Baseline", "Output"]


class StyleAttribution:
    """Integrated gradients of a transformer classifier, each distinct sentence once.

    Args:
        model: the classifier.
        name: what it is, for a signature, such as ``transformer:yelp``.
        hash: SHA-256 hex of its files.
    """

    def __init__(self, model: TransformerModel, *, name: str, hash: str) -> None:  # noqa: A002
        from .integrated_gradients import IntegratedGradients

        self._gradients = IntegratedGradients(model)
        self._distribution = SentenceMemo(model.distribution)
        self._known: dict[_How, dict[str, Attribution]] = {}
        self.styles = model.styles
        self.name = name
        self.hash = hash

    def distribution(self, sentences: Sequence[str]) -> np.ndarray:
        """P(style | sentence): shape (N, S), float64."""
        return self._distribution(sentences).reshape(-1, len(self.styles))

    def attributions(
        self,
        sentences: Sequence[str],
        *,
        steps: int = 50,
        baseline: Baseline = "pad",
        output: Output = "probability",
    ) -> list[Attribution]:
        """The attributions of N sentences' word pieces, in order.

        Arguments and errors are those of
        :meth:`~.integrated_gradients.IntegratedGradients.attribute`.
        """
        known = self._known.setdefault((steps, baseline, output), {})
        new = [s for s in dict.fromkeys(sentences) if s not in known]
        if new:
            found = self._gradients.attribute(new, steps=steps, baseline=baseline, output=output)
            known.update(zip(new, found, strict=True))
        return [known[s] for s in sentences]

    def word_attributions(
        self,
        sentences: Sequence[str],
        *,
        steps: int = 50,
        baseline: Baseline = "pad",
        output: Output = "probability",
    ) -> list[np.ndarray]:
        """The attributions of N sentences' words: for each, shape (its words,), float64.

        Words are those of :func:`~tstbench.metrics.scorers.masking.word_spans`. Arguments and
        errors are those of :meth:`attributions`.
        """
        found = self.attributions(sentences, steps=steps, baseline=baseline, output=output)
        return [
            word_attributions(one.pieces, one.values, word_spans(text))
            for text, one in zip(sentences, found, strict=True)
        ]
