"""Extensions from other packages: metrics, scorers, systems and datasets, found by entry point.

A package adds a metric family with a few lines in its ``pyproject.toml``::

    [project.entry-points."tstbench.metrics"]
    politeness = "my_package.politeness:FAMILY"

An extension that fails to import is reported on standard error and skipped; all others work.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal

from .console import say

Group = Literal["tstbench.metrics", "tstbench.scorers", "tstbench.systems", "tstbench.datasets"]


@cache
def outside(group: Group) -> dict[str, Any]:
    """Name to object, for every entry point of a group that can be loaded.

    If two packages claim the same name, the first by package name wins and the other is reported.
    """
    found: dict[str, Any] = {}
    points = entry_points(group=group)
    for point in sorted(points, key=lambda p: (p.name, p.dist.name if p.dist else "")):
        package = point.dist.name if point.dist else point.value
        if point.name in found:
            say(f"{package} is left out: {group} already has {point.name!r}")
            continue
        try:
            found[point.name] = point.load()
        except (Exception, SystemExit) as error:
            say(f"{point.name!r} of {package} is left out: {type(error).__name__}: {error}")
    return found
