"""Fluency: how probable the acceptability classifier finds a sentence; no reference.

Graded per sentence, where CoLA's share keeps only a yes or no of the same classifier. The embedded
one has read sentences and broken copies of them, then CoLA, never a judgment of a rewrite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..acceptable import AcceptabilityFamily
from ..contract import Context, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


class Fluency(AcceptabilityFamily):
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

    def fields(self, metric: str, inputs: Inputs, options: Options) -> dict[str, object]:
        """How texts are prepared, and how empty predictions count."""
        return {"text": preparation(inputs.language).clean_name, "empty": "zero"}

    def measure(
        self, metric: str, inputs: Inputs, options: Options, context: Context
    ) -> Statistics:
        """Mean P(acceptable), as a fraction; 0 for an empty prediction."""
        from ..functional.graded import graded_statistics

        judged, wanted = self.judged(metric, inputs, options, context)
        return graded_statistics(judged, wanted, inputs.failed)


FAMILY = Fluency()
