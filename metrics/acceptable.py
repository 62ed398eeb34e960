"""What the metrics share that ask an acceptability classifier: CoLA counts, fluency grades."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .contract import Context, Family, Need, O
from .text import preparation

if TYPE_CHECKING:
    import numpy as np

    from .inputs import Inputs


class AcceptabilityFamily(Family[O]):
    """English predictions go to the acceptability classifier; here cleaned, case kept."""

    def needs(self, metric: str, inputs: Inputs, options: O) -> tuple[Need, ...]:  # noqa: ARG002
        """Predictions, cleaned, case kept."""
        prepare = preparation(inputs.language).clean
        return (Need("acceptability", partial(prepare, inputs.predictions)),)

    def judged(
        self, metric: str, inputs: Inputs, options: O, context: Context
    ) -> tuple[np.ndarray, int]:
        """P(label | prediction), shape (N, 2), and the column of ``acceptable``."""
        classifier = context.scorer("acceptability")
        need, *_ = self.needs(metric, inputs, options)
        return classifier.distribution(need.texts), classifier.styles.index("acceptable")
