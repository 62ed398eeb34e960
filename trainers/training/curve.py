"""The learning curve: JSON lines on disk as they come, TensorBoard if asked for, and a picture.

The picture is an SVG that stands alone, in the reader's light or dark colours: for each system two
panels, its losses, and its validation scores with the step that was chosen.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ...errors import naming, require
from ...files import make_folder, read_lines, write_jsonl
from .run import Run

CURVE_FILE = "curve.jsonl"
VALIDATION = "validation/"
Row = Mapping[str, float | int | str]


class Curve:
    """Rows of losses and validation scores by step, kept in a folder's ``curve.jsonl``.

    Args:
        folder: for the file; ``None`` keeps the rows in memory.
        board: takes values by name, as TensorBoard's ``SummaryWriter`` does.
    """

    def __init__(self, folder: Path | None, board: Any = None) -> None:
        self._path = None if folder is None else folder / CURVE_FILE
        self._rows: list[Row] = []
        self._board = board
        if folder is not None:
            make_folder(folder)

    @classmethod
    def of(cls, run: Run, recipe: str, step: int, *, written: bool = True) -> Curve:
        """The curve of a training that begins after a step; only one process writes it.

        Raises:
            InputError: a folder cannot be made.
            MissingExtraError: TensorBoard is asked for and not installed.
        """
        if not written:
            return cls(None)
        board = None if run.tensorboard is None else _tensorboard(run.tensorboard, recipe, step)
        curve = cls(run.folder, board)
        curve.cut(step)
        return curve

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of steps."""
        return tuple(self._rows)

    def cut(self, step: int) -> None:
        """Take the rows of earlier runs up to a step; what came after it is learned again."""
        if self._path is None:
            return
        if step and self._path.is_file():
            self._rows = [row for row in read_curve(self._path) if int(row["step"]) <= step]
        write_jsonl(self._path, [dict(row) for row in self._rows])

    def add(self, row: Row) -> None:
        """Add a row: ``step`` and values by name."""
        self._rows.append(row)
        if self._path is not None:
            with naming(self._path), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        if self._board is not None:
            for name, value in row.items():
                if name != "step":
                    self._board.add_scalar(name, value, row["step"])

    def scores_at(self, step: int | None) -> dict[str, float]:
        """The validation scores of a step."""
        return {
            name.removeprefix(VALIDATION): float(value)
            for row in self._rows
            if row["step"] == step
            for name, value in row.items()
            if name.startswith(VALIDATION)
        }

    def close(self) -> None:
        """Close TensorBoard's file."""
        if self._board is not None:
            self._board.close()


def terms_text(terms: Mapping[str, float], width: int) -> str:
    """The losses of a step in one line, all names cut until they fit; three letters stay.

    Of names that would be the same, the last letters stay too.

    >>> terms_text({"critic/real": 1.066, "critic/rewritten": 1.2}, 40)
    'critic: real 1.07, rewritten 1.20'
    >>> terms_text({"critic/real": 1.066, "critic/rewritten": 1.2}, 28)
    'criti: real 1.07, rewri 1.20'
    >>> terms_text({"step/style_0": 1.066, "step/style_1": 1.2}, 26)
    'step: st_0 1.07, st_1 1.20'
    """
    update = next(iter(terms), "").partition("/")[0]
    names = [name.partition("/")[2] or name for name in terms]
    text = ""
    for longest in range(max(map(len, [update, *names])), 2, -1):
        pairs = zip(_cut(names, longest), terms.values(), strict=True)
        text = f"{update[:longest]}: " + ", ".join(f"{name} {value:.2f}" for name, value in pairs)
        if len(text) <= width:
            break
    return text


def _cut(names: Sequence[str], longest: int) -> list[str]:
    heads = [name[:longest] for name in names]
    if len(set(heads)) == len(set(names)):
        return heads
    tail = longest // 2
    return [n if len(n) <= longest else n[: longest - tail] + n[-tail:] for n in names]


def read_curve(path: Path) -> list[Row]:
    """The rows of a ``curve.jsonl``, without a line that a killed process did not finish.

    Raises:
        MissingFileError: there is no such file.
        InputError: it is no text.
    """
    return [row for line in read_lines(path) if (row := _row(line)) is not None]


def _row(line: str) -> Row | None:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("step"), int) else None


def _tensorboard(folder: Path, recipe: str, step: int) -> Any:
    """A writer; what an earlier run wrote after the step is not shown any more."""
    require("tensorboard", "train")
    from torch.utils.tensorboard import SummaryWriter

    system, _, phase = recipe.partition("/")  # what a phase learns is named by both
    own = folder / "-".join(filter(None, (system[:16], phase)))
    make_folder(own)
    return SummaryWriter(str(own), purge_step=step + 1)  # type: ignore[no-untyped-call]


_STRETCHES = 80  # of a smoothed curve
_SELECTION = "selection"


@dataclass(frozen=True)
class Series:
    """One value over the steps at which it was measured."""

    steps: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def smooth(self) -> Series:
        """Means over at most 80 stretches of equally many values; each at its mean step."""
        count = min(_STRETCHES, len(self.values))
        size, more = divmod(len(self.values), count)
        cuts = [i * size + min(i, more) for i in range(count + 1)]
        parts = [slice(cuts[i], cuts[i + 1]) for i in range(count)]
        return Series(
            tuple(round(fmean(self.steps[part])) for part in parts),
            tuple(fmean(self.values[part]) for part in parts),
        )

    def at(self, step: int) -> float | None:
        """The value of the last stretch that is not after a step; ``None``: it began later."""
        smooth = self.smooth
        places = [i for i, one in enumerate(smooth.steps) if one <= step]
        return smooth.values[places[-1]] if places else None


@dataclass(frozen=True)
class LearningCurve:
    """How a system learned.

    Attributes:
        name: of the system.
        losses: by name, ``generator/self``, as each was at every step; unsmoothed.
        scores: on validation data, by name.
        steps: how many there were.
        chosen: the step whose weights were kept; ``None`` before the first validation.
    """

    name: str
    losses: Mapping[str, Series]
    scores: Mapping[str, Series]
    steps: int
    chosen: int | None

    @classmethod
    def of(cls, name: str, rows: Iterable[Row]) -> LearningCurve:
        """The values of some rows, by name; what is no finite number is left out."""
        found: dict[str, list[tuple[int, float]]] = {}
        for row in rows:
            for key, value in row.items():
                if key != "step" and isinstance(value, int | float) and math.isfinite(value):
                    found.setdefault(key, []).append((int(row["step"]), float(value)))
        series = {
            key: Series(tuple(step for step, _ in some), tuple(value for _, value in some))
            for key, some in found.items()
        }
        scores = {
            key.removeprefix(VALIDATION): one
            for key, one in series.items()
            if key.startswith(VALIDATION)
        }
        losses = {key: one for key, one in series.items() if not key.startswith(VALIDATION)}
        steps = max((one.steps[-1] for one in series.values()), default=0)
        return cls(name, losses, scores, steps, _chosen(scores.get(_SELECTION)))


def _chosen(selection: Series | None) -> int | None:
    """The first of the best, as the loop keeps it."""
    if selection is None:
        return None
    return selection.steps[selection.values.index(max(selection.values))]


_LEFT, _TOP, _WIDTH, _HEIGHT = 52, 44, 380, 170  # of a panel's plot, in pixels
_PANEL = (_LEFT + _WIDTH + 18, 0)
_LEGEND = 17  # pixels a line
_PER_LINE = 2  # names in a line of the legend
_COLOURS = 8
_STYLE = """
svg { --ink:#1f2328; --soft:#59636e; --grid:#d8dee4; --paper:#ffffff;
 --c0:#0b6bcb; --c1:#bc4c00; --c2:#1a7f37; --c3:#8250df; --c4:#bf3989; --c5:#9a6700;
 --c6:#0a7ea4; --c7:#6e7781; }
@media (prefers-color-scheme: dark) { svg { --ink:#e6edf3; --soft:#9198a1; --grid:#30363d;
 --paper:#0d1117; --c0:#58a6ff; --c1:#ffa657; --c2:#56d364; --c3:#d2a8ff; --c4:#ff7bc0;
 --c5:#e3b341; --c6:#76e3ea; --c7:#b1bac4; } }
text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.title { font-weight: 600; font-size: 13px; } .tick { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--grid); } .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.chosen { stroke: var(--soft); stroke-dasharray: 4 3; }
"""


@dataclass(frozen=True)
class _Axis:
    """From values to pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (self._shape(x) for x in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def _shape(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value

    @property
    def ticks(self) -> list[float]:
        """Round values, about four."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            decades = [10.0**n for n in range(first, last + 1)]
            return decades if len(decades) > 1 else [self.low, *decades, self.high]
        step = _round_step((self.high - self.low) / 4)
        first = math.ceil(self.low / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def curve_picture(curves: Sequence[LearningCurve]) -> str:
    """The picture, a whole SVG document.

    Args:
        curves: one row of panels each, in this order.
    """
    parts: list[str] = []
    top = 0.0
    for curve in curves:
        losses = {name: series.smooth for name, series in curve.losses.items()}
        names = max(len(losses), len(curve.scores))
        height = _TOP + _HEIGHT + 34 + _LEGEND * -(-names // _PER_LINE)
        title = html.escape(curve.name)
        parts.append(_panel(curve, losses, f"{title}: losses", 0, top, losses=True))
        if curve.scores:
            scores = f"{title}: validation"
            parts.append(_panel(curve, _shares(curve), scores, _PANEL[0], top, losses=False))
        top += height + 8
    width = 2 * _PANEL[0]
    named = html.escape(", ".join(curve.name for curve in curves))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top:.0f}" '
        f'width="{width}" height="{top:.0f}" role="img" aria-label="Learning curves: {named}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="var(--paper)"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _shares(curve: LearningCurve) -> Mapping[str, Series]:
    """The scores between 0 and 1, if there are any: what is of another size would flatten them."""
    shares = {
        name: series
        for name, series in curve.scores.items()
        if min(series.values) >= 0 and max(series.values) <= 1
    }
    return shares or curve.scores


def _panel(
    curve: LearningCurve,
    shown: Mapping[str, Series],
    title: str,
    left: float,
    top: float,
    *,
    losses: bool,
) -> str:
    values = [v for series in shown.values() for v in series.values] or [0.0, 1.0]
    low, high = (min(values), max(values)) if losses else _range(values)
    logarithmic = losses and low > 0 and high > 20 * low
    low = low if logarithmic or not losses else min(0.0, low)
    x = _Axis(0, curve.steps, left + _LEFT, left + _LEFT + _WIDTH)
    y = _Axis(low, high, top + _TOP + _HEIGHT, top + _TOP, logarithmic)
    parts = [f'<text class="title" x="{left + _LEFT}" y="{top + 24}">{title}</text>']
    for tick in y.ticks:
        parts.append(
            f'<path class="grid" d="M{x.start} {y(tick):.1f}H{x.end}"/><text class="tick" '
            f'text-anchor="end" x="{x.start - 6}" y="{y(tick) + 4:.1f}">{tick:.3g}</text>'
        )
    for tick in x.ticks:
        parts.append(
            f'<text class="tick" text-anchor="middle" x="{x(tick):.1f}" y="{y.start + 16}">'
            f"{tick:,.0f}</text>"
        )
    if curve.chosen is not None:
        place = f"{x(curve.chosen):.1f}"
        text = f"chosen: step {curve.chosen:,}"
        beyond = x(curve.chosen) > x.end - 130
        anchor = 'text-anchor="end" ' if beyond else ""
        parts.append(
            f'<path class="chosen" d="M{place} {y.end}V{y.start}"/><text class="tick" {anchor}'
            f'x="{x(curve.chosen) + (-4 if beyond else 4):.1f}" y="{y.end - 5}">{text}</text>'
        )
    for number, (name, series) in enumerate(shown.items()):
        points = zip(series.steps, series.values, strict=True)
        path = " ".join(f"{x(step):.1f},{y(value):.1f}" for step, value in points)
        colour = f"var(--c{number % _COLOURS})"
        dashed = ' stroke-dasharray="6 3"' if number >= _COLOURS else ""
        parts.append(
            f'<polyline class="line" stroke="{colour}"{dashed} points="{path}">'
            f"<title>{html.escape(name)}</title></polyline>"
        )
        if len(series.steps) == 1:  # one point is no line
            parts.append(
                f'<circle cx="{path.split(",")[0]}" cy="{path.split(",")[1]}" r="3" '
                f'fill="{colour}"/>'
            )
        line, place_in = divmod(number, _PER_LINE)
        at = x.start + place_in * _WIDTH / _PER_LINE
        under = y.start + 36 + line * _LEGEND
        parts.append(
            f'<path class="line" stroke="{colour}"{dashed} d="M{at:.0f} {under - 4}h14"/>'
            f'<text x="{at + 18:.0f}" y="{under}">{html.escape(name)}</text>'
        )
    return "\n".join(parts)


def _round_step(width: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that is not below a width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= width * (1 - 1e-9))


def _range(scores: Sequence[float]) -> tuple[float, float]:
    """From 0 to 1 if the scores are shares, else as far as they go."""
    low, high = min(scores), max(scores)
    return (0.0, max(1.0, high)) if low >= 0 else (low, max(0.0, high))
