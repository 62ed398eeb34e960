"""s-BLEURT, r-BLEURT and multi-BLEURT: a metric learned from people's ratings of translations.

Source: Sellam, Das and Parikh (2020), "BLEURT".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation
from ..views import Reduce, compared_with, reference_count, view_facts, view_left_out

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class BleurtOptions(Options):
    """Options of ``bleurt``; the profile or ``--scorer bleurt=...`` sets the checkpoint.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"

    def __post_init__(self) -> None:
        if self.reduce not in get_args(Reduce):
            raise unknown_name("reduction of bleurt", self.reduce, get_args(Reduce))


class Bleurt(Family[BleurtOptions]):
    """BLEURT of a prediction against the source or references."""

    name = "bleurt"
    title = "BLEURT"
    options = BleurtOptions
    libraries = ("torch", "transformers", "tokenizers")
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts("bleurt", "BLEURT", "BLEURT", "number")

    def left_out(self, metric: str, inputs: Inputs, options: BleurtOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: BleurtOptions) -> tuple[Need, ...]:
        """Each prediction with each text that it is compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            from ..scorers.bleurt import pair

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

        from ..statistics import mean_statistics

        (need,) = self.needs(metric, inputs, options)
        scores = context.scorer("bleurt").scores(need.texts)
        counts = [len(some) for some in compared_with(metric, inputs)]
        combine = np.max if options.reduce == "max" else np.mean
        each = np.split(scores, np.cumsum(counts)[:-1])
        return mean_statistics(np.array([combine(own) if len(own) else np.nan for own in each]))


FAMILY = Bleurt()
