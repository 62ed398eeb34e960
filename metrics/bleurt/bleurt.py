"""s-BLEURT, r-BLEURT and multi-BLEURT: a metric learned from people's ratings of translations.

Source: Sellam, Das and Parikh (2020), "BLEURT".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tstbench.metrics.contract import Context, Family, Need, Options
from tstbench.metrics.facts import MetricFacts
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import preparation
from tstbench.metrics.views import Reduce, compared_with, reference_count, view_facts, view_left_out


@dataclass(frozen=True, kw_only=True)
class BleurtOptions(Options):
    """Options of ``bleurt``; the profile or ``--scorer bleurt=...`` sets the checkpoint.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"


class Bleurt(Family[BleurtOptions]):
    """BLEURT of a prediction against the source or references."""

    name = "bleurt"
    title = "BLEURT"
    options = BleurtOptions
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

    def left_out(self, metric: str, inputs: Inputs, options: BleurtOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: BleurtOptions) -> tuple[Need, ...]:
        """Each prediction with each text that it is compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            from tstbench.metrics.scorers.bleurt import pair

            clean = preparation(inputs.language).clean
            rows = zip(clean(inputs.predictions), compared_with(metric, inputs), strict=True)
            return [pair(text, prediction) for prediction, some in rows for text in clean(some)]

        return (Need("bleurt", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: BleurtOptions) -> dict[str, object]:
        """How references are combined and texts prepared; an empty text is scored like any."""
        return {
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: BleurtOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' scores."""
        import numpy as np

        from tstbench.metrics.statistics import mean_statistics

        (need,) = self.needs(metric, inputs, options)
        scores = context.scorer("bleurt").scores(need.texts)
        counts = [len(some) for some in compared_with(metric, inputs)]
        combine = np.max if options.reduce == "max" else np.mean
        each = np.split(scores, np.cumsum(counts)[:-1])
        return mean_statistics(np.array([combine(own) if len(own) else np.nan for own in each]))


FAMILY = Bleurt()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("bleurt")
