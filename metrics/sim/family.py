"""s-sim, r-sim and multi-sim: cosine of sentence embeddings.

Source: Reimers and Gurevych (2019), "Sentence-BERT".
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
class SimOptions(Options):
    """Options of ``sim``; the profile or ``--scorer encoder=...`` sets encoder and layer.

    Attributes:
        reduce: how several references are combined: ``max`` or ``mean``.
    """

    reduce: Reduce = "max"

    def __post_init__(self) -> None:
        if self.reduce not in get_args(Reduce):
            raise unknown_name("reduction of sim", self.reduce, get_args(Reduce))


class Sim(Family[SimOptions]):
    """Cosine of sentence embeddings."""

    name = "sim"
    title = "sentence similarity"
    options = SimOptions
    libraries = ("torch", "transformers", "tokenizers")
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "sim", "sim", "cosine of sentence embeddings", "fraction"
    )

    def left_out(self, metric: str, inputs: Inputs, options: SimOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: SimOptions) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return preparation(inputs.language).clean([*inputs.predictions, *against])

        return (Need("encoder", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: SimOptions) -> dict[str, object]:
        """Pooling, how references are combined, how texts are prepared and empty ones count."""
        return {
            "pool": "mean",
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: SimOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' cosines."""
        from ..functional.sim import similarity

        clean = preparation(inputs.language).clean
        against = [clean(some) for some in compared_with(metric, inputs)]
        encoder = context.scorer("encoder")
        return similarity(clean(inputs.predictions), against, encoder, options.reduce)


FAMILY = Sim()
