"""Reading a file of predictions, with exact messages when something is wrong with it.

Accepted: plain text (one prediction per line, in the order of the sources), JSON Lines, a JSON
array, CSV, TSV and Parquet (a ``prediction`` column, and ``id`` or ``source`` if the order is not
the test set's). A file is data: it is never executed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..console import printable
from ..datasets_scripts.catalog import DIRECTIONS
from ..datasets_scripts.cleaning import is_blank, match_key
from ..datasets_scripts.load import TestSet, load_test_set
from ..datasets_scripts.tables import read_records
from ..datasets_scripts.text_checks import Rewrites, check_no_records, is_header
from ..errors import InputError, MissingFileError, TSTBenchError
from ..files import check_file, read_lines, read_text
from ..metrics.inputs import prediction_fault
from ..untrusted import read_json, read_json_lines
from .report import predictions_sha256
from .results import check_names

PREDICTION_COLUMNS = ("prediction", "output")
SUFFIXES = (".txt", ".jsonl", ".csv", ".tsv", ".0", ".1", ".out")  # of text, from anybody
_OWN = (*SUFFIXES, ".parquet")  # in a folder; JSON there may be anything


@dataclass(frozen=True)
class Outputs:
    """The predictions of one system on one direction, aligned with its test set."""

    system: str
    predictions: tuple[str, ...]

    @cached_property
    def sha256(self) -> str:
        """See :func:`predictions_sha256`."""
        return predictions_sha256(self.predictions)


@dataclass(frozen=True)
class _Row:
    place: str  # in the file: its line, or its entry in an array, from 1
    id: str | None
    prediction: str
    source: object = None


def find_outputs(arguments: Sequence[str]) -> list[tuple[str, Path]]:
    """Names and paths of the systems' files, from ``PATH``, ``NAME=PATH`` and folders.

    A folder stands for the files in it that look like predictions; a system without a name is
    named after its file.

    Raises:
        MissingFileError: no such file, or no predictions in a folder.
        InputError: two systems have the same name, a name is not valid, or a folder has a name.
    """
    found: list[tuple[str, Path]] = []
    for argument in arguments:
        if not argument:  # a variable that is not set; as a path it would be the current folder
            raise InputError("the path is empty; the current folder is '.'")
        name, _, rest = argument.partition("=")
        named = bool(rest) and not Path(argument).exists()
        path = Path(rest if named else argument)
        if path.is_dir():
            if named:
                raise InputError(
                    f"{argument}: the systems in a folder are named after their files; to choose "
                    "a name, give the files one by one as NAME=FILE"
                )
            files = sorted(p for p in path.iterdir() if p.is_file() and _is_output(p))
            if not files:
                raise MissingFileError(
                    f"no predictions in {path}: no file there ends in {', '.join(_OWN)}"
                )
            found += [(file.stem, file) for file in files]
        else:
            if named and not path.exists():  # "=" may also be part of a folder's name
                raise MissingFileError(f"no such file: {path}, nor {argument}")
            check_file(path)
            found.append((name if named else system_of(path), path))
    check_names([name for name, _ in found])
    return found


def system_of(path: Path) -> str:
    """What a file names its system: all but a usual ending, also where it tells systems apart.

    >>> system_of(Path("dar.json")), system_of(Path("sentiment.test.0.RULE_BASE"))
    ('dar', 'sentiment.test.0.RULE_BASE')
    """
    return path.stem if path.suffix.lower() in (*_OWN, ".json") else path.name


def _is_output(path: Path) -> bool:
    return path.suffix.lower() in _OWN and not path.name.startswith(".")


def read_outputs(path: Path | str, test_set: TestSet, system: str | None = None) -> Outputs:
    """Read predictions and align them with the test set.

    Raises:
        MissingFileError: no such file.
        InputError: not text; too few or too many; an id that is missing, unknown or repeated;
            a prediction that is not text, not one line, or ``nan``; all predictions empty.
    """
    path = Path(path)
    rows = _READERS.get(path.suffix.lower(), _read_plain)(path)
    if not rows:
        raise InputError(f"{path} is empty: {len(test_set)} predictions are needed")
    for row in rows:
        _check_prediction(path, row)
    predictions = _aligned(path, rows, test_set)
    if all(map(is_blank, predictions)):
        raise InputError(f"{path}: all {len(predictions)} predictions are empty")
    return Outputs(system or system_of(path), tuple(predictions))


def _read_plain(path: Path) -> list[_Row]:
    lines = read_lines(path)
    check_no_records(lines, str(path), "prediction")
    return [_Row(f"line {n}", None, line) for n, line in enumerate(lines, start=1)]


def _read_jsonl(path: Path) -> list[_Row]:
    hint = 'Each line must be an object like {"id": "...", "prediction": "..."}'
    return [
        _record_row(path, f"line {number}", record)
        for number, record in read_json_lines(path, hint=hint)
    ]


def _read_json(path: Path) -> list[_Row]:
    """An array of what the lines of JSON Lines are, or such lines."""
    if not read_text(path).lstrip().startswith("["):
        return _read_jsonl(path)
    return [_record_row(path, f"entry {n}", r) for n, r in enumerate(read_json(path), start=1)]


def _record_row(path: Path, place: str, record: object) -> _Row:
    if isinstance(record, str):
        record = {"prediction": record}
    if not isinstance(record, dict):
        raise InputError(f"{path}, {place}: expected an object or a string")
    return _row(path, place, record)


def _read_csv(path: Path) -> list[_Row]:
    records = read_records(path, str(path))
    _, header = next(records, (1, []))
    for name in (*PREDICTION_COLUMNS, "id"):
        if header.count(name) > 1:
            raise InputError(f"{path}: {header.count(name)} columns are named {name!r}")
    return [_csv_row(path, line, header, fields) for line, fields in records]


def _csv_row(path: Path, line: int, header: list[str], fields: list[str]) -> _Row:
    """One record; a blank line is an empty field if there is one column, otherwise an error."""
    if not fields and len(header) == 1:
        fields = [""]
    if not fields:
        raise InputError(
            f"{path}, line {line}: a blank line; {len(header)} columns are needed. A failed "
            "output is a row whose prediction is empty"
        )
    missing = [None] * (len(header) - len(fields))
    cells = [*fields[: len(header)], *missing]
    row = _row(path, f"line {line}", dict(zip(header, cells, strict=True)))
    if len(fields) > len(header):
        raise InputError(
            f"{path}, line {line}: {len(fields)} fields, but the header has {len(header)}. "
            "Enclose a field that contains the delimiter in quotation marks"
        )
    return row


def _read_parquet(path: Path) -> list[_Row]:
    """Of all columns, those that say what was predicted, and for which sentence."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        asked = [name for name in (*PREDICTION_COLUMNS, "id", "source") if name in names]
        batches = file.iter_batches(columns=asked or names)
        records = (record for batch in batches for record in batch.to_pylist())
        return [_row(path, f"row {n}", record) for n, record in enumerate(records, start=1)]
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: not Parquet that can be read: {error}") from error


def _row(path: Path, place: str, record: dict[str, object]) -> _Row:
    for column in PREDICTION_COLUMNS:
        if column in record:
            text = record[column]
            if not isinstance(text, str):
                raise InputError(f"{path}, {place}: the prediction {text!r} is not text")
            name = record.get("id")
            return _Row(place, None if name is None else str(name), text, record.get("source"))
    columns = ", ".join(printable(str(key)) for key in record) or "none"
    raise InputError(f"{path}, {place}: no 'prediction' column; the columns are: {columns}")


_READERS = {
    ".jsonl": _read_jsonl, ".json": _read_json, ".csv": _read_csv, ".tsv": _read_csv,
    ".parquet": _read_parquet,
}  # fmt: skip


def _check_prediction(path: Path, row: _Row) -> None:
    where = f"{path}, {row.place}" + (f", id {row.id}" if row.id else "")
    if fault := prediction_fault(row.prediction):
        raise InputError(f"{where}: the prediction {fault}")


def _by_source(rows: list[_Row], test_set: TestSet) -> list[_Row]:
    """In the order of the test set, if a column ``source`` has its sources; else as they are."""
    keys = [match_key(source) for source in test_set.sources]
    found: dict[str, list[_Row]] = {}
    for row in rows:
        found.setdefault(match_key(str(row.source)), []).append(row)
    if Counter(keys) != {key: len(some) for key, some in found.items()}:
        return rows
    return [found[key].pop(0) for key in keys]


def _aligned(path: Path, rows: list[_Row], test_set: TestSet) -> list[str]:
    direction, wanted = test_set.direction, len(test_set)
    with_id = [row for row in rows if row.id is not None]
    if with_id and len(with_id) < len(rows):
        bare = next(row for row in rows if row.id is None)
        raise InputError(f"{path}, {bare.place}: the id is missing, but other lines have one")
    found = f"{len(rows)} prediction{'s' * (len(rows) != 1)}"
    if not with_id:
        if len(rows) != wanted:
            difference = wanted - len(rows)
            verdict = f"{difference} too few" if difference > 0 else f"{-difference} too many"
            header = rows[0].prediction
            what_to_do = (
                f"The first line, {header!r}, looks like a header: remove it"
                if difference == -1 and is_header(header)
                else "Write one line per source, in order, and an empty line for a failed output"
            )
            raise InputError(
                f"{path} has {found}, {direction} has {wanted} sources: {verdict}. {what_to_do}"
            )
        return [row.prediction for row in _by_source(rows, test_set)]
    by_id: dict[str, _Row] = {}
    known = set(test_set.ids)
    counts = "" if len(rows) == wanted else f". It has {found} for {wanted} sources"
    for row in with_id:
        assert row.id is not None  # noqa: S101 - narrowed above, for the type checker
        if row.id not in known:
            raise InputError(
                f"{path}, {row.place}: {direction} has no sentence {row.id!r}; its ids look "
                f"like {test_set.ids[0]!r}{counts}"
            )
        if row.id in by_id:
            first = by_id[row.id].place
            raise InputError(f"{path}: id {row.id} is on {first} and again on {row.place}{counts}")
        by_id[row.id] = row
    missing = [name for name in test_set.ids if name not in by_id]
    if missing:
        raise InputError(
            f"{path} has {found}, {direction} has {wanted} sources: "
            f"{len(missing)} ids are missing: {', '.join(missing[:5])}{'...' * (len(missing) > 5)}"
        )
    return [by_id[name].prediction for name in test_set.ids]


def fitting_directions(path: Path, data_dir: Path | None = None) -> list[str]:
    """The directions whose number of sentences, or whose ids, the file has.

    Of several, only those whose sources the lines resemble are named, if there are any.
    """
    fitting, related = [], []
    for name in DIRECTIONS:
        try:
            test_set = load_test_set(name, data_dir=data_dir)
            outputs = read_outputs(path, test_set)
        except TSTBenchError:  # it does not fit, or the direction's files are not here
            continue
        fitting.append(name)
        if Rewrites(outputs.predictions, test_set.sources).likeness().is_related:
            related.append(name)
    return related if len(fitting) > 1 and related else fitting


def suggestion(path: Path, data_dir: Path | None = None) -> str:
    """A sentence to end a message with; empty if nothing fits."""
    found = fitting_directions(path, data_dir)
    if not found:
        return ""
    if len(found) == 1:
        return f" {path} fits --direction {found[0]}"
    return f" {path} fits one of: {', '.join(found)}"
