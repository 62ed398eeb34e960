"""The records in a file of any kind that can be looked into."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ...datasets_scripts.catalog import OUR_DATASETS
from ...errors import InputError, TSTBenchError
from .known_records import LICENSED, content_of, strings

TEXT = frozenset(
    {".css", ".html", ".js", ".md", ".py", ".svg", ".toml", ".txt", ".yaml", ".yml", ""}
)
DEEPEST = 100  # lists and objects in one another: ours need 5, a tokenizer's 12
RECORDS = frozenset({".csv", ".json", ".jsonl", ".parquet", ".tsv"})

_OPEN_STYLES = {s for facts in OUR_DATASETS.values() if not facts.licensed for s in facts.styles}
LICENSED_STYLES = {s for n in LICENSED for s in OUR_DATASETS[n].styles} - _OPEN_STYLES
_STYLE = "(?:" + "|".join(sorted(LICENSED_STYLES)) + ")"
LICENSED_NAME = re.compile(
    "|".join((*LICENSED, "gyafc", f"{_STYLE}[-_]to[-_]{_STYLE}")), re.IGNORECASE
)


def names_licensed(value: str) -> bool:
    """Whether a word, or a key of an object, names a licensed dataset, direction or style."""
    return LICENSED_NAME.match(value) is not None or value.lower() in LICENSED_STYLES


def documents(
    path: str, content: Path | bytes, *, suspected: bool = True
) -> Iterator[tuple[str, Any]]:
    """``(place in the file, value)`` for every record of a file, even in running text.

    Parquet that is not ``suspected`` gives its rows only if some column names a licensed
    dataset: the large published files pass in a fraction of the time.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in TEXT | RECORDS:
        return
    data = content_of(content)
    try:
        if suffix == ".parquet":
            yield from _parquet_records(data, suspected)
        elif suffix == ".json":
            yield "", read_json(data)
        elif suffix == ".jsonl":
            for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
                if line.strip():
                    yield f", line {number}", _read_line(number, line)
        elif suffix in {".csv", ".tsv"}:
            delimiter = "," if suffix == ".csv" else "\t"
            rows = csv.DictReader(
                io.StringIO(data.decode("utf-8-sig")), delimiter=delimiter, strict=True
            )
            yield from ((f", line {rows.line_num}", row) for row in rows)
        else:
            for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
                if _is_example(line):
                    yield f", line {number}", _read_line(number, line)
    except (ValueError, csv.Error) as error:  # JSON, UTF-8 and Parquet errors are ValueErrors
        if isinstance(error, TSTBenchError):
            raise
        raise InputError(f"{path} cannot be read, so it is not published: {error}") from error


def read_json(text: str | bytes) -> Any:
    """JSON in which nothing hides: a name that occurs twice would be read as one.

    Raises:
        ValueError: not JSON, nested more than :data:`DEEPEST` levels deep, or with a name twice.
    """
    try:
        value = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = _containers([value])
    for _ in range(DEEPEST):  # what reads it calls itself at each level
        level = [inner for one in level for inner in _containers(one)]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("an object has the same name twice")
    return dict(pairs)


def _containers(value: Any) -> list[Any]:
    """The lists and objects right inside one."""
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]


def _read_line(number: int, line: str) -> Any:
    try:
        return read_json(line)
    except ValueError as error:
        raise ValueError(f"line {number}: {getattr(error, 'msg', error)}") from error


def _is_example(line: str) -> bool:
    """Whether a line of a card or a program is a record, not some other braces."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        json.loads(line)
    except RecursionError:
        return True  # as far as it could be read
    except ValueError:
        return False
    return True


def _parquet_records(data: bytes, suspected: bool) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa  # only here: the rest of this module starts at once
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowException, OSError) as error:  # of which not all are ValueErrors
        raise ValueError(str(error)) from error
    described = read_json((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    # A ClassLabel column holds numbers; the names of its classes are in the schema.
    styles = sorted({name for name in strings(described) if name in LICENSED_STYLES})
    named = any(map(names_licensed, table.column_names))
    if not (suspected or styles or named or any(map(_column_names_licensed, table.columns))):
        return
    for number, row in enumerate(map(_plain, table.to_pylist())):
        yield f", row {number}", {**row, "class_names": styles[0]} if styles else row


def _column_names_licensed(column: Any) -> bool:
    """Whether a column of words does; any but numbers, words and lists of them may."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_list(kind):
        kind = kind.value_type
        if pa.types.is_string(kind):  # references, which name nothing
            return False
    if pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return False
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return True  # nested, binary...: its rows are read
    return any(names_licensed(value) for value in pc.unique(column).to_pylist() if value)


def _plain(value: Any) -> Any:
    """A Parquet value with bytes as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
