"""Fluency: how probable the acceptability classifier finds a sentence; no reference.

Graded per sentence, where CoLA's share keeps only a yes or no of the same classifier. The embedded
one has read sentences and broken copies of them, then CoLA, never a judgment of a rewrite.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..signature import Signature
    from ..statistics import Statistics


class Fluency(Family[Options]):
    """Graded fluency, without references."""

    name = "fluency"
    title = "fluency"
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

    def left_out(self, metric: str, inputs: Inputs, options: Options) -> str | None:
        """A reason if the texts are not English, as the corpora are."""
        if preparation(inputs.language).is_english:
            return None
        return f"the fluency classifiers judge English, but the texts are {inputs.language!r}"

    def needs(self, metric: str, inputs: Inputs, options: Options) -> tuple[Need, ...]:
        """Predictions, cleaned, case kept."""
        prepare = preparation(inputs.language).clean
        return (Need("acceptability", partial(prepare, inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: Options) -> dict[str, object]:
        """How texts are prepared, and how empty predictions count."""
        return {"text": preparation(inputs.language).clean_name, "empty": "zero"}

    def measure(
        self, metric: str, inputs: Inputs, options: Options, context: Context
    ) -> Statistics:
        """Mean P(acceptable), as a fraction; 0 for an empty prediction."""
        from ..functional.graded import graded_statistics

        classifier = context.scorer("acceptability")
        wanted = classifier.styles.index("acceptable")
        (need,) = self.needs(metric, inputs, options)
        return graded_statistics(classifier.distribution(need.texts), wanted, inputs.failed)

    def caution(self, signature: Signature) -> str | None:
        """The small classifier of ``mini`` stands for nothing beyond it."""
        classifier = signature.as_dict().get("classifier", "").split("#")[0]
        if classifier.partition(":")[2] != "mini":
            return None
        return (
            "fluency is scored here with a small classifier trained on mini's sentences and "
            "corruptions of them: for demonstration only"
        )


FAMILY = Fluency()
