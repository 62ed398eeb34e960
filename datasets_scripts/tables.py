"""Rows with named columns: JSONL, CSV and TSV files, and splits of Hub datasets.

Also what sentences of the user's own are read from: text files, and columns of such tables. Files
are read again when they change; a Hub dataset is loaded once per process.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar

from ..errors import InputError, MissingFileError, unknown_name
from ..files import check_file, file_state, git_blob_id, read_lines, read_text, split_lines
from ..untrusted import read_json_lines
from .cleaning import is_blank
from .sources import SourceFile

Rows = tuple[int, int]  # first and last line or row, both from 1
_QUOTED = r'"(?:[^"]|"")*"'
_CELL = re.compile(rf"(?:^|\t)({_QUOTED}(?=\t|$)|[^\t]*)")  # of TSV, with its quotation marks


@dataclass(frozen=True)
class HubSplit:
    """One split of a dataset that ``datasets.load_dataset`` reads: on the Hub, or in a folder."""

    repository: str  # owner/name, or the path of a folder
    split: str
    config: str | None = None
    revision: str | None = None


@dataclass(frozen=True)
class Table:
    """Rows with named columns: of a JSONL, CSV or TSV file, or of a Hub dataset."""

    origin: Path | HubSplit
    name: str
    rows: Rows | None = None

    @property
    def commit(self) -> str:
        """The requested revision of a Hub dataset."""
        return (self.origin.revision or "") if isinstance(self.origin, HubSplit) else ""

    @property
    def unit(self) -> str:
        """What is counted in it: lines or rows."""
        return "row" if isinstance(self.origin, HubSplit) else "line"

    def require(self) -> None:
        """Raise :class:`MissingFileError` if it does not exist, or cannot be loaded."""
        if isinstance(self.origin, HubSplit):
            _load(self.origin, self.name)
        else:
            check_file(self.origin)

    def state(self) -> str | None:
        """The place, size and times of a file; what the Hub has is unknown until it is loaded."""
        return None if isinstance(self.origin, HubSplit) else file_state(self.origin)

    def column(self, name: str) -> list[tuple[int, Any]]:
        """The values of a column, each with its line or row; class labels by their names.

        Raises:
            MissingFileError: see :meth:`require`.
            UnknownNameError: no such column.
            InputError: a line without it, or fewer rows than asked for.
        """
        if isinstance(self.origin, HubSplit):
            loaded = _load(self.origin, self.name)
            _check_column(self.name, name, loaded.column_names)
            names = getattr(loaded.features[name], "names", None)
            values = list(loaded[name])
            if names:
                values = [names[one] if one is not None and one >= 0 else None for one in values]
            return cut(list(enumerate(values, start=1)), self.rows, self.name)
        self.require()
        stamp = self.origin.stat()
        read = _parsed(self.origin, self.name, (stamp.st_mtime_ns, stamp.st_size))
        found = cut(read, self.rows, self.name)
        _check_column(self.name, name, dict.fromkeys(key for _, row in found for key in row))
        for number, row in found:
            if name not in row:
                raise InputError(f"{self.name}, line {number}: {name!r} is missing")
        return [(number, row[name]) for number, row in found]


def _check_column(table: str, name: str, columns: Iterable[str]) -> None:
    if name not in columns:
        raise unknown_name(f"column of {table}", name, columns)


@lru_cache(maxsize=8)
def _parsed(path: Path, name: str, _stamp: tuple[int, int]) -> list[tuple[int, dict[str, Any]]]:
    """Line numbers and rows, cached until the file changes: each column asks for them."""
    if path.suffix.lower() != ".jsonl":
        return read_delimited(path, name)[1]
    found = list(read_json_lines(path, name))
    for number, row in found:
        if not isinstance(row, dict):
            raise InputError(f"{name}, line {number}: each line must be a JSON object")
    return found


def read_delimited(path: Path, name: str) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The columns of a CSV or TSV file, none if it is empty, and its rows with their lines.

    Args:
        path: tab-separated if it ends in ``.tsv``; blank lines do not count.
        name: of the file, for the messages.

    Raises:
        MissingFileError: no such file.
        InputError: see :func:`read_records`; two columns of one name, or a row of another length.
    """
    records = read_records(path, name)
    header = next((cells for _, cells in records), [])
    if double := sorted({title for title in header if title and header.count(title) > 1}):
        raise InputError(f"{name}: two columns are called {double[0]!r}: rename or remove one")
    rows = []
    for line, cells in records:
        if cells and len(cells) != len(header):
            raise InputError(
                f"{name}, line {line}: not as many cells as the first line, but {len(cells)} for "
                f"{len(header)} columns. Put quotation marks around a text with the separator"
            )
        if cells:
            rows.append((line, dict(zip(header, cells, strict=True))))
    return header, rows


def read_records(path: Path, name: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record of a CSV or TSV file, and the line that it ends in.

    A sentence in quotation marks must neither lose them nor take in the rows below without a word:
    programs that write CSV double such marks, those that write TSV often do not.

    Raises:
        MissingFileError: no such file.
        InputError: quotation marks that are not doubled, or a line break in a cell of TSV.
    """
    tabs = path.suffix.lower() == ".tsv"
    text = read_text(path)
    lines, plain = io.StringIO(text, newline=""), tabs and not _is_quoted(text)
    reader = csv.reader(
        lines,
        delimiter="\t" if tabs else ",",
        quoting=csv.QUOTE_NONE if plain else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        for cells in reader:
            if tabs and any("\n" in cell or "\r" in cell for cell in cells):
                raise csv.Error("a line break in a cell")
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(
            f"{name}, line {reader.line_num}: not valid {'TSV' if tabs else 'CSV'} ({error}). Put "
            "a field that contains a quotation mark in quotation marks and double the mark: "
            '"a ""good"" one"'
        ) from error


def _is_quoted(text: str) -> bool:
    """Whether the marks around cells of TSV are its program's, and not the sentences'.

    A program puts them around the head too, or around each cell that contains a mark or a tab, all
    cells of a column, or (Excel) those with a comma.
    """
    head, *rows = [_CELL.findall(line) for line in split_lines(text)] or [[]]
    if any(cell.startswith('"') for cell in head):
        return True
    cells = [cell for row in rows for cell in row if '"' in cell]
    if not all(re.fullmatch(_QUOTED, cell) for cell in cells):
        return False
    columns = list(zip_longest(*rows, fillvalue=""))
    return any('"' in cell[1:-1] or "\t" in cell for cell in cells) or all(
        [cell[:1] == '"' for cell in column] in ([True] * len(column), ["," in c for c in column])
        for column in columns
        if any('"' in cell for cell in column)
    )


@lru_cache(maxsize=32)
def _load(hub: HubSplit, name: str) -> Any:
    import datasets  # imported here: it takes a second, which data in files need not wait for

    try:
        return datasets.load_dataset(
            hub.repository, hub.config, split=hub.split, revision=hub.revision
        )
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).split("\n")[0]
        raise MissingFileError(
            f"{name} could not be loaded by datasets.load_dataset: {reason}. Check hub, config and "
            "split, the network, HF_ENDPOINT and HF_HUB_OFFLINE"
        ) from error


def cut(values: Sequence[Any], rows: Rows | None, name: str) -> list[Any]:
    """The rows from first to last, both from 1."""
    if rows is None:
        return list(values)
    first, last = rows
    if last > len(values):
        raise InputError(f"{name} has {len(values)} lines: lines {first}-{last} do not exist")
    return list(values[first - 1 : last])


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
        """Where it is; raises :class:`MissingFileError` if it does not exist."""
        check_file(self.path)
        return self.path

    def digest(self, data_dir: Path | str | None = None) -> str:
        """The git blob id of the file, or of the lines used."""
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
        return [self._text(number, value) for number, value in self._values()]

    def number(self, row: int) -> int:
        """The line in the table, counted from 1, of sentence ``row``, counted from 0."""
        return self._values()[row][0]

    def rewrites(self, _data_dir: Path | str | None = None) -> list[tuple[str, ...]]:
        """No rewrite, one, or several per row; blank ones do not count."""
        found = []
        for number, value in self._values():
            several = value if isinstance(value, list | tuple) else [] if value is None else [value]
            texts = (self._text(number, one) for one in several)
            found.append(tuple(text for text in texts if not is_blank(text)))
        return found

    def _values(self) -> list[tuple[int, Any]]:
        values = self.table.column(self.column)
        if self.keep is None:
            return values
        column, wanted = self.keep
        kinds = (str(kind) for _, kind in self.table.column(column))
        return [one for one, kind in zip(values, kinds, strict=True) if kind in wanted]

    def _text(self, number: int, value: Any) -> str:
        if isinstance(value, str):
            return value
        if self.numbers and isinstance(value, int):
            return str(value)
        kind = type(value).__name__
        where = f"{self.table.name}, {self.table.unit} {number}"
        raise InputError(f"{where}: {self.column!r} is {value!r} ({kind}), not a text")


OwnFile = OwnText | Column
