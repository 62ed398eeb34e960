"""Where a value is drawn: linear and logarithmic scales, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5)
_MARGIN = 0.05


@dataclass(frozen=True)
class Scale:
    """From values to places between 0 and 1.

    Attributes:
        low, high: the values at the ends.
        reverse: whether ``high`` is at 0, so that better is right and up.
        logarithmic: for perplexity.
    """

    low: float
    high: float
    reverse: bool = False
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; one beyond the ends is drawn at the end.

        >>> Scale(0, 50)(10), Scale(0, 50, reverse=True)(10), Scale(1, 100, logarithmic=True)(10)
        (0.2, 0.8, 0.5)
        """
        low, high, value = (self._shape(v) for v in (self.low, self.high, value))
        place = min(1.0, max(0.0, (value - low) / (high - low)))
        return 1 - place if self.reverse else place

    def ticks(self, most: int) -> list[float]:
        """At most so many round values inside the scale.

        >>> Scale(3, 52).ticks(6), Scale(40, 2100, logarithmic=True).ticks(9)
        ([10.0, 20.0, 30.0, 40.0, 50.0], [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0])
        """
        if self.logarithmic:
            found = self._decades()
            if len(found) > 1:
                return found[:: math.ceil(len(found) / most)]
        width = self.high - self.low
        power = math.floor(math.log10(width / most))
        sizes = (factor * 10.0**p for p in range(power, power + 3) for factor in _STEPS)
        step = next(size for size in sizes if width / size <= most - 1)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 10) for i in range(first, last + 1)]

    def _decades(self) -> list[float]:
        low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        found = [factor * 10.0**p for p in range(low, high + 1) for factor in (1, 2, 5)]
        return [value for value in found if self.low <= value <= self.high]

    def _shape(self, value: float) -> float:
        return math.log(max(value, self.low)) if self.logarithmic else value


def around(values: Iterable[float], *, reverse: bool = False, logarithmic: bool = False) -> Scale:
    """The scale that has all these values, with a margin; logarithmic only if all are positive."""
    found = list(values)
    low, high = min(found), max(found)
    if logarithmic and low > 0:
        reach = (high / low) ** _MARGIN if high > low else 1.1
        return Scale(low / reach, high * reach, reverse, logarithmic=True)
    reach = (high - low) * _MARGIN or abs(high) * _MARGIN or 1.0
    return Scale(low - reach, high + reach, reverse)


def tick_text(value: float) -> str:
    """A tick without needless digits.

    >>> tick_text(20.0), tick_text(0.25), tick_text(15000.0)
    ('20', '0.25', '15,000')
    """
    return f"{value:,.10g}"
