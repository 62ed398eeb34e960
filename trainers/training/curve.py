"""The learning curve: JSON lines on disk as they come, TensorBoard if asked for, and a picture.

The picture is an SVG that stands alone, in the reader's light or dark colours: for each system two
panels, its losses, and its validation scores with the step that was chosen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ...errors import naming, require
from ...files import make_folder, read_lines, write_jsonl
from ...plots.canvas import new_figure, plain, svg_picture
from ...plots.colours import colour
from .run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    """The losses of a step in one line: the first, and as many more as fit.

    >>> terms_text({"critic/real": 1.066, "critic/rewritten": 1.2}, 40)
    'critic: real 1.07, rewritten 1.20'
    >>> terms_text({"critic/real": 1.066, "critic/rewritten": 1.2}, 28)
    'critic: real 1.07'
    """
    update = next(iter(terms), "").partition("/")[0]
    values = [f"{name.partition('/')[2] or name} {value:.2f}" for name, value in terms.items()]
    texts = [f"{update}: {', '.join(values[:n])}" for n in range(1, len(values) + 1)]
    fitting = [text for text in texts if len(text) <= width] or texts[:1]
    return fitting[-1] if fitting else ""


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
        import numpy as np  # imported here: a command that draws nothing need not wait for it

        count = min(_STRETCHES, len(self.values))
        steps, values = (np.array_split(some, count) for some in (self.steps, self.values))
        return Series(tuple(round(fmean(part)) for part in steps), tuple(map(fmean, values)))

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


_COLOURS = ("fpft", "prompted", "peft", "human", "rule", "ink", "unknown", "accent")
_PANEL = (6.2, 3.1)  # inches, without its legend
_LEGEND = 0.2  # inches a line
_PER_LINE = 2  # names in a line of the legend


def curve_picture(curves: Sequence[LearningCurve]) -> str:
    """The picture, a whole SVG document that follows the reader's light or dark colours.

    Args:
        curves: one row of panels each, in this order.
    """
    names = ", ".join(curve.name for curve in curves)
    return svg_picture(partial(_figure, curves), f"Learning curves: {names}")


def _figure(curves: Sequence[LearningCurve]) -> Figure:
    names = [max(len(curve.losses), len(curve.scores)) for curve in curves]
    heights = [_PANEL[1] + _LEGEND * -(-n // _PER_LINE) for n in names]
    figure = new_figure(2 * _PANEL[0], sum(heights))
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(len(curves), 2, height_ratios=heights)
    for row, curve in enumerate(curves):
        losses = {name: series.smooth for name, series in curve.losses.items()}
        axes = figure.add_subplot(grid[row, 0])
        low, high = _panel(axes, curve, losses, "losses")
        if low > 0 and high > 20 * low:
            axes.set_yscale("log", subs=[2, 5])
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")
            axes.tick_params(which="minor", length=0, labelcolor=colour("muted"))
        else:
            axes.set_ylim(bottom=min(0.0, low))
        if curve.scores:
            axes = figure.add_subplot(grid[row, 1])
            low, high = _panel(axes, curve, _shares(curve), "validation")
            if low >= 0:
                axes.set_ylim(0, max(1.0, high))
    figure.draw_without_rendering()  # which makes the layout
    figure.set_layout_engine("none")
    return figure


def _shares(curve: LearningCurve) -> Mapping[str, Series]:
    """The scores between 0 and 1, if there are any: what is of another size would flatten them."""
    shares = {
        name: series
        for name, series in curve.scores.items()
        if min(series.values) >= 0 and max(series.values) <= 1
    }
    return shares or curve.scores


def _panel(
    axes: Axes, curve: LearningCurve, shown: Mapping[str, Series], what: str
) -> tuple[float, float]:
    """Draw lines over the steps, and the step that was chosen; the least and largest value."""
    plain(axes, grid="y")
    axes.set_title(f"{curve.name}: {what}", loc="left")
    axes.set_xlim(0, max(1, curve.steps))
    axes.locator_params(axis="x", integer=True)  # there is no step 12.5
    axes.xaxis.set_major_formatter("{x:,.0f}")
    for number, (name, series) in enumerate(shown.items()):
        axes.plot(
            series.steps,
            series.values,
            label=name,
            color=colour(_COLOURS[number % len(_COLOURS)]),
            linestyle="-" if number < len(_COLOURS) else "--",
            marker="o" if len(series.steps) == 1 else "",  # one point is no line
            clip_on=False,
        )
    if shown:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.1), ncols=_PER_LINE, borderaxespad=0)
    if curve.chosen is not None:
        axes.axvline(curve.chosen, color=colour("line-strong"), linestyle="--", linewidth=1)
        left = curve.chosen > 0.7 * curve.steps
        axes.annotate(
            f"chosen: step {curve.chosen:,}",
            (curve.chosen, 1),
            (-4 if left else 4, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            horizontalalignment="right" if left else "left",
            color=colour("muted"),
            fontsize=8,
        )
    values = [value for series in shown.values() for value in series.values] or [0.0, 1.0]
    return min(values), max(values)
