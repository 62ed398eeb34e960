"""ACC: the share of predictions that a classifier assigns to the target style.

Source: TSTBench paper, section 3.3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from tstbench.metrics.base import Context, Family, MetricFacts, Need, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.statistics import Statistics
from tstbench.metrics.text import Reading, TextProtocol, preparation

# The model that has learned sentences as the protocol reads them.
_ROLES: dict[TextProtocol, str] = {"paper": "paper_classifier", "cleaned": "classifier"}


@dataclass(frozen=True, kw_only=True)
class AccOptions(Options):
    """Options of ``acc``.

    Attributes:
        protocol: how texts are read, in training too: ``cleaned`` (the dataset's cleaning, lower
            case; the default) or ``paper`` (lower case, white space folded; the paper profile's).
    """

    protocol: TextProtocol = "cleaned"


class Acc(Family[AccOptions]):
    """Style accuracy."""

    name = "acc"
    title = "style accuracy"
    options = AccOptions
    description = """
ACC is the percentage of predictions that a style classifier assigns to the target style. Read it
beside a content metric: a system that always answers with the same cheerful sentence scores 100.
"""
    example = """
>>> acc = evaluate.load("tstbench/acc")
>>> results = acc.compute(predictions=["the soup was lovely."], direction="mini/negative-to-positive")
>>> results["acc"]
100.0
"""
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

    def needs(self, metric: str, inputs: Inputs, options: AccOptions) -> tuple[Need, ...]:
        """Predictions, prepared like the classifier's training sentences."""
        prepare = _reading(inputs, options).prepare
        return (Need(_ROLES[options.protocol], lambda: prepare(inputs.predictions)),)

    def fields(self, metric: str, inputs: Inputs, options: AccOptions) -> dict[str, object]:
        """How texts are prepared, and how empty predictions count."""
        return {"text": _reading(inputs, options).text, "empty": "miss"}

    def measure(
        self, metric: str, inputs: Inputs, options: AccOptions, context: Context
    ) -> Statistics:
        """The share classified as target style, in percent."""
        from tstbench.metrics.statistics import share_statistics

        assert inputs.direction is not None  # noqa: S101 - ``reads`` has checked it
        (need,) = self.needs(metric, inputs, options)
        classifier = context.scorer(need.role)
        wanted = classifier.styles.index(inputs.direction.target_style)
        return share_statistics(classifier.distribution(need.texts), wanted, inputs.failed)


def _reading(inputs: Inputs, options: AccOptions) -> Reading:
    return preparation(inputs.language).reading("acc", options.protocol)


FAMILY = Acc()

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("acc")
