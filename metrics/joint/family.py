"""Joint: style, content and fluency in one number. Source: TSTBench paper, section 3.3.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ...errors import InputError, unknown_name
from ..contract import Context, Family, Options
from ..facts import MetricFacts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from ..functional.joint import JointWeights
    from ..inputs import Inputs
    from ..result import Measurement
    from ..signature import Signature
    from ..statistics import Statistics
    from .calibration import Calibration


Mean = Literal["geometric", "harmonic", "arithmetic", "minimum"]
_SENTENCE = ("target_style", "s_meaning", "fluency")


@dataclass(frozen=True, kw_only=True)
class JointOptions(Options):
    """Options of ``joint``; the options of its parts belong to their own families.

    Attributes:
        weights: of ``joint``: relative weights of ACC, BLEU and fluency.
        calibration: of ``joint_calibrated``: the name of a calibration, or the file of one.
        mean: of ``joint_sentence``: ``geometric``, ``harmonic``, ``arithmetic`` or ``minimum``.
    """

    weights: tuple[float, ...] = (1.0, 1.0, 1.0)
    calibration: str = "calibrated-v1"
    mean: Mean = "geometric"

    def __post_init__(self) -> None:
        if self.mean not in get_args(Mean):
            raise unknown_name("mean of joint", self.mean, get_args(Mean))
        _ = self.calibrated, self.joint_weights  # mistakes are told before anything is scored

    @property
    def calibrated(self) -> Calibration:
        """The calibration, checked."""
        from .calibration import load_calibration

        return load_calibration(self.calibration)

    @property
    def joint_weights(self) -> JointWeights:
        """The weights, checked."""
        from ..functional.joint import JointWeights

        if len(self.weights) != 3:
            raise InputError(f"three weights are needed (ACC, BLEU, PPL), got {self.weights!r}")
        return JointWeights(*self.weights)


class Joint(Family[JointOptions]):
    """The geometric mean of ACC, BLEU and 1/ln PPL, or a calibrated mean of ratings."""

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
            version=2,
            reads=("direction", "references"),
        ),
        MetricFacts(
            name="joint_calibrated",
            title="Calibrated Joint",
            unit="fraction",
            higher_is_better=True,
            aspect="overall",
            meaning="mean of the ratings that people would give to style, content and fluency",
            reads=("sources", "direction"),
        ),
        MetricFacts(
            name="joint_sentence",
            title="Sentence Joint",
            unit="fraction",
            higher_is_better=True,
            aspect="overall",
            meaning="of each sentence, the geometric mean of style, content and fluency",
            reads=("sources", "direction"),
        ),
    )

    def left_out(self, metric: str, inputs: Inputs, options: JointOptions) -> str | None:
        """A reason if there is no reference; only the paper's Joint needs one."""
        if metric != "joint":
            return None
        return "no sentence has a reference" if inputs.most_references == 0 else None

    def parts(self, metric: str, inputs: Inputs, options: JointOptions) -> tuple[str, ...]:
        """ACC, BLEU (multi-BLEU if a sentence has several references) and PPL; of a calibration, its own."""
        if metric == "joint":
            return ("acc", _bleu(inputs), "ppl")
        if metric == "joint_sentence":
            return _SENTENCE
        return tuple(dict.fromkeys(part.metric for part in options.calibrated.parts))

    def fields(self, metric: str, inputs: Inputs, options: JointOptions) -> dict[str, object]:
        """Which BLEU, and the weights; of a file, what it was fitted with, for :meth:`caution`."""
        from .calibration import WEIGHTS, calibrations

        if metric == "joint":
            return {"bleu": _bleu(inputs), WEIGHTS: str(options.joint_weights)}
        if metric == "joint_sentence":
            return {"mean": options.mean, "parts": "+".join(_SENTENCE)}
        how = options.calibrated
        if options.calibration in calibrations():
            return {WEIGHTS: how.signed}
        return {WEIGHTS: how.signed, _FITTED: _listed(how.scorers)}

    def measure(
        self, metric: str, inputs: Inputs, options: JointOptions, context: Context
    ) -> Statistics:
        """Joint, from the statistics of its parts."""
        from ..functional.calibrated import calibrated_statistics
        from ..functional.joint import joint_statistics, sentence_statistics
        from ..result import Measurement

        parts = [context.outcome(name) for name in self.parts(metric, inputs, options)]
        measured = [part for part in parts if isinstance(part, Measurement)]
        if metric == "joint":
            acc, bleu, ppl = (part.statistics for part in measured)
            return joint_statistics(acc, bleu, ppl, options.joint_weights)
        values = {one.metric: _of_sentences(one) for one in measured}
        if metric == "joint_sentence":
            return sentence_statistics([values[name] for name in _SENTENCE], options.mean)
        parts_of = [one.part for one in options.calibrated.parts]
        return calibrated_statistics(parts_of, values, inputs.failed)

    def caution(self, signature: Signature) -> str | None:
        """What a calibration was fitted with, if other scorers gave these numbers."""
        from .calibration import WEIGHTS, calibrations, load_calibration, signed_scorers

        said = signature.as_dict()
        weights = said.get(WEIGHTS, "")
        name, _, digest = weights.partition("#")
        if not digest:
            return None
        if (listed := said.get(_FITTED)) is not None:
            fitted = set(listed.split(_BETWEEN))
        elif name in calibrations() and (known := load_calibration(name)).signed == weights:
            fitted = set(known.scorers)
        else:
            return None  # nobody said what it was fitted with
        if not fitted or not (others := signed_scorers(signature) - fitted):
            return None
        return (
            f"Joint {name} was fitted on scores of {', '.join(sorted(fitted))}, not of "
            f"{', '.join(sorted(others))}: compare systems with it, but do not read its values as "
            "people's ratings"
        )


_FITTED = "fitted"  # the field of signatures that lists a file's scorers
_BETWEEN = "+"


def _listed(scorers: Sequence[str]) -> str | None:
    """Scorers as one value of a signature, which has no spaces and no '|'."""
    kept = [name for name in scorers if not any(c.isspace() or c in "|+" for c in name)]
    return _BETWEEN.join(kept) if kept and len(kept) == len(scorers) else None


def _of_sentences(part: Measurement) -> np.ndarray:
    """A part's values for single sentences.

    Raises:
        InputError: it has none.
    """
    values = part.statistics.per_sentence
    if values is None:
        raise InputError(
            f"{part.metric} has no values for single sentences: no Joint of sentences can have it"
        )
    return values


def _bleu(inputs: Inputs) -> str:
    return "multi_bleu" if inputs.most_references > 1 else "r_bleu"


FAMILY = Joint()
