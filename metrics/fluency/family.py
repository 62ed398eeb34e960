"""Fluency: how probable a classifier finds a sentence, a language model, or both; no reference.

Graded per sentence, where CoLA's share keeps only a yes or no of the same classifier. The embedded
one has read sentences and broken copies of them, then CoLA, never a judgment of a rewrite. The
language model reads how likely a sentence is: ln P over the square root of its tokens. Divided by
all of them it hardly agrees with people, who find short sentences more natural (Spearman 0.50 and
0.42 on Li et al. 2018, 0.57 and 0.21 on Mir et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import unknown_name
from ..acceptable import AcceptabilityFamily
from ..contract import Context, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


Combine = Literal["acceptable", "likely", "mean"]
# Mean and standard deviation of ln P over the square root of tokens, of the validation sentences of
# five datasets under SmolLM2 with 135 million weights. What is as likely as the mean counts 0.88.
_USUAL, _SPREAD = -18.5, 4.5


@dataclass(frozen=True, kw_only=True)
class FluencyOptions(Options):
    """Options of ``fluency``.

    Attributes:
        combine: ``acceptable`` (the classifier), ``likely`` (the language model) or the ``mean`` of
            both as log-odds, which the profile ``lm`` takes.
    """

    combine: Combine = "acceptable"

    def __post_init__(self) -> None:
        if self.combine not in get_args(Combine):
            raise unknown_name("combine of fluency", self.combine, get_args(Combine))


class Fluency(AcceptabilityFamily[FluencyOptions]):
    """Graded fluency, without references."""

    name = "fluency"
    title = "fluency"
    options = FluencyOptions
    metrics = (
        MetricFacts(
            name="fluency",
            title="Fluency",
            unit="fraction",
            higher_is_better=True,
            aspect="fluency",
            meaning="mean probability of being acceptable English",
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: FluencyOptions) -> tuple[Need, ...]:
        """Predictions, cleaned, case kept; for a language model, lower case as people write it."""

        def read() -> list[str]:
            from ..scorers.causal_lm import alone, as_written

            clean = preparation(inputs.language).clean
            return [alone(as_written(text)) for text in clean(inputs.predictions)]

        judged = super().needs(metric, inputs, options) if options.combine != "likely" else ()
        return (*judged, *([Need("causal_lm", read)] if options.combine != "acceptable" else ()))

    def fields(self, metric: str, inputs: Inputs, options: FluencyOptions) -> dict[str, object]:
        """What is combined, how texts are prepared, and how empty predictions count."""
        text: dict[str, object] = {"text": preparation(inputs.language).clean_name, "empty": "zero"}
        if options.combine == "acceptable":
            return text
        return {"combine": options.combine, "likely": f"{_USUAL:g}+-{_SPREAD:g}", **text}

    def measure(
        self, metric: str, inputs: Inputs, options: FluencyOptions, context: Context
    ) -> Statistics:
        """The mean over sentences, as a fraction; 0 for an empty prediction."""
        import numpy as np
        from scipy.special import expit, logit

        from ..functional.graded import graded_statistics

        parts = []
        if options.combine != "likely":
            judged, wanted = self.judged(metric, inputs, options, context)
            if options.combine == "acceptable":
                return graded_statistics(judged, wanted, inputs.failed)
            parts.append(logit(np.clip(judged[:, wanted], 1e-6, 1 - 1e-6)))
        if options.combine != "acceptable":
            *_, need = self.needs(metric, inputs, options)
            told = context.scorer("causal_lm").log_probabilities(need.texts)
            scaled = told[:, 0] / np.sqrt(np.maximum(told[:, 1], 1))
            parts.append(2 * (scaled - _USUAL) / _SPREAD + 2)
        values = expit(np.mean(parts, axis=0))
        return graded_statistics(values[:, None], 0, inputs.failed)


FAMILY = Fluency()
