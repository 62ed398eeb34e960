"""PPL: perplexity under an n-gram language model of the target style.

Source: TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import Reading, TextProtocol, preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


Normalisation = Literal["words", "words+1"]
# The model that has learned sentences as the protocol reads them.
_ROLES: dict[TextProtocol, str] = {"paper": "language_model", "cleaned": "cleaned_language_model"}


@dataclass(frozen=True, kw_only=True)
class PplOptions(Options):
    """Options of ``ppl``.

    Attributes:
        protocol: how texts are read: ``paper`` (lower case, NLTK's words; the model learns the
            training lines as upstream wrote them; the default for English) or ``cleaned`` (the
            dataset's cleaning, lower case, sacreBLEU's words, on both sides).
        norm: ``words`` (the paper's: the end of a sentence is scored but not counted) or ``words+1``
            (like kenlm's own perplexity).
    """

    protocol: TextProtocol | None = None
    norm: Normalisation = "words"

    def __post_init__(self) -> None:
        if self.norm not in get_args(Normalisation):
            raise unknown_name("normalisation of ppl", self.norm, get_args(Normalisation))


class Ppl(Family[PplOptions]):
    """Perplexity."""

    name = "ppl"
    title = "perplexity"
    options = PplOptions
    libraries = ("kenlm", "nltk", "sacrebleu")  # the tokenisers of the two protocols
    metrics = (
        MetricFacts(
            name="ppl",
            title="PPL",
            unit="perplexity",
            higher_is_better=False,
            aspect="fluency",
            meaning="perplexity under a target-style 5-gram model",
            version=2,
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: PplOptions) -> tuple[Need, ...]:
        """Predictions as words."""
        reading = _reading(inputs, options)
        return (Need(_ROLES[reading.protocol], lambda: reading.prepare(inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: PplOptions) -> dict[str, object]:
        """Normalisation, and how texts are prepared."""
        return {"norm": options.norm, **_reading(inputs, options).fields}

    def measure(
        self, metric: str, inputs: Inputs, options: PplOptions, context: Context
    ) -> Statistics:
        """Corpus perplexity."""
        from ..functional.ppl import ppl_statistics

        (need,) = self.needs(metric, inputs, options)
        model = context.scorer(need.role)
        return ppl_statistics(
            model.log10_probability(need.texts), model.words(need.texts), options.norm
        )


def _reading(inputs: Inputs, options: PplOptions) -> Reading:
    return preparation(inputs.language).reading("ppl", options.protocol)


FAMILY = Ppl()
