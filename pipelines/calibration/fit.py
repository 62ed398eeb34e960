"""A calibration from judgments: measure, choose parts, fit curves and weights, look elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ...metrics.functional.calibrated import CalibratedPart
from ...metrics.registry import metric_facts
from ..meta.coefficients import coefficient
from .curves import explained, fit_curve
from .samples import ASPECTS, Sample, SystemMeans
from .weights import fit_weights


@dataclass(frozen=True, kw_only=True)
class Data:
    """What can be fitted, all of it or what is left without some of it.

    Attributes:
        samples: aspect -> metric -> outputs with both; only what curves are fitted on.
        systems: for the weights; empty if nobody gave an overall score.
        kept: shares of style, content and fluency where ``systems`` is empty, shape (3,).
    """

    samples: Mapping[str, Mapping[str, Sample]]
    systems: SystemMeans
    kept: np.ndarray

    def without(self, *, study: str | None = None, direction: str | None = None) -> Data:
        """Without a study, and without a direction.

        With a direction its dataset leaves the weights too, whoever rated it: the weights of a
        direction's judge must not come from other directions of the same texts.
        """

        def left(some: Sample) -> Sample:
            return some.only((some.study != study) & (some.direction != direction))

        systems = self.systems
        if direction is not None:
            systems = systems.only(systems.dataset != direction.split("/")[0])
        return replace(
            self,
            samples={a: {m: left(s) for m, s in of.items()} for a, of in self.samples.items()},
            systems=systems.only(systems.study != study),
        )

    @property
    def shares(self) -> np.ndarray:
        """Shares of style, content and fluency: shape (3,)."""
        return fit_weights(self.systems) if len(self.systems.overall) else self.kept


def sign_of(metric: str) -> int:
    """1 if higher is better, else -1."""
    return 1 if metric_facts(metric).higher_is_better else -1


def fit(data: Data, candidates: Mapping[str, Sequence[str]]) -> tuple[CalibratedPart, ...]:
    """Choose the parts, fit their curves and the weights.

    Args:
        data: what to fit on; nothing else is looked at, not for the choice either.
        candidates: aspect to metrics.

    Raises:
        InputError: too few outputs or systems; the message names the aspect.
    """
    parts = []
    for aspect, share in zip(ASPECTS, data.shares, strict=True):
        metric = choose(data.samples[aspect], candidates[aspect])
        try:
            curve = fit_curve(data.samples[aspect][metric].best, sign_of(metric))
        except InputError as error:
            raise InputError(f"{aspect} from {metric}: {error}") from error
        parts.append(CalibratedPart(metric, aspect, float(share), curve.slope, curve.offset))
    return tuple(parts)


def choose(samples: Mapping[str, Sample], candidates: Sequence[str]) -> str:
    """The metric that orders outputs most as raters do: mean Spearman over studies.

    No curve changes an order, so none is needed to choose. Of equals the first is taken.
    """
    if len(candidates) == 1:
        return candidates[0]

    def mean(metric: str) -> float:
        some = samples[metric]
        parts = [some.only(some.study == one) for one in np.unique(some.study)]
        # A study whose ratings are all the same orders nothing; a metric of one value orders none.
        found = [spearman(metric, part) for part in parts if np.ptp(part.ratings) > 0]
        return float(np.mean(np.nan_to_num(found))) if found else -1.0

    return max(candidates, key=mean)


def spearman(metric: str, some: Sample) -> float:
    """Of values, oriented so that higher is better, and ratings; NaN if one of them is constant."""
    values = sign_of(metric) * some.values
    return coefficient("spearman", values, some.ratings) if len(values) > 1 else float("nan")


@dataclass(frozen=True)
class HeldOut:
    """How one curve does on outputs that it was not fitted on.

    Attributes:
        metric, aspect: what was fitted.
        kind: ``study`` or ``direction``: what was left out.
        name: of what was left out.
        explained: share of variance of the ratings there; below 0, a constant does better.
        spearman: of values and ratings there, at sentence level.
        outputs: number of outputs there.
    """

    metric: str
    aspect: str
    kind: str
    name: str
    explained: float
    spearman: float
    outputs: int


def held_out(aspect: str, metric: str, whole: Sample) -> list[HeldOut]:
    """Leave-one-study-out and leave-one-direction-out of a curve; empty where nothing is left."""
    found = []
    for kind, names in (("study", whole.study), ("direction", whole.direction)):
        for name in np.unique(names) if len(np.unique(names)) > 1 else ():
            there = whole.only(names == name)
            curve = fit_curve(whole.only(names != name).best, sign_of(metric))
            share, rho = explained(curve, there.best), spearman(metric, there.best)
            outputs = len(there.best.values)
            found.append(HeldOut(metric, aspect, kind, str(name), share, rho, outputs))
    return found
