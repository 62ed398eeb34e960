"""ACC: the share of predictions that a classifier assigns to the target style.

Source: TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..text import preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


class Acc(Family[Options]):
    """Style accuracy."""

    name = "acc"
    title = "style accuracy"
    metrics = (
        MetricFacts(
            name="acc",
            title="ACC",
            unit="percent",
            higher_is_better=True,
            aspect="style",
            meaning="share classified as target style",
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: Options) -> tuple[Need, ...]:
        """Predictions, prepared like the classifiers' training sentences."""
        prepare = preparation(inputs.language).for_classifier
        return (Need("classifier", partial(prepare, inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: Options) -> dict[str, object]:
        """How texts are prepared, and how empty predictions count."""
        return {"text": preparation(inputs.language).classifier_name, "empty": "miss"}

    def measure(
        self, metric: str, inputs: Inputs, options: Options, context: Context
    ) -> Statistics:
        """The share classified as target style, in percent."""
        from ..functional.share import share_statistics

        assert inputs.direction is not None  # noqa: S101 - ``reads`` has checked it
        classifier = context.scorer("classifier")
        wanted = classifier.styles.index(inputs.direction.target_style)
        (need,) = self.needs(metric, inputs, options)
        return share_statistics(classifier.distribution(need.texts), wanted, inputs.failed)


FAMILY = Acc()
