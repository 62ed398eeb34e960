"""Where a system stands in a column: the ranks it could have, and whether it could be the best."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Place:
    """One system's place among the ranked systems of a column; bounds have none.

    Attributes:
        first, last: the ranks that cannot be excluded.
        best: whether it is the best or not significantly different from the best: what bold means.
    """

    first: int
    last: int
    best: bool

    @property
    def ranks(self) -> tuple[int, int]:
        """The first and the last rank."""
        return self.first, self.last


def plain_places(values: Mapping[Name, float], higher_is_better: bool) -> dict[Name, Place]:
    """Places by value alone, shared by equal values, without a test.

    >>> {name: place.ranks for name, place in plain_places({"a": 3.0, "b": 5.0}, True).items()}
    {'a': (2, 2), 'b': (1, 1)}
    """
    array = np.array(list(values.values()), dtype=float) * (1 if higher_is_better else -1)
    ordered = np.sort(-array)
    first = np.searchsorted(ordered, -array, side="left") + 1
    last = np.searchsorted(ordered, -array, side="right")
    return {
        name: Place(int(a), int(b), best=int(a) == 1)
        for name, a, b in zip(values, first, last, strict=True)
    }


def bold(place: Place | None, ranked: int) -> bool:
    """Whether a value is bold: it could be the best, and there is another to be better than."""
    return place is not None and place.best and ranked > 1
