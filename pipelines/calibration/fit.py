"""A calibration from judgments: measure, choose parts, fit curves and weights, look elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import InputError
from ...metrics.functional.calibrated import CalibratedPart
from ...metrics.registry import metric_facts
from .curves import Curve, explained, fit_curve
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


def fit(data: Data, chosen: Mapping[str, str]) -> tuple[CalibratedPart, ...]:
    """Curves and weights of the chosen metrics.

    Args:
        data: what to fit on.
        chosen: aspect to metric.

    Raises:
        InputError: too few outputs or systems; the message names the aspect.
    """
    shares = data.shares
    parts = []
    for aspect, share in zip(ASPECTS, shares, strict=True):
        metric = chosen[aspect]
        try:
            curve = fit_curve(data.samples[aspect][metric], sign_of(metric))
        except InputError as error:
            raise InputError(f"{aspect} from {metric}: {error}") from error
        parts.append(CalibratedPart(metric, aspect, float(share), curve.slope, curve.offset))
    return tuple(parts)


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
    from scipy.stats import spearmanr  # takes a moment to import

    found = []
    for kind, names in (("study", whole.study), ("direction", whole.direction)):
        for name in np.unique(names) if len(np.unique(names)) > 1 else ():
            there = whole.only(names == name)
            curve: Curve = fit_curve(whole.only(names != name), sign_of(metric))
            rho = float(spearmanr(sign_of(metric) * there.values, there.ratings).statistic)
            share = explained(curve, there)
            found.append(HeldOut(metric, aspect, kind, str(name), share, rho, len(there.values)))
    return found


def choose(candidates: Mapping[str, Sequence[str]], records: Iterable[HeldOut]) -> dict[str, str]:
    """The metric of each aspect that explains most of the ratings where it was not fitted.

    The mean over left-out studies decides, over directions where one study alone asked.

    Raises:
        InputError: several candidates, and nothing could be left out.
    """
    rows = list(records)
    chosen = {}
    for aspect, metrics in candidates.items():
        if len(metrics) == 1:
            chosen[aspect] = metrics[0]
            continue
        some = [row for row in rows if row.aspect == aspect]
        kind = "study" if any(row.kind == "study" for row in some) else "direction"
        means = {
            metric: float(
                np.mean([r.explained for r in some if (r.metric, r.kind) == (metric, kind)])
            )
            for metric in metrics
            if any((r.metric, r.kind) == (metric, kind) for r in some)
        }
        if not means:
            raise InputError(
                f"{aspect}: {', '.join(metrics)} cannot be compared: the ratings are of one study "
                "and one direction. Give one metric"
            )
        chosen[aspect] = max(means, key=lambda metric: means[metric])
    return chosen
