"""Joint: style, content and fluency in one number. Source: TSTBench paper, section 3.3.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import InputError
from ..contract import Context, Family, Options
from ..facts import MetricFacts

if TYPE_CHECKING:
    from ..functional.joint import JointWeights
    from ..inputs import Inputs
    from ..statistics import Statistics


@dataclass(frozen=True, kw_only=True)
class JointOptions(Options):
    """Options of ``joint``; the options of its parts belong to their own families.

    Attributes:
        weights: relative weights of ACC, BLEU and fluency.
    """

    weights: tuple[float, ...] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        if len(self.weights) != 3:
            raise InputError(f"three weights are needed (ACC, BLEU, PPL), got {self.weights!r}")
        _ = self.joint_weights  # mistakes are reported before anything is scored

    @property
    def joint_weights(self) -> JointWeights:
        """The weights, checked."""
        from ..functional.joint import JointWeights

        return JointWeights(*self.weights)


class Joint(Family[JointOptions]):
    """The geometric mean of ACC, BLEU and 1/ln PPL."""

    name = "joint"
    title = "Joint"
    options = JointOptions
    metrics = (
        MetricFacts(
            name="joint",
            title="Joint",
            unit="fraction",
            higher_is_better=True,
            aspect="overall",
            meaning="geometric mean of ACC, BLEU and 1/ln PPL",
            reads=("direction", "references"),
        ),
    )

    def left_out(self, metric: str, inputs: Inputs, options: JointOptions) -> str | None:
        """A reason if there is no reference."""
        return "no sentence has a reference" if inputs.most_references == 0 else None

    def parts(self, metric: str, inputs: Inputs, options: JointOptions) -> tuple[str, ...]:
        """Multi-BLEU if a sentence has several references, otherwise r-BLEU."""
        return ("acc", _bleu(inputs), "ppl")

    def fields(self, metric: str, inputs: Inputs, options: JointOptions) -> dict[str, object]:
        """Which BLEU, and the weights."""
        return {"bleu": _bleu(inputs), "weights": str(options.joint_weights)}

    def measure(
        self, metric: str, inputs: Inputs, options: JointOptions, context: Context
    ) -> Statistics:
        """Joint, from the statistics of its parts."""
        from ..functional.joint import joint_statistics
        from ..result import Measurement

        parts = [context.outcome(name) for name in self.parts(metric, inputs, options)]
        acc, bleu, ppl = (part.statistics for part in parts if isinstance(part, Measurement))
        return joint_statistics(acc, bleu, ppl, options.joint_weights)


def _bleu(inputs: Inputs) -> str:
    return "multi_bleu" if inputs.most_references > 1 else "r_bleu"


FAMILY = Joint()
