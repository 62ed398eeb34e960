"""CoLA: the share of predictions that a classifier considers acceptable English.

Source: Krishna, Wieting and Iyyer (2020), section 2.3; TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ..acceptable import AcceptabilityFamily
from ..contract import Context, Need, Options
from ..facts import MetricFacts
from ..text import Reading, TextProtocol, preparation

if TYPE_CHECKING:
    from ..inputs import Inputs
    from ..signature import Signature
    from ..statistics import Statistics


# The embedded profile's classifier, and its Matthews correlation on CoLA's in-domain development set.
WEAK = {"lora:cola": "0.33"}


@dataclass(frozen=True, kw_only=True)
class ColaOptions(Options):
    """Options of ``cola``.

    Attributes:
        protocol: how predictions are read: ``paper`` (lower case, white space folded; the default)
            or ``cleaned`` (the dataset's cleaning, case kept).
    """

    protocol: TextProtocol | None = None


class Cola(AcceptabilityFamily[ColaOptions]):
    """Linguistic acceptability."""

    name = "cola"
    title = "linguistic acceptability"
    options = ColaOptions
    metrics = (
        MetricFacts(
            name="cola",
            title="CoLA",
            unit="percent",
            higher_is_better=True,
            aspect="fluency",
            meaning="share classified as acceptable",
            version=2,
        ),
    )

    def needs(self, metric: str, inputs: Inputs, options: ColaOptions) -> tuple[Need, ...]:
        """Predictions."""
        reading = _reading(inputs, options)
        return (Need("acceptability", lambda: reading.prepare(inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: ColaOptions) -> dict[str, object]:
        """How texts are prepared, and how empty predictions count."""
        return {**_reading(inputs, options).fields, "empty": "miss"}

    def measure(
        self, metric: str, inputs: Inputs, options: ColaOptions, context: Context
    ) -> Statistics:
        """The share classified as acceptable, in percent."""
        from ..functional.share import share_statistics

        judged, wanted = self.judged(metric, inputs, options, context)
        return share_statistics(judged, wanted, inputs.failed)

    def caution(self, signature: Signature) -> str | None:
        """The embedded profile's classifier is too weak to stand for CoLA."""
        classifier = signature.as_dict().get("classifier", "").split("#")[0]
        if classifier not in WEAK:
            return None
        return (
            f"CoLA is scored here with a weak classifier (MCC {WEAK[classifier]} on CoLA's own development "
            "set): only large differences mean something; the paper profile uses the published one"
        )


def _reading(inputs: Inputs, options: Options) -> Reading:
    return preparation(inputs.language).reading("cola", cast("ColaOptions", options).protocol)


FAMILY = Cola()
