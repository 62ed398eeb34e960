"""Fluency: how probable a classifier finds a sentence, a language model, or both; no reference.

Graded per sentence, where CoLA's share keeps only a yes or no of the same classifier. The embedded
one has read sentences and broken copies of them, then CoLA, never a judgment of a rewrite. The
language model reads how likely a sentence is: ln P over the square root of its tokens. Divided by
all of them it hardly agrees with people, who find short sentences more natural (Spearman 0.50 and
0.42 on Li et al. 2018, 0.57 and 0.21 on Mir et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tstbench.errors import InputError
from tstbench.metrics.base import Context, MetricFacts, Need, Options
from tstbench.metrics.cola.cola import AcceptabilityFamily
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics, mean_statistics
from tstbench.metrics.text import preparation


def graded_statistics(distribution: np.ndarray, wanted: int, failed: np.ndarray) -> Statistics:
    """Mean probability of a class, as a fraction.

    Unlike a share of sentences beyond 0.5 (:mod:`.share`), it keeps what the classifier knows about
    degrees, so single sentences can be ranked.

    Args:
        distribution: P(class | sentence), shape (N, C).
        wanted: the column of that class.
        failed: shape (N,), bool: sentences that count 0, whatever the classifier says; empty ones
            are among them.

    Raises:
        InputError: no such column, a value that is no probability, or ``failed`` of another length.

    >>> graded_statistics(np.array([[0.9, 0.1], [0.2, 0.8]]), 1, np.array([False, False])).value
    0.45
    """
    distribution = np.asarray(distribution, dtype=np.float64)
    if distribution.ndim != 2 or not 0 <= wanted < distribution.shape[1]:
        raise InputError(f"no class {wanted} in a distribution of shape {distribution.shape}")
    values = distribution[:, wanted]
    wrong = ~((values >= 0) & (values <= 1))  # NaN too
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"the classifier gave sentence {row} the probability {values[row]}")
    failed = np.asarray(failed)
    if failed.shape != values.shape:
        raise InputError(f"failed has shape {failed.shape}, but must have {values.shape}")
    return mean_statistics(np.where(failed, 0.0, values))


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


class Fluency(AcceptabilityFamily[FluencyOptions]):
    """Graded fluency, without references."""

    name = "fluency"
    title = "fluency"
    options = FluencyOptions
    description = """
Fluency is the mean probability, over predictions, that a sentence is acceptable English, from the
classifier that CoLA counts with, or how likely a language model finds it, or the mean of both. It
needs no reference.
"""
    example = """
>>> fluency = evaluate.load("tstbench/fluency")
>>> results = fluency.compute(
...     predictions=["the soup was lovely.", "soup the lovely was lovely and."],
...     per_sentence=True,
... )
>>> first, second = results["details"]["fluency"]["per_sentence"]
>>> first > second
True
"""
    citation = """\
@article{warstadt2019neural,
  title = {Neural Network Acceptability Judgments},
  author = {Warstadt, Alex and Singh, Amanpreet and Bowman, Samuel R.},
  journal = {Transactions of the ACL},
  year = {2019}
}
"""
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
            from tstbench.metrics.scorers.causal_lm import alone, as_written

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

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("fluency")
