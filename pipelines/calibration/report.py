"""A calibration for people: coefficients with intervals, and how it does elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...metrics.joint.calibration import Calibration

WIDTH = 80


def summary(calibration: Calibration) -> str:
    """At most 80 columns wide, and no colours."""
    return "\n".join(line[:WIDTH].rstrip() for line in _lines(calibration)) + "\n"


def _lines(calibration: Calibration) -> Iterator[str]:
    yield f"{calibration.signed}, profile {calibration.profile}"
    yield ""
    yield f"{'part':8} {'metric':16} {'weight':23} {'slope':>8} {'offset':>8}"
    for part in calibration.parts:
        weight = f"{part.weight:.3f}{_interval(part.intervals.get('weight'))}"
        yield (
            f"{part.aspect:8} {part.metric[:16]:16} {weight:23} "
            f"{part.slope:8.3g} {part.offset:8.3g}"  # of perplexity it is about -0.0001
        )
    yield from _curves(calibration.evidence)
    yield from _weights(calibration.evidence)
    yield from _overall(calibration.evidence)


def _curves(evidence: Mapping[str, Any]) -> Iterator[str]:
    rows: Sequence[Mapping[str, Any]] = evidence.get("curves", [])
    if not rows:
        return
    yield ""
    yield "Curves on what they were not fitted on: share of the ratings' variance explained"
    yield f"{'part':8} {'metric':16} {'left out':32} {'explained':>9} {'rho':>6}"
    for row in rows:
        yield (
            f"{row['aspect']:8} {row['metric'][:16]:16} {row['name'][:32]:32} "
            f"{_number(row['explained']):>9} {_number(row['spearman']):>6}"
        )


def _weights(evidence: Mapping[str, Any]) -> Iterator[str]:
    rows: Sequence[Mapping[str, Any]] = evidence.get("weights", [])
    if not rows:
        return
    yield ""
    yield "Weights, fitted on other datasets: Spearman with people's overall, systems"
    yield f"{'direction':40} {'systems':>7} {'weighted':>9} {'equal':>7}"
    for row in rows:
        yield (
            f"{row['direction'][:40]:40} {row['systems']:>7} {_number(row['spearman']):>9} "
            f"{_number(row['spearman_equal']):>7}"
        )


def _overall(evidence: Mapping[str, Any]) -> Iterator[str]:
    rows: Sequence[Mapping[str, Any]] = evidence.get("overall", [])
    rows = [row for row in rows if row["coefficient"] == "spearman"]
    for level in ("system", "sentence"):
        some = [row for row in rows if row["level"] == level]
        if not some:
            continue
        yield ""
        yield f"Joint: Spearman with the overall score, {level} level, 95% over sentences"
        for row in some:
            found = f"{_number(row.get('value')):>6}{_interval((row.get('low'), row.get('high')))}"
            yield f"{row['study'][:10]:10} {row['direction'][:36]:36} {found}"
            yield f"{'':10} {row['metric']}; {row['aspect'].replace('_', ' ')}"


def _interval(bounds: tuple[float | None, float | None] | None) -> str:
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return ""
    return f" [{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
