"""CoLA: the share of predictions that a classifier considers acceptable English.

Source: Krishna, Wieting and Iyyer (2020), section 2.3; TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from tstbench.metrics.base import Context, Family, MetricFacts, Need, O, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import Signature
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import Reading, TextProtocol, preparation

if TYPE_CHECKING:
    import numpy as np


class AcceptabilityFamily(Family[O]):
    """English predictions go to the acceptability classifier; here cleaned, case kept."""

    def needs(self, metric: str, inputs: Inputs, options: O) -> tuple[Need, ...]:
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
    description = """
CoLA is the percentage of predictions that a classifier trained on the Corpus of Linguistic
Acceptability finds acceptable.
"""
    example = """
>>> cola = evaluate.load("tstbench/cola")
>>> results = cola.compute(
...     predictions=["the soup was lovely.", "soup the lovely was lovely and."]
... )
>>> results["cola"]
50.0
"""
    citation = """\
@article{warstadt2019neural,
  title = {Neural Network Acceptability Judgments},
  author = {Warstadt, Alex and Singh, Amanpreet and Bowman, Samuel R.},
  journal = {Transactions of the ACL},
  year = {2019}
}
@inproceedings{krishna2020reformulating,
  title = {Reformulating Unsupervised Style Transfer as Paraphrase Generation},
  author = {Krishna, Kalpesh and Wieting, John and Iyyer, Mohit},
  booktitle = {Proceedings of EMNLP},
  year = {2020}
}
"""
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
        from tstbench.metrics.statistics import share_statistics

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

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("cola")
