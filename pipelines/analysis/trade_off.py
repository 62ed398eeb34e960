"""Two metrics against each other: which systems no other beats on both, and settings of one system.

A style transfer system can buy style with content; where one has several settings, the line through
them shows at what price. A line never joins numbers of different signatures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import InputError, unknown_name
from .results import Column, DirectionResults, score_of


@dataclass(frozen=True, kw_only=True)
class TradeOffPoint:
    """One system in the plane.

    Attributes:
        x, y: its scores.
        across, up: their 95% intervals.
        on_front: no other system that competes is as good on both and better on one.
    """

    system: str
    family: str
    bound: bool
    x: float
    y: float
    across: tuple[float, float] | None
    up: tuple[float, float] | None
    on_front: bool


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
    points: tuple[TradeOffPoint, ...]
    front: tuple[str, ...]
    curves: Mapping[str, tuple[str, ...]]


def trade_off(
    results: DirectionResults,
    across: Column,
    up: Column,
    joined: Mapping[str, Sequence[str]] | None = None,
) -> TradeOff | None:
    """The systems that have both scores; ``None`` if none has.

    Args:
        results: of one direction.
        across: one score.
        up: the other.
        joined: settings of a system by its name; those named ``NAME@SETTING`` are found anyway.
    """
    found = []
    for report in results.reports:
        x, y = score_of(report, across), score_of(report, up)
        if x is None or y is None or x.value is None or y.value is None:
            continue
        found.append((report, x.value, y.value, x.interval, y.interval))
    if not found:
        return None
    places = {
        report.system.name: (_signed(x, across), _signed(y, up))
        for report, x, y, _, _ in found
        if not report.system.is_bound
    }
    front = pareto_front(places)
    points = tuple(
        TradeOffPoint(
            system=report.system.name,
            family=report.system.family,
            bound=report.system.is_bound,
            x=x,
            y=y,
            across=(wide.low, wide.high) if wide else None,
            up=(high.low, high.high) if high else None,
            on_front=report.system.name in front,
        )
        for report, x, y, wide, high in found
    )
    by_x = {point.system: point.x for point in points}
    curves = curves_of([p.system for p in points], joined or {})
    return TradeOff(
        across=across,
        up=up,
        points=points,
        front=tuple(sorted(front, key=lambda name: (by_x[name], name))),
        curves=curves,
    )


def pareto_front(places: Mapping[str, tuple[float, float]]) -> set[str]:
    """Those that no other is as good as on both and better than on one; higher is better.

    >>> sorted(pareto_front({"a": (1, 3), "b": (2, 2), "c": (1, 2), "d": (2, 2)}))
    ['a', 'b', 'd']
    """
    return {
        name
        for name, (x, y) in places.items()
        if not any(u >= x and v >= y and (u > x or v > y) for u, v in places.values())
    }


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
        name, at, setting = system.rpartition("@")
        if at and name and setting and system not in taken:
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
