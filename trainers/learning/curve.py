"""The learning curve: JSON lines on disk as they come, TensorBoard if asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
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
