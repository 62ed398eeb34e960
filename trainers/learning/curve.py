"""The learning curve: JSON lines on disk as they come, TensorBoard if it is installed, a bar."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from ...files import read_lines, write_jsonl

CURVE_FILE = "curve.jsonl"
Row = Mapping[str, float | int | str]


class Curve:
    """Rows of losses and validation scores by step, kept in a folder's ``curve.jsonl``."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / CURVE_FILE
        self._rows: list[Row] = []
        self._board = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._board = _tensorboard(folder)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of steps."""
        return tuple(self._rows)

    def cut(self, step: int) -> None:
        """Take the rows of earlier runs up to a step; what came after it is learned again."""
        if self._path is None:
            return
        if step and self._path.is_file():
            found = [row for line in read_lines(self._path) if (row := _row(line)) is not None]
            self._rows = [row for row in found if int(row["step"]) <= step]
        write_jsonl(self._path, [dict(row) for row in self._rows])

    def add(self, row: Row) -> None:
        """Add a row: ``step`` and values by name."""
        self._rows.append(row)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        if self._board is not None:
            for name, value in row.items():
                if name != "step":
                    self._board.add_scalar(name, value, row["step"])

    def scores_at(self, step: int | None) -> dict[str, float]:
        """The validation scores of a step."""
        prefix = "validation/"
        return {
            name.removeprefix(prefix): float(value)
            for row in self._rows
            if row["step"] == step
            for name, value in row.items()
            if name.startswith(prefix)
        }

    @contextmanager
    def bar(self, done: int, steps: int) -> Iterator[Callable[[Mapping[str, float]], None]]:
        """A progress bar that shows the last losses."""
        with tqdm(total=steps, initial=done, unit="step", desc="training", mininterval=1) as shown:

            def move(terms: Mapping[str, float]) -> None:
                shown.set_postfix({n: f"{v:.2f}" for n, v in terms.items()}, refresh=False)
                shown.update()

            yield move


def _row(line: str) -> Row | None:
    """A row, or ``None`` for a line that a killed process did not finish."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("step"), int) else None


def _tensorboard(folder: Path):  # type: ignore[no-untyped-def]
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))  # type: ignore[no-untyped-call]
