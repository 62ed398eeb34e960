"""The colours and marks of the pictures: those of the pages, for light and for dark.

A picture is drawn in the light ones, for paper. In a page each is replaced by its dark twin where
the reader's colours are dark, so no colour may stand for two things.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

PAIRS = {  # light, dark; the pages' tokens.css has the same
    "surface": ("#ffffff", "#1b1f23"),
    "ink": ("#1c2126", "#e8e9e6"),
    "muted": ("#5c646d", "#a3abb3"),
    "line": ("#e3e1d9", "#2e343a"),
    "line-strong": ("#8d9096", "#717a83"),
    "accent": ("#1d6360", "#74c7bd"),
    "accent-soft": ("#e3efed", "#1f3534"),
    "fpft": ("#2d6bb0", "#86b6ec"),
    "peft": ("#7750b5", "#bda1ec"),
    "prompted": ("#a8561a", "#eaa871"),
    "rule": ("#1c7a5f", "#78cbb0"),
    "human": ("#ad3a78", "#ec9cc6"),
    "unknown": ("#666c74", "#aab1b9"),
}
_HEAT_STEPS = 20
_POSITIVE = ("#24588f", "#2f66a8")  # the strongest, in light and in dark
_NEGATIVE = ("#a04e16", "#8c4a1b")
ON_STRONG, ON_WEAK = "#fefefe", "#010101"  # text on a strong and on a weak colour


@dataclass(frozen=True)
class Kind:
    """How a kind of system looks: as a mark and, of a bar, hatched; its colour has its name."""

    title: str
    marker: str
    hatch: str


KINDS = {  # in the order of a legend
    "fpft": Kind("Fine-tuned", "o", ""),
    "peft": Kind("PEFT", "D", "///"),
    "prompted": Kind("Prompted", "s", "..."),
    "rule": Kind("Rule", "^", "xxx"),
    "human": Kind("Human", "*", "\\\\\\"),
    "unknown": Kind("Unknown", "X", "---"),
}


def colour(name: str) -> str:
    """A colour of the design, for light."""
    return PAIRS[name][0]


def heat(value: float) -> str:
    """The colour of a correlation from -1 to 1: white at 0, blue above, orange below."""
    return _heat_pair(round(max(-1.0, min(1.0, value)) * _HEAT_STEPS))[0]


def on_heat(value: float) -> str:
    """The colour of the text on :func:`heat`: whichever is further from it."""
    ground = _luminance(heat(value))
    ends = _luminance(ON_WEAK), _luminance(ON_STRONG)
    weak, strong = (ground + 0.05) / (ends[0] + 0.05), (ends[1] + 0.05) / (ground + 0.05)
    return ON_WEAK if weak > strong else ON_STRONG


@cache
def twins() -> dict[str, str]:
    """From every light colour of a picture to its dark twin."""
    steps = (_heat_pair(n) for n in range(-_HEAT_STEPS, _HEAT_STEPS + 1) if n)
    on = dict.fromkeys((ON_STRONG, ON_WEAK), PAIRS["ink"][1])
    return {**on, **dict(steps), **dict(PAIRS.values())}


def _heat_pair(step: int) -> tuple[str, str]:
    if step == 0:
        return PAIRS["surface"]
    ends = _POSITIVE if step > 0 else _NEGATIVE
    share = abs(step) / _HEAT_STEPS
    light, dark = (
        _mixed(ground, end, share) for ground, end in zip(PAIRS["surface"], ends, strict=True)
    )
    return light, dark


def _mixed(ground: str, end: str, share: float) -> str:
    parts = zip(_channels(ground), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _channels(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:], 16)


def _luminance(text: str) -> float:
    """Relative luminance, as WCAG 2.2 defines it."""
    shares = (c / 255 for c in _channels(text))
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
