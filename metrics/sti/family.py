"""Style transfer intensity, and the target style score it is compared with.

Source: Mir, Felbo, Obradovich and Rahwan (2019), sections 5.1 and 5.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ...errors import InputError
from ..contract import Context, Family, Need, Options
from ..facts import MetricFacts
from ..signature import exact
from ..text import preparation
from .ground import read_ground

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class StiOptions(Options):
    """Options of ``sti``.

    Attributes:
        ground: distance between styles: ``uniform``, ``ordinal``, or a JSON file; see
            :func:`~.ground.read_ground`. ``target_style`` does not use it.
        temperature: log-probabilities are divided by it first; 1 is the paper's.
    """

    ground: str = "uniform"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        read_ground(self.ground)
        if not (math.isfinite(self.temperature) and self.temperature > 0):
            raise InputError(f"sti.temperature is {self.temperature:g}: it must be above 0")


class Sti(Family[StiOptions]):
    """Style transfer intensity and target style score."""

    name = "sti"
    title = "style transfer intensity"
    options = StiOptions
    libraries = ("scipy",)
    metrics = (
        MetricFacts(
            name="sti",
            title="STI",
            unit="number",
            higher_is_better=True,
            aspect="style",
            meaning="how far the style moves towards the target",
            reads=("sources", "direction"),
        ),
        MetricFacts(
            name="target_style",
            title="P(target)",
            unit="fraction",
            higher_is_better=True,
            aspect="style",
            meaning="mean probability of the target style",
            reads=("direction",),
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: StiOptions) -> tuple[Need, ...]:
        """Predictions, and for ``sti`` sources, prepared like the classifiers' training sentences."""
        prepare = preparation(inputs.language).for_classifier
        texts = [*inputs.predictions, *(inputs.sources or () if metric == "sti" else ())]
        return (Need("classifier", partial(prepare, texts)),)

    def fields(self, metric: str, inputs: Inputs, options: StiOptions) -> dict[str, object]:
        """Ground distance, temperature, how texts are prepared, and how empty predictions count."""
        return {
            "ground": read_ground(options.ground).name if metric == "sti" else None,
            "temperature": exact(options.temperature),
            "text": preparation(inputs.language).classifier_name,
            "empty": "0-or-less" if metric == "sti" else "0",
        }

    def measure(
        self, metric: str, inputs: Inputs, options: StiOptions, context: Context
    ) -> Statistics:
        """The mean of the sentences' values."""
        from ..functional.sti import style_transfer_intensity, target_probability, tempered

        assert inputs.direction is not None  # noqa: S101 - ``reads`` has checked it
        classifier = context.scorer("classifier")
        wanted = classifier.styles.index(inputs.direction.target_style)
        (need,) = self.needs(metric, inputs, options)
        both = tempered(classifier.distribution(need.texts), options.temperature)
        n = len(inputs.predictions)
        if metric == "target_style":
            return target_probability(both, wanted, inputs.failed)
        distances = read_ground(options.ground).matrix(classifier.styles)
        return style_transfer_intensity(both[n:], both[:n], wanted, distances, inputs.failed)


FAMILY = Sti()
