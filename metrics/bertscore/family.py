"""s-BERT, r-BERT and multi-BERT: token similarity in an encoder's space.

Source: Zhang, Kishore, Wu, Weinberger and Artzi (2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import Reading, TextProtocol, preparation
from ..views import Reduce, compared_with, reference_count, view_facts, view_left_out

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class BertScoreOptions(Options):
    """Options of ``bertscore``; the profile or ``--scorer encoder=...`` sets encoder and layer.

    Attributes:
        protocol: how texts are read: ``paper`` (lower case, white space folded; the default for
            English) or ``cleaned`` (the dataset's cleaning, case kept).
        reduce: how several references are combined: ``max`` (bert-score's) or ``mean`` (the
            TSTBench paper's code).
    """

    protocol: TextProtocol | None = None
    reduce: Reduce = "max"

    def __post_init__(self) -> None:
        if self.reduce not in get_args(Reduce):
            raise unknown_name("reduction of bertscore", self.reduce, get_args(Reduce))


class BertScore(Family[BertScoreOptions]):
    """BERTScore F1, not rescaled."""

    name = "bertscore"
    title = "BERTScore"
    options = BertScoreOptions
    libraries = ("torch", "transformers", "tokenizers")
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "bert", "BERT", "BERTScore", "fraction", version=2
    )

    def left_out(self, metric: str, inputs: Inputs, options: BertScoreOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: BertScoreOptions) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return _reading(inputs, options).prepare([*inputs.predictions, *against])

        return (Need("encoder", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: BertScoreOptions) -> dict[str, object]:
        """How several references are combined, and how texts are prepared."""
        return {
            "reduce": options.reduce,
            "rescale": "no",
            **_reading(inputs, options).fields,
            "refs": reference_count(metric, inputs),
        }

    def measure(
        self, metric: str, inputs: Inputs, options: BertScoreOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' F1."""
        encoder = context.scorer("encoder")
        from ..functional.bertscore import bertscore  # needs torch
        from ..statistics import mean_statistics

        read = _reading(inputs, options).prepare
        against = [read(some) for some in compared_with(metric, inputs)]
        scores = bertscore(read(inputs.predictions), against, encoder, reduce=options.reduce)
        return mean_statistics(scores.f1)


def _reading(inputs: Inputs, options: BertScoreOptions) -> Reading:
    return preparation(inputs.language).reading("bertscore", options.protocol)


FAMILY = BertScore()
