"""s-BLEURT, r-BLEURT and multi-BLEURT: a metric learned from people's ratings of translations.

Source: Sellam, Das and Parikh (2020), "BLEURT".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tstbench.metrics.base import (
    MetricFacts,
    Need,
    Options,
    PairwiseFamily,
    Reduce,
    compared_with,
    reference_count,
    view_facts,
)
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.text import preparation


@dataclass(frozen=True, kw_only=True)
class BleurtOptions(Options):
    """Options of ``bleurt``; the profile or ``--scorer bleurt=...`` sets the checkpoint.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"


class Bleurt(PairwiseFamily[BleurtOptions]):
    """BLEURT of a prediction against the source or references."""

    name = "bleurt"
    title = "BLEURT"
    options = BleurtOptions
    role = "bleurt"
    libraries = ("torch", "transformers", "tokenizers")
    description = """
BLEURT is a BERT that was trained on people's ratings of machine translations. It scores the output
against the source, the first reference, and all references.
"""
    example = """
>>> bleurt = evaluate.load("tstbench/bleurt")  # doctest: +SKIP
>>> bleurt.compute(
...     predictions=["the soup was hot and good."],
...     sources=["the soup was cold and bad."],
...     references=[["the soup was hot and great.", "hot soup, and good."]],
... )  # doctest: +SKIP
"""
    citation = """\
@inproceedings{sellam2020bleurt,
  title = {{BLEURT}: Learning Robust Metrics for Text Generation},
  author = {Sellam, Thibault and Das, Dipanjan and Parikh, Ankur P.},
  booktitle = {Proceedings of ACL},
  year = {2020}
}
"""
    model = (
        "model",
        "bleurt",
        "another checkpoint than the profile's: a Hub id, or a folder with safetensors weights.",
    )
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("bleurt", "BLEURT", "BLEURT", "number")

    def needs(self, metric: str, inputs: Inputs, options: BleurtOptions) -> tuple[Need, ...]:
        """Each prediction with each text that it is compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            from tstbench.metrics.scorers.bleurt import pair

            clean = preparation(inputs.language).clean
            rows = zip(clean(inputs.predictions), compared_with(metric, inputs), strict=True)
            return [pair(text, prediction) for prediction, some in rows for text in clean(some)]

        return (Need(self.role, prepare),)

    def fields(self, metric: str, inputs: Inputs, options: BleurtOptions) -> dict[str, object]:
        """How references are combined and texts prepared; an empty text is scored like any."""
        return {
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
        }

    def pairs(
        self,
        predictions: Sequence[str],
        others: Sequence[str],
        options: BleurtOptions,
        scorer: Any,
    ) -> np.ndarray:
        """BLEURT's scores; most lie between 0 and 1."""
        from tstbench.metrics.scorers.bleurt import pair

        return scorer.scores([*map(pair, others, predictions)])


FAMILY = Bleurt()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("bleurt")
