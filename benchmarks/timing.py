"""Times that survive a busy machine: small units, repeated, the best of each."""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Seconds:
    """What a piece of work took.

    Attributes:
        wall: by the clock; other processes make it longer.
        cpu: of all threads of this process; other processes hardly change it.
    """

    wall: float
    cpu: float

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)

    def __truediv__(self, other: Seconds) -> Seconds:
        """Ratios, wall by wall and cpu by cpu."""
        return Seconds(self.wall / other.wall, self.cpu / other.cpu)

    def best(self, other: Seconds) -> Seconds:
        return Seconds(min(self.wall, other.wall), min(self.cpu, other.cpu))


class Stopwatch:
    """The best time of each unit of each side, over all times it was run."""

    def __init__(self) -> None:
        self._best: dict[str, dict[Hashable, Seconds]] = defaultdict(dict)

    def __call__(self, side: str, unit: Hashable, work: Callable[[], T]) -> T:
        """Do the work and note how long it took."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        taken = Seconds(time.perf_counter() - wall, time.process_time() - cpu)
        units = self._best[side]
        units[unit] = taken.best(units.get(unit, taken))
        return result

    def total(self, side: str) -> Seconds:
        """The sum over a side's units."""
        return sum(self._best[side].values(), Seconds(0, 0))

    def unit(self, side: str, unit: Hashable) -> Seconds:
        """The best time of one unit."""
        return self._best[side][unit]


def read_options(parser: argparse.ArgumentParser, **smallest: object) -> argparse.Namespace:
    """The command line; with ``--smoke``, these values instead: it shows that every side runs."""
    parser.add_argument("--smoke", action="store_true", help="the least work: only that all runs")
    options = parser.parse_args()
    if options.smoke:
        vars(options).update(smallest)
    return options


def load_average() -> float:
    """Processes that wanted to run in the last minute, on average."""
    return os.getloadavg()[0]
