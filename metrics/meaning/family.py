"""s-Meaning, r-Meaning and multi-Meaning: how much of the content is kept, whatever the style."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from ...errors import unknown_name
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation
from ..views import Reduce, compared_with, reference_count, view_facts, view_left_out

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics

Combine = Literal["mean", "kept", "cosine"]


@dataclass(frozen=True, kw_only=True)
class MeaningOptions(Options):
    """Options of ``meaning``; ``--scorer meaning=FOLDER`` sets another scorer.

    Attributes:
        combine: ``mean`` of P(meaning is kept) and sentence cosine, or one: ``kept``, ``cosine``.
        reduce: how several references are combined.
    """

    combine: Combine = "mean"
    reduce: Reduce = "max"

    def __post_init__(self) -> None:
        for field, value, known in (
            ("combine", self.combine, get_args(Combine)),
            ("reduce", self.reduce, get_args(Reduce)),
        ):
            if value not in known:
                raise unknown_name(f"{field} of meaning", value, known)


class Meaning(Family[MeaningOptions]):
    """Content kept, by a comparison learned from made pairs."""

    name = "meaning"
    title = "meaning kept"
    options = MeaningOptions
    libraries = ("torch", "transformers", "tokenizers")
    metrics: ClassVar[tuple[MetricFacts, ...]] = view_facts(
        "meaning", "Meaning", "meaning kept", "fraction"
    )

    def left_out(self, metric: str, inputs: Inputs, options: MeaningOptions) -> str | None:
        """A reason if there are no references, or not several."""
        return view_left_out(metric, inputs)

    def needs(self, metric: str, inputs: Inputs, options: MeaningOptions) -> tuple[Need, ...]:
        """Predictions and the texts they are compared with: cleaned, case kept."""

        def prepare() -> list[str]:
            against = (text for some in compared_with(metric, inputs) for text in some)
            return preparation(inputs.language).clean([*inputs.predictions, *against])

        return (Need("meaning", prepare),)

    def fields(self, metric: str, inputs: Inputs, options: MeaningOptions) -> dict[str, object]:
        """How parts and references are combined, how texts are prepared and empty ones count."""
        return {
            "combine": options.combine,
            "reduce": options.reduce,
            "text": preparation(inputs.language).clean_name,
            "refs": reference_count(metric, inputs),
            "empty": "zero",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: MeaningOptions, context: Context
    ) -> Statistics:
        """The mean over sentences."""
        from ..functional.meaning import meaning_kept
        from ..statistics import mean_statistics

        clean = preparation(inputs.language).clean
        against = [clean(some) for some in compared_with(metric, inputs)]
        scores = meaning_kept(
            clean(inputs.predictions),
            against,
            context.scorer("meaning"),
            combine=options.combine,
            reduce=options.reduce,
        )
        return mean_statistics(scores)


FAMILY = Meaning()
