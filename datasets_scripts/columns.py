"""The user's own sentences: text files, and columns of tables.

Files are read again each time, so that a change is seen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..errors import InputError
from ..files import check_file, git_blob_id, read_lines
from .cleaning import is_blank
from .sources import SourceFile
from .tables import Rows, Table, cut


@dataclass(frozen=True)
class OwnText(SourceFile):
    """A text file with one sentence per line; as a reference, a blank line means no rewrite."""

    path: Path
    given: str
    rows: Rows | None = None
    flat: bool = False  # see Column
    commit: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """As the data file calls it."""
        return self.given

    def locate(self, _data_dir: Path | str | None = None) -> Path:
        """Where it is, or would be."""
        return self.path

    def require(self, _data_dir: Path | str | None = None) -> None:
        """Raise :class:`MissingFileError` if it does not exist."""
        check_file(self.path)

    def digest(self, data_dir: Path | str | None = None) -> str:
        """The git blob id of the file, or of the lines used."""
        self.require()
        if self.rows:
            return git_blob_id("\n".join(self._read()).encode())
        return super().digest(data_dir)

    def lines(self, _data_dir: Path | str | None = None) -> list[str]:
        """Its lines, or the selected ones."""
        return [line for line in self._read() if not (self.flat and is_blank(line))]

    def number(self, row: int) -> int:
        """The line in the file, counted from 1, of sentence ``row``, counted from 0."""
        return row + (self.rows[0] if self.rows else 1)

    def _read(self) -> list[str]:
        return cut(read_lines(self.path), self.rows, self.name)


@dataclass(frozen=True)
class Column(SourceFile):
    """The texts of one column of a table; as references, also a column of lists.

    Attributes:
        keep: a column and its values: only rows with one of them are kept.
        numbers: whether whole numbers are accepted as texts, as ids often are.
        flat: its sentences are its rewrites: those of training pairs teach the target style.
    """

    table: Table
    column: str
    keep: tuple[str, frozenset[str]] | None = None
    numbers: bool = False
    flat: bool = False

    @property
    def name(self) -> str:
        """``test.jsonl: source``"""
        kept = f" of {'/'.join(sorted(self.keep[1]))}" if self.keep else ""
        return f"{self.table.name}: {self.column}{kept}"

    @property
    def commit(self) -> str:
        """The table's revision."""
        return self.table.commit

    def require(self, _data_dir: Path | str | None = None) -> None:
        """Raise :class:`MissingFileError` if it does not exist."""
        self.table.require()

    def state(self, _data_dir: Path | str | None = None) -> str | None:
        """The table's."""
        return self.table.state()

    def digest(self, _data_dir: Path | str | None = None) -> str:
        """The git blob id of the values as JSON lines."""
        lines = (json.dumps(value, ensure_ascii=False, default=str) for _, value in self._values())
        return git_blob_id("".join(f"{line}\n" for line in lines).encode())

    def lines(self, _data_dir: Path | str | None = None) -> list[str]:
        """One text per row.

        Raises:
            InputError: a value is not a text; the message names the row.
        """
        if self.flat:
            return [text for some in self.rewrites() for text in some]
        return [self._text(row, value) for row, value in self._values()]

    def number(self, row: int) -> int:
        """The line in the table, counted from 1, of sentence ``row``, counted from 0."""
        return self.table.number(self._values()[row][0])

    def rewrites(self, _data_dir: Path | str | None = None) -> list[tuple[str, ...]]:
        """No rewrite, one, or several per row; blank ones do not count."""
        found = []
        for row, value in self._values():
            several = value if isinstance(value, list | tuple) else [] if value is None else [value]
            texts = (self._text(row, one) for one in several)
            found.append(tuple(text for text in texts if not is_blank(text)))
        return found

    def _values(self) -> list[tuple[int, Any]]:
        values = self.table.column(self.column)
        if self.keep is None:
            return list(enumerate(values))
        column, wanted = self.keep
        kinds = self.table.column(column)
        return [(i, v) for i, v in enumerate(values) if str(kinds[i]) in wanted]

    def _text(self, row: int, value: Any) -> str:
        if isinstance(value, str):
            return value
        if self.numbers and isinstance(value, int):
            return str(value)
        kind = type(value).__name__
        where = self.table.where(row)
        raise InputError(f"{where}: {self.column!r} is {value!r} ({kind}), not a text")


OwnFile = OwnText | Column
