"""Show how trained systems learned: losses and validation scores over the steps.

SYSTEM is the folder that 'train' wrote, a Hub id, or the folder of a training that goes on (in
$TSTBENCH_HOME/runs). The table says each loss and score at the start, at the step whose weights
were kept, and at the end; losses are means over about a hundredth of the steps. The picture (SVG)
has a row for each system, and follows the reader's light or dark colours.

Examples:
  tstbench curve my-folder
  tstbench curve models/* --out curves.svg
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..console import say
from ..errors import InputError, MissingFileError
from ..trainers.system import SYSTEM_STORE, open_system
from ..trainers.training.curve import CURVE_FILE, LearningCurve, Series, read_curve
from .arguments import Arguments, Parser


def add_arguments(parser: Parser) -> None:
    """Add systems and file."""
    parser.add_argument("systems", nargs="+", metavar="SYSTEM", help="folders or Hub ids")
    parser.path("--out", "FILE.svg", "write a picture")


def run(arguments: Arguments) -> None:
    """Print the table; write the picture."""
    from ..files import write_text
    from ..pipelines.tables import print_rows
    from ..trainers.training.curve import curve_picture

    out: Path | None = arguments.out
    if out is not None and (out.suffix.lower() != ".svg" or out.is_dir()):
        raise InputError(f"--out {out}: the picture is an SVG; name the file {out.stem}.svg")
    curves = [learning_curve(system) for system in arguments.systems]
    print_rows(("system", "", "start", "chosen", "end"), curve_rows(curves))
    if out is not None:
        write_text(out, curve_picture(curves))
        say(f"wrote {out}")


def learning_curve(system: str) -> LearningCurve:
    """The curve of a trained system, or of a training that is not finished.

    Args:
        system: a folder or Hub id of a system, or the folder of an interrupted training.

    Raises:
        MissingSystemError: neither.
        InputError: the system learned without steps, or its curve cannot be read.
    """
    folder = Path(system).expanduser()
    name = folder.resolve().name
    if not (folder / CURVE_FILE).is_file() or SYSTEM_STORE.is_model(folder):
        stored = open_system(system)
        folder, name = stored.folder, stored.card.name
    try:
        rows = read_curve(folder / CURVE_FILE)
    except MissingFileError as error:
        raise InputError(f"{system} has no learning curve: {name} learns without steps") from error
    curve = LearningCurve.of(name, rows)
    if not curve.steps:
        raise InputError(f"{folder / CURVE_FILE} has no values")
    return curve


def curve_rows(curves: Sequence[LearningCurve]) -> list[tuple[str, ...]]:
    """Lines for a terminal: system, what, at the start, at the step that was chosen, at the end."""
    rows: list[tuple[str, ...]] = []
    for curve in curves:
        chosen = "none" if curve.chosen is None else f"{curve.chosen:,}"
        rows.append((curve.name, "step", "1", chosen, f"{curve.steps:,}"))
        for name, series in curve.losses.items():
            rows.append((curve.name, name, *_three(series.smooth, series, curve.chosen)))
        for name, series in curve.scores.items():
            at = series.values[series.steps.index(curve.chosen)] if curve.chosen else None
            values = (series.values[0], at, series.values[-1])
            rows.append((curve.name, name, *(_number(value) for value in values)))
    return rows


def _three(smooth: Series, series: Series, chosen: int | None) -> tuple[str, str, str]:
    at = None if chosen is None else series.at(chosen)
    return _number(smooth.values[0]), _number(at), _number(smooth.values[-1])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
