"""Length ratio and copy rate: two numbers that say whether a system rewrites at all.

Source: Xie et al. (2025), TSTBench, Table 5, has lengths and copies of every system.

Source: the length and copy statistics of Xie et al. (2025), TSTBench, Table 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tstbench.metrics.base import Context, Family, MetricFacts, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics, mean_statistics, quotient
from tstbench.metrics.text import preparation


def length_ratio(predictions: Sequence[int], sources: Sequence[int]) -> Statistics:
    """Words of all predictions over words of all sources, a ratio of sums.

    Args:
        predictions: words of N predictions.
        sources: words of their sources; where there are none, the sentence has no ratio of its own.

    >>> length_ratio([4, 0], [4, 4]).value
    0.5
    """
    rows = np.stack([np.asarray(predictions), np.asarray(sources)], axis=1).astype(np.float64)
    return Statistics(rows, quotient, quotient(rows))


def copy_rate(predictions: Sequence[str], sources: Sequence[str]) -> Statistics:
    """Percentage of predictions that equal their source.

    Args:
        predictions: N texts, as they are to be compared.
        sources: N texts.

    >>> copy_rate(["a b", "c"], ["a b", "d"]).value
    50.0
    """
    copied = [one == other for one, other in zip(predictions, sources, strict=True)]
    return mean_statistics(np.array(copied), scale=100.0)


Equal = Literal["letters", "clean", "raw"]


@dataclass(frozen=True, kw_only=True)
class SurfaceOptions(Options):
    """Options of ``surface``.

    Attributes:
        equal: when an output is a copy: if it has the same characters but for case and spaces
            (``letters``), if the cleaned texts are equal (``clean``), or if the texts are, but for
            spaces at their ends (``raw``). Only ``copy_rate`` uses it.
    """

    equal: Equal = "letters"


class Surface(Family[SurfaceOptions]):
    """Length ratio and copy rate. Neither is a quality: a good rewrite has its own length."""

    name = "surface"
    title = "length and copies"
    options = SurfaceOptions
    description = """
Two numbers to read before any other: the words of all outputs over the words of all sources, and
the percentage of outputs that equal their source.
"""
    example = """
>>> surface = evaluate.load("tstbench/surface")
>>> results = surface.compute(
...     predictions=["The soup was cold.", "lovely soup ."],
...     sources=["the soup was cold .", "the soup was cold ."],
... )
>>> results["length_ratio"], results["copy_rate"]
(0.8, 50.0)
"""
    metrics = (
        MetricFacts(
            name="length_ratio",
            title="length ratio",
            unit="number",
            higher_is_better=True,  # how tables sort; 1 is as long, and no length is the best
            neutral=True,
            aspect="other",
            meaning="words of outputs over words of sources",
            reads=("sources",),
        ),
        MetricFacts(
            name="copy_rate",
            title="copies",
            unit="percent",
            higher_is_better=False,
            aspect="other",
            meaning="share of outputs equal to their source",
            reads=("sources",),
        ),
    )

    def fields(self, metric: str, inputs: Inputs, options: SurfaceOptions) -> dict[str, object]:
        """How words are separated and empty outputs count, or when two texts are equal."""
        text = preparation(inputs.language)
        if metric == "length_ratio":
            return {"text": text.language_model_name, "empty": "no-words"}
        return {
            "equal": options.equal,
            "text": "raw" if options.equal == "raw" else text.compared_name(),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: SurfaceOptions, context: Context
    ) -> Statistics:
        """A ratio of sums, or a share in percent."""
        pair: list[Sequence[str]] = [inputs.predictions, inputs.sources or ()]
        text = preparation(inputs.language)
        if metric == "length_ratio":
            words = [[len(t.split()) for t in text.for_language_model(some)] for some in pair]
            return length_ratio(*words)
        return copy_rate(*(_comparable(some, options.equal, inputs.language) for some in pair))


def _comparable(texts: Sequence[str], equal: Equal, language: str) -> list[str]:
    from tstbench.datasets_scripts.cleaning import match_key

    if equal == "raw":
        return [text.strip() for text in texts]
    clean = preparation(language).compared(texts)
    return clean if equal == "clean" else [match_key(text) for text in clean]


FAMILY = Surface()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("surface")
