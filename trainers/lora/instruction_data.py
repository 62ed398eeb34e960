"""Instruction data sets: by Hub id, from a JSON, JSON Lines or Parquet file, or our own few."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError, MissingFileError
from ...hub import constants, is_repo_id, why_not_downloaded
from ...store import canonical
from ...untrusted import MAX_LINES_BYTES, read_json, read_json_lines
from .records import Record

BUILTIN = "builtin"
_OWN = Path(__file__).with_name("own_instructions.json")
_FILES = (".json", ".jsonl", ".parquet")
_COLUMNS = ("instruction", "input", "output")


@dataclass(frozen=True)
class Instructions:
    """Records to learn from.

    Attributes:
        name: the Hub id, or the file's name without its folder.
        records: in the order of their source.
    """

    name: str
    records: tuple[Record, ...]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all records, as 64 hex digits."""
        rows = [[r.instruction, r.input, r.output] for r in self.records]
        return hashlib.sha256(canonical(rows)).hexdigest()


def load_instructions(name_or_path: str, revision: str = "") -> Instructions:
    """Read an instruction data set with the columns ``instruction``, ``input`` and ``output``.

    ``input`` may be missing or empty; records without an instruction or an output are left out.

    Args:
        name_or_path: a Hub id (its split ``train``), a file (``.json``, ``.jsonl``, ``.parquet``),
            or ``builtin``: a few dozen records of our own, for tests.
        revision: of a Hub id: a branch, tag or commit.

    Raises:
        MissingFileError: no such file, or the data set cannot be downloaded.
        InputError: it is not of one of these formats, a column is missing, or nothing is left.
    """
    path = _OWN if name_or_path == BUILTIN else Path(name_or_path).expanduser()
    if path.is_file():
        name, rows = path.name if path != _OWN else BUILTIN, _file(path)
    elif is_repo_id(name_or_path) and path.suffix.lower() not in _FILES:
        name, rows = name_or_path, _hub(name_or_path, revision)
    else:
        raise MissingFileError(
            f"no instructions at {name_or_path}: give a file (.json, .jsonl, .parquet) with the "
            f"columns {', '.join(_COLUMNS)}, or a Hub id such as yahma/alpaca-cleaned"
        )
    records = tuple(
        record for index, row in enumerate(rows, start=1) if (record := _record(row, index, name))
    )
    if not records:
        raise InputError(f"{name} has no record with an instruction and an output")
    return Instructions(name, records)


def _record(row: Any, index: int, name: str) -> Record | None:
    if not isinstance(row, Mapping):
        raise InputError(f"{name}, record {index}: an object is needed, got {row!r:.60}")
    for column in ("instruction", "output"):
        if column not in row:
            raise InputError(
                f"{name}, record {index} has no {column!r}: its keys are {', '.join(row)}"
            )
    texts = [row.get(column) for column in _COLUMNS]
    for column, text in zip(_COLUMNS, texts, strict=True):
        if not isinstance(text, str | None):
            raise InputError(f"{name}, record {index}: {column} must be text, got {text!r:.60}")
    instruction, given, output = ((text or "").strip() for text in texts)
    return Record(instruction, given, output) if instruction and output else None


def _file(path: Path) -> Iterable[Any]:
    kind = path.suffix.lower()
    if kind == ".parquet":
        return _parquet(path)
    if kind == ".jsonl":
        return [row for _, row in read_json_lines(path)]
    if kind != ".json":
        raise InputError(f"{path}: instructions are read from .json, .jsonl or .parquet files")
    found = read_json(path, max_bytes=MAX_LINES_BYTES)
    if not isinstance(found, list):
        raise InputError(f"{path}: a list of records is needed, got {type(found).__name__}")
    return found


def _parquet(path: Path) -> Iterable[Any]:
    from pyarrow import ArrowException, parquet

    try:
        rows: list[Any] = parquet.read_table(path).to_pylist()
    except (ArrowException, OSError) as error:
        raise InputError(f"{path} is not a Parquet file, or damaged: {error}") from error
    return rows


def _hub(name: str, revision: str) -> Iterable[Any]:
    import datasets

    kept = Path(datasets.config.HF_DATASETS_CACHE) / name.replace("/", "___")
    if constants.HF_HUB_OFFLINE and not kept.exists():
        raise MissingFileError(f"the instructions {name} are not here, and HF_HUB_OFFLINE is set")
    try:
        found: Iterable[Any] = datasets.load_dataset(name, split="train", revision=revision or None)
    except Exception as error:  # the Hub's, the network's and the library's own, of many kinds
        raise MissingFileError(
            f"the instructions {name} could not be read from the Hub: {why_not_downloaded(error)}. "
            "Download them with a network connection, or give a file: --instructions FILE"
        ) from error
    return found
