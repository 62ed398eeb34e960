"""PPL: perplexity under an n-gram language model of the target style.

Source: TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


Normalisation = Literal["words", "words+1"]


@dataclass(frozen=True, kw_only=True)
class PplOptions(Options):
    """Options of ``ppl``.

    Attributes:
        norm: ``words`` (the paper's: the end of a sentence is scored but not counted) or ``words+1``
            (like kenlm's own perplexity).
    """

    norm: Normalisation = "words"

    def __post_init__(self) -> None:
        if self.norm not in get_args(Normalisation):
            raise unknown_name("normalisation of ppl", self.norm, get_args(Normalisation))


class Ppl(Family[PplOptions]):
    """Perplexity."""

    name = "ppl"
    title = "perplexity"
    options = PplOptions
    libraries = ("kenlm", "sacrebleu")  # sacrebleu: its 13a tokeniser
    metrics = (
        MetricFacts(
            name="ppl",
            title="PPL",
            unit="perplexity",
            higher_is_better=False,
            aspect="fluency",
            meaning="perplexity under a target-style 5-gram model",
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: PplOptions) -> tuple[Need, ...]:
        """Predictions, tokenised like the language models' training sentences."""
        prepare = preparation(inputs.language).for_language_model
        return (Need("language_model", partial(prepare, inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: PplOptions) -> dict[str, object]:
        """Normalisation, and how texts are prepared."""
        return {"norm": options.norm, "text": preparation(inputs.language).language_model_name}

    def measure(
        self, metric: str, inputs: Inputs, options: PplOptions, context: Context
    ) -> Statistics:
        """Corpus perplexity."""
        from ..functional.ppl import ppl_statistics

        model = context.scorer("language_model")
        (need,) = self.needs(metric, inputs, options)
        return ppl_statistics(
            model.log10_probability(need.texts), model.words(need.texts), options.norm
        )


FAMILY = Ppl()
