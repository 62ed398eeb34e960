"""A user's own study of human judgments: the annotation page's export, or a table.

A table (CSV, or tab-separated if its name ends in .tsv) has one row per output, or per output and
rater, and a column for each aspect. Columns with other names are mapped: ``style=AnswerA``. Where
there is no score, the cell is empty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from ...errors import InputError, unknown_name
from ..tables import read_delimited
from .schema import ASPECTS, Judgment, first_problem, parse_scale, read_judgments

TEXT_COLUMNS = ("source", "output", "system", "id", "rater", "direction", "model", "condition")
WANTED = (
    "A table of human scores has the columns source, output, system, direction and one for each "
    "aspect, such as style, content or fluency"
)
ID_LENGTH = 100  # characters of a sentence's id


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How to read a table.

    Attributes:
        columns: our name -> the table's, where they differ. Ours are :data:`TEXT_COLUMNS` and the
            aspects.
        direction: of all rows, if the table has no such column.
        scale: of all aspects, ``1-5`` or in full ``ordinal 1-5``.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    direction: str | None = None
    scale: str = "interval 1-5"

    def __post_init__(self) -> None:
        """Check names and scale.

        Raises:
            UnknownNameError: a name that is neither a column of ours nor an aspect.
            InputError: not a scale.
        """
        for name in self.columns:
            if name not in (*TEXT_COLUMNS, *ASPECTS):
                raise unknown_name("column", name, (*TEXT_COLUMNS, *ASPECTS))
        parse_scale(self.whole_scale)

    @property
    def whole_scale(self) -> str:
        """With its level: ``interval`` if none is given."""
        return self.scale if " " in self.scale else f"interval {self.scale}"

    def column(self, name: str) -> str:
        """The table's name of a column."""
        return self.columns.get(name, name)


def parse_columns(assignments: Iterable[str]) -> dict[str, str]:
    """Our name -> the table's, from ``style=AnswerA`` texts.

    Raises:
        InputError: a text that does not have this form.

    >>> parse_columns(["style=AnswerA"])
    {'style': 'AnswerA'}
    """
    found = {}
    for text in assignments:
        ours, separator, theirs = text.partition("=")
        if not (ours and separator and theirs):
            raise InputError(f"{text!r} is not OURS=THEIRS, such as style=AnswerA")
        found[ours] = theirs
    return found


def is_table(path: Path) -> bool:
    """Whether a file is read as a table: everything but JSON Lines."""
    return path.suffix not in (".jsonl", ".json")


def read_study(path: Path | str, layout: Layout | None = None) -> list[Judgment]:
    """Read a study of the user's.

    Args:
        path: JSON Lines in the schema of judgments, or a table.
        layout: how to read a table.

    Raises:
        MissingFileError: no such file.
        InputError: a row that cannot be read; names the line and the column.
    """
    path = Path(path)
    if not is_table(path):
        return read_judgments(path)
    layout = layout or Layout()
    judgments: list[Judgment] = []
    seen: dict[tuple[str, ...], int] = {}
    for line, row in _rows(path, layout):
        for judgment in _judge(path, line, row, layout):
            first = seen.setdefault(judgment.key or (), line)
            if first != line:
                raise InputError(
                    f"{path}, line {line}: {judgment.aspect} of {judgment.system}, "
                    f"{judgment.sample_id} by {judgment.rater} is in line {first} too. Keep one, "
                    "or say who rated in a column 'rater'; sentences with the same source need a "
                    "column 'id'"
                )
            judgments.append(judgment)
    if not judgments:
        raise InputError(f"{path}: no score in it. {WANTED}")
    return judgments


def _rows(path: Path, layout: Layout) -> list[tuple[int, dict[str, str]]]:
    header, rows = read_delimited(path, str(path))
    if not header:
        raise InputError(f"{path} is empty: its first line must name the columns. {WANTED}")
    needed = [layout.column(name) for name in ("source", "output", "system")]
    missing = [name for name in {*needed, *layout.columns.values()} if name not in header]
    if missing:
        raise InputError(
            f"{path}: no column {', '.join(sorted(missing))}; it has {', '.join(header)}. "
            f"{WANTED}. Map other names with --column source=NAME"
        )
    if layout.direction is None and layout.column("direction") not in header:
        raise InputError(
            f"{path}: no column 'direction'. Add it, or give the direction of all rows: "
            "--direction dataset/source-to-target"
        )
    if not any(layout.column(aspect) in header for aspect in ASPECTS):
        raise InputError(
            f"{path}: no column with scores; aspects are {', '.join(ASPECTS)}. Map other names "
            "with --column style=NAME"
        )
    return rows


def _judge(path: Path, line: int, row: dict[str, str], layout: Layout) -> Iterator[Judgment]:
    def text(name: str) -> str | None:
        return row.get(layout.column(name)) or None

    source = text("source")
    direction = text("direction") or layout.direction or ""
    for aspect in ASPECTS:
        where = f"{path}, line {line}, column {layout.column(aspect)}"
        score = read_score(text(aspect) or "", where)
        if score is None:
            continue
        scale = ASPECTS[aspect].scale if aspect == "naturalness_relative" else layout.whole_scale
        try:
            yield Judgment(
                study=path.stem,
                dataset=direction.split("/")[0],
                direction=direction,
                system=text("system") or "",
                # Outputs of one source belong together; the text itself is the id of those without.
                sample_id=text("id") or source_id(source or "") or None,
                source=source,
                output=row.get(layout.column("output")) or "",
                aspect=aspect,
                scale=scale,
                rater=text("rater") or "rater-1",
                score=score,
                model=text("model"),
                condition=text("condition"),
            )
        except ValidationError as error:
            raise InputError(f"{where}: {first_problem(error)}") from error


def source_id(source: str) -> str:
    """The id of a sentence in a table without ids: its text, or the beginning and a digest."""
    if len(source) <= ID_LENGTH:
        return source
    digest = sha256(source.encode()).hexdigest()[:16]
    return f"{source[: ID_LENGTH - len(digest) - 1]} {digest}"


def read_score(cell: str, where: str) -> float | None:
    """The number in a cell; ``None`` if the cell is empty, which alone says that there is none.

    ``NA`` and ``nan`` are refused: they may as well be the slip of whoever computed the scores.

    Args:
        cell: as it is in the file; spaces around it do not matter.
        where: file, line and column, for the message.

    Raises:
        InputError: anything else that is not a finite number.

    >>> read_score(" 4.5 ", "my.csv, line 2, column style"), read_score("", "")
    (4.5, None)
    """
    text = cell.strip()
    if not text:
        return None
    try:
        value = math.nan if "_" in text else float(text)  # Python also reads 1_000
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        what = "is infinite" if math.isinf(value) else "is not a number"
        raise InputError(
            f"{where}: {cell!r} {what}: a finite number is needed, with a decimal point. If there "
            "is no score, leave the cell empty"
        )
    return value
