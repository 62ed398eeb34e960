"""Two metrics against each other: which systems no other beats on both, and settings of one system.

A style transfer system can buy style with content; where one has several settings, the line through
them shows at what price. A line never joins numbers of different signatures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from ...errors import InputError, unknown_name
from ...plots.plane import Point
from ..standings import Column
from .data import DirectionResults, HumanAspect, human_means, score_of

_INVERSE = "1/"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What systems are compared by: a score, its inverse, or people's mean score.

    Attributes:
        values: by the name of the system, with the 95% interval where there is one.
    """

    column: Column
    values: Mapping[str, tuple[float, tuple[float, float] | None]]


@dataclass(frozen=True, kw_only=True)
class TradeOff:
    """A plane of two columns.

    Attributes:
        points: in the order of the reports.
        front: the systems on the Pareto front, from left to right.
        curves: the settings of a system by its name, in order.
    """

    across: Column
    up: Column
    points: tuple[Point, ...]
    front: tuple[str, ...]
    curves: Mapping[str, tuple[str, ...]]


def axis_of(results: DirectionResults, column: Column) -> Axis:
    """A score of the results as an axis."""
    values = {}
    for report in results.reports:
        score = score_of(report, column)
        if score is not None and score.value is not None:
            bounds = (score.interval.low, score.interval.high) if score.interval else None
            values[report.system.name] = (score.value, bounds)
    return Axis(column=column, values=values)


def named_axes(results: DirectionResults, aspects: Sequence[HumanAspect]) -> dict[str, Axis]:
    """Every axis by its name, in order.

    A metric has its own name (of several signatures it is that of the most systems), a numbered
    column its title, people's scores ``human_style`` and so on.
    """
    found = {}
    for column in results.columns:
        if results.fullest[column.metric] is column:
            found[column.metric] = axis_of(results, column)
        if sum(c.metric == column.metric for c in results.columns) > 1:
            found[column.title] = axis_of(results, column)
    for aspect in aspects:
        name = aspect.title.replace(" ", "_")
        column = Column(
            metric=name, signature="", title=aspect.title, unit=aspect.scale,
            higher_is_better=True, aspect=aspect.aspect,
        )  # fmt: skip
        means = zip(results.reports, human_means(aspect, results.reports), strict=True)
        values = {r.system.name: (float(v), None) for r, v in means if np.isfinite(v)}
        found[name] = Axis(column=column, values=values)
    return found


def axis_named(name: str, axes: Mapping[str, Axis]) -> Axis:
    """The axis; with ``1/`` before its name, its inverse: so Mir et al. (2019, figure 2) draw WMD.

    Raises:
        UnknownNameError: there is none.
    """
    plain = name.removeprefix(_INVERSE)
    if plain not in axes:
        raise unknown_name("axis", name, axes)
    return axes[name] if plain == name else _inverse(axes[plain])


def _inverse(axis: Axis) -> Axis:
    column = replace(
        axis.column,
        metric=f"{_INVERSE}{axis.column.metric}",
        title=f"{_INVERSE}{axis.column.title}",
        unit="number",
        higher_is_better=not axis.column.higher_is_better,
    )
    values = {
        name: (1 / value, (1 / bounds[1], 1 / bounds[0]) if bounds and bounds[0] > 0 else None)
        for name, (value, bounds) in axis.values.items()
        if value > 0
    }
    return Axis(column=column, values=values)


def trade_off(
    results: DirectionResults,
    across: Axis,
    up: Axis,
    joined: Mapping[str, Sequence[str]] | None = None,
) -> TradeOff | None:
    """The systems that have both scores; ``None`` if none has.

    Args:
        results: of one direction.
        across: one score.
        up: the other.
        joined: settings of a system by its name; those named ``NAME@SETTING`` are found anyway.
    """
    both = across.values.keys() & up.values.keys()
    found = [r for r in results.reports if r.system.name in both]
    if not found:
        return None
    places = {
        r.system.name: (
            _signed(across.values[r.system.name][0], across.column),
            _signed(up.values[r.system.name][0], up.column),
        )
        for r in found
        if not r.system.is_bound
    }
    front = pareto_front(places)
    points = tuple(
        Point(
            system=r.system.name,
            family=r.system.family,
            bound=r.system.is_bound,
            x=across.values[r.system.name][0],
            y=up.values[r.system.name][0],
            across=across.values[r.system.name][1],
            up=up.values[r.system.name][1],
            on_front=r.system.name in front,
        )
        for r in found
    )
    by_x = {point.system: point.x for point in points}
    curves = curves_of([p.system for p in points], joined or {})
    return TradeOff(
        across=across.column,
        up=up.column,
        points=points,
        front=tuple(sorted(front, key=lambda name: (by_x[name], name))),
        curves=curves,
    )


def pareto_front(places: Mapping[str, tuple[float, float]]) -> set[str]:
    """Those that no other is as good as on both and better than on one; higher is better.

    >>> sorted(pareto_front({"a": (1, 3), "b": (2, 2), "c": (1, 2), "d": (2, 2)}))
    ['a', 'b', 'd']
    """
    found: set[str] = set()
    highest = -math.inf  # of those further right
    ordered = sorted(places, key=places.__getitem__, reverse=True)
    for _, column in groupby(ordered, key=lambda name: places[name][0]):
        names = list(column)
        top = places[names[0]][1]
        if top > highest:
            highest = top
            found |= {name for name in names if places[name][1] == top}
    return found


def curves_of(
    systems: Sequence[str], joined: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The settings of each system that has several, in the order of their numbers.

    >>> curves_of(["cae@10", "cae@5", "copy", "x@1"], {"both": ["copy", "x@1"]})
    {'both': ('copy', 'x@1'), 'cae': ('cae@5', 'cae@10')}
    """
    curves = {n: tuple(s for s in some if s in systems) for n, some in joined.items()}
    taken = {system for some in curves.values() for system in some}
    groups: dict[str, list[str]] = {}
    for system in systems:
        name, _, setting = system.rpartition("@")
        if name and setting and system not in taken:
            groups.setdefault(name, []).append(system)
    curves |= {name: tuple(sorted(some, key=_natural)) for name, some in groups.items()}
    return {name: some for name, some in curves.items() if len(some) > 1}


def parse_joined(given: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read ``NAME=SYSTEM,SYSTEM,...``.

    Raises:
        InputError: another form, or fewer than two systems.
        UnknownNameError: a system that is not there.
    """
    found = {}
    for one in given:
        name, equals, rest = one.partition("=")
        members = tuple(part.strip() for part in rest.split(",") if part.strip())
        if not equals or not name.strip() or len(members) < 2:
            raise InputError(
                f"--join {one!r}: give a name and two systems or more, as in cae=cae-1,cae-5,cae-10"
            )
        for member in members:
            if member not in systems:
                raise unknown_name("system", member, systems)
        found[name.strip()] = members
    return found


def _signed(value: float, column: Column) -> float:
    return value if column.higher_is_better else -value


def _natural(name: str) -> list[tuple[int, float, str]]:
    parts = re.findall(r"\d+(?:\.\d+)?|[^\d]+", name)
    return [(0, float(p), "") if p[0].isdigit() else (1, 0.0, p) for p in parts]
