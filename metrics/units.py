"""The units of scores: how many digits a value has, and the label shown with it.

Every table and page formats its numbers here. A unit that is not in :data:`UNITS` is a scale that
people rated on, such as ``ordinal 1-5``.
"""

from __future__ import annotations

from dataclasses import dataclass

DASH = "\N{EN DASH}"


@dataclass(frozen=True)
class Unit:
    """How the values of one unit are shown.

    Attributes:
        decimals: as many as the intervals justify.
        label: shown below a column's title.
        narrow_from: in narrow columns, values from this one up have no decimals.
    """

    decimals: int
    label: str
    narrow_from: float = float("inf")


UNITS: dict[str, Unit] = {
    "percent": Unit(1, "%"),
    "fraction": Unit(3, f"0{DASH}1"),
    "perplexity": Unit(1, "per token", narrow_from=1000),
    "number": Unit(2, ""),
}
_SCALE_DECIMALS = 2


def unit(name: str) -> Unit:
    """The unit with that name.

    >>> unit("percent").label, unit("ordinal 1-5").decimals
    ('%', 2)
    """
    return UNITS.get(name) or Unit(_SCALE_DECIMALS, name.split()[-1].replace("-", DASH))


def number(value: float, name: str, *, narrow: bool = False) -> str:
    """A value in its unit, without the unit.

    >>> number(51.26, "percent"), number(0.4567, "fraction"), number(1234.5, "perplexity")
    ('51.3', '0.457', '1234.5')
    >>> number(1234.5, "perplexity", narrow=True), number(4.125, "ordinal 1-5")
    ('1234', '4.12')
    """
    shown = unit(name)
    decimals = 0 if narrow and abs(value) >= shown.narrow_from else shown.decimals
    return f"{value:.{decimals}f}"


def between(low: float, high: float, name: str, *, narrow: bool = False) -> str:
    """An interval in its unit: ``49.0-53.1``, with an en dash."""
    return f"{number(low, name, narrow=narrow)}{DASH}{number(high, name, narrow=narrow)}"
