"""Joint: style, content and fluency in one number. Source: TSTBench paper, section 3.3.1.

Joint = (ACC x BLEU x 1/ln PPL)^(1/3) with ACC and BLEU as fractions. Source: TSTBench paper,
section 3.3.1 (equal weights; multi-BLEU if there are several references, otherwise r-BLEU).

``joint_sentence`` reads single sentences instead: what people call a success has all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tstbench.errors import InputError
from tstbench.metrics.base import Context, Family, Measurement, MetricFacts, Options
from tstbench.metrics.inputs import Inputs
from tstbench.metrics.signature import Signature
from tstbench.metrics.statistics import Statistics, concatenate, mean_statistics

if TYPE_CHECKING:
    from tstbench.metrics.joint.calibration import Calibration


@dataclass(frozen=True)
class JointWeights:
    """Exponents of the weighted geometric mean, before normalisation by their sum."""

    acc: float = 1.0
    bleu: float = 1.0
    ppl: float = 1.0

    def __post_init__(self) -> None:
        values = (self.acc, self.bleu, self.ppl)
        if any(not np.isfinite(w) or w < 0 for w in values) or sum(values) == 0:
            raise InputError(f"weights must be finite, not negative, and not all 0; got {values}")

    def __str__(self) -> str:
        return ",".join(f"{w:g}" for w in (self.acc, self.bleu, self.ppl))


EQUAL = JointWeights()


def joint_score(
    acc: np.ndarray | float,
    bleu: np.ndarray | float,
    ppl: np.ndarray | float,
    weights: JointWeights = EQUAL,
) -> np.ndarray:
    """The weighted geometric mean of ACC, BLEU and 1/ln PPL, a fraction 0 to 1.

    Args:
        acc: percent, 0 to 100, of any shape.
        bleu: percent, 0 to 100, of the same shape.
        ppl: perplexity.
        weights: relative weights; the paper's are equal.

    Returns:
        0 if ACC or BLEU is 0 (and its weight is not). Fluency is 1 if PPL <= e: below that
        1/ln PPL would exceed 1 and diverge, rewarding degenerate repetition of one frequent
        word over everything else. It is 0 if PPL is infinite. NaN if an input is NaN.

    >>> round(float(joint_score(50.0, 26.2, 60.0)), 4)  # (.5 * .262 / ln 60) ** (1/3)
    0.3175
    """
    fluency = 1 / np.log(np.maximum(ppl, np.e))
    parts = np.array(np.broadcast_arrays(np.asarray(acc) / 100, np.asarray(bleu) / 100, fluency))
    exponents = np.array([weights.acc, weights.bleu, weights.ppl])
    exponents = exponents / exponents.sum()
    score = np.prod([p**e for p, e in zip(parts, exponents, strict=True)], axis=0)
    return np.where(np.isnan(parts).any(axis=0), np.nan, score)  # NaN ** 0 is 1


def joint_statistics(
    acc: Statistics, bleu: Statistics, ppl: Statistics, weights: JointWeights = EQUAL
) -> Statistics:
    """Corpus Joint from the statistics of its three parts, so that its interval is exact too.

    There is no per-sentence Joint: BLEU and PPL of one sentence are on a different scale than the
    corpus values, and the cube root of their product has not been validated.
    """
    parts = (acc, bleu, ppl)
    rows, columns = concatenate(parts)

    def aggregate(sums: np.ndarray) -> np.ndarray:
        values = [part.aggregate(sums[..., c]) for part, c in zip(parts, columns, strict=True)]
        return joint_score(values[0], values[1], values[2], weights)

    return Statistics(rows, aggregate, None)


def sentence_statistics(parts: Sequence[np.ndarray], mean: str = "geometric") -> Statistics:
    """The mean over sentences of one mean of each sentence's parts.

    Args:
        parts: of N sentences, fractions: shape (N,) each. Below 0 counts as 0.
        mean: ``geometric``, ``harmonic``, ``arithmetic`` or ``minimum``. All but the arithmetic give
            0 to a sentence that lacks one part wholly, and the minimum reads no other.

    >>> parts = [np.array([0.9, 0.1]), np.array([0.4, 1.0]), np.array([0.6, 0.9])]
    >>> sentence_statistics(parts).per_sentence.round(2).tolist()
    [0.6, 0.45]
    """
    values = np.maximum(parts, 0)
    found: np.ndarray
    if mean == "arithmetic":
        found = values.mean(axis=0)
    elif mean == "minimum":
        found = values.min(axis=0)
    else:
        with np.errstate(divide="ignore"):  # of 0, ln and 1/x are infinite, and both means are 0
            inner = np.log(values) if mean == "geometric" else 1 / values
        found = np.exp(inner.mean(axis=0)) if mean == "geometric" else 1 / inner.mean(axis=0)
    return mean_statistics(found)


Mean = Literal["geometric", "harmonic", "arithmetic", "minimum"]
_SENTENCE = ("target_style", "s_meaning", "fluency")


@dataclass(frozen=True, kw_only=True)
class JointOptions(Options):
    """Options of ``joint``; the options of its parts belong to their own families.

    Attributes:
        weights: of ``joint``: relative weights of ACC, BLEU and fluency.
        calibration: of ``joint_calibrated``: the name of a calibration, or the file of one that
            ``tstbench calibrate`` wrote.
        mean: of ``joint_sentence``: ``geometric``, ``harmonic``, ``arithmetic`` or ``minimum``.
    """

    weights: tuple[float, ...] = (1.0, 1.0, 1.0)
    calibration: str = "calibrated-v1"
    mean: Mean = "geometric"

    def __post_init__(self) -> None:
        _ = self.calibrated, self.joint_weights  # mistakes are told before anything is scored

    @property
    def calibrated(self) -> Calibration:
        """The calibration, checked."""
        from tstbench.metrics.joint.calibration import load_calibration

        return load_calibration(self.calibration)

    @property
    def joint_weights(self) -> JointWeights:
        """The weights, checked."""
        if len(self.weights) != 3:
            raise InputError(f"three weights are needed (ACC, BLEU, PPL), got {self.weights!r}")
        return JointWeights(*self.weights)


class Joint(Family[JointOptions]):
    """The geometric mean of ACC, BLEU and 1/ln PPL, or a calibrated mean of ratings."""

    name = "joint"
    title = "Joint"
    options = JointOptions
    description = """
Joint = (ACC x BLEU x 1/ln PPL)^(1/3), with ACC and BLEU as fractions, multi-BLEU if a sentence
has several references and r-BLEU otherwise. It is 0 if ACC or BLEU is 0; fluency counts as 1 if
PPL is e or less.
"""
    example = """
>>> joint = evaluate.load("tstbench/joint")
>>> results = joint.compute(
...     predictions=["the soup was hot and lovely."],
...     sources=["the soup was cold and awful."],
...     references=[["the soup was hot and great.", "the soup was hot and good."]],
...     direction="mini/negative-to-positive",
... )
>>> import math
>>> fluency = 1 / math.log(results["ppl"])
>>> by_hand = (results["acc"] / 100 * results["multi_bleu"] / 100 * fluency) ** (1 / 3)
>>> math.isclose(results["joint"], by_hand, abs_tol=1e-6)
True
"""
    borrowed = {"protocol": "bleu", "norm": "ppl"}
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

    def module_metrics(self, options: Mapping[str, object]) -> tuple[str, ...]:
        """The paper's Joint and its parts; or the one that an option is of."""
        if options.get("mean"):
            return ("joint_sentence", *_SENTENCE)
        if options.get("calibration"):
            return ("joint_calibrated",)
        return ("joint", "acc", "r_bleu", "multi_bleu", "ppl")

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
        from tstbench.metrics.joint.calibration import WEIGHTS, calibrations

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
        from tstbench.metrics.joint.calibration import calibrated_statistics

        parts = [context.outcome(name) for name in self.parts(metric, inputs, options)]
        measured = [part for part in parts if isinstance(part, Measurement)]
        if metric == "joint":
            acc, bleu, ppl = (part.statistics for part in measured)
            return joint_statistics(acc, bleu, ppl, options.joint_weights)
        values = {one.metric: _of_sentences(one) for one in measured}
        if metric == "joint_sentence":
            return sentence_statistics([values[name] for name in _SENTENCE], options.mean)
        return calibrated_statistics(options.calibrated.parts, values, inputs.failed)

    def caution(self, signature: Signature) -> str | None:
        """What a calibration was fitted with, if other scorers gave these numbers."""
        from tstbench.metrics.joint.calibration import (
            WEIGHTS,
            calibrations,
            load_calibration,
            signed_scorers,
        )

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

if __name__.startswith("evaluate_modules"):  # a copy, which evaluate.load runs
    from tstbench.metrics.module import module_of

    Module = module_of("joint")
