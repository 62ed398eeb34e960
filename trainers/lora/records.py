"""Instruction records: where they come from, and the one template that turns them into text.

A record says what to do (``instruction``), what with (``input``, which may be empty) and what comes
of it (``output``). The layout with its three headings is that of Stanford's Alpaca, which the
benchmark's adapters were taught; the sentence before it is in our own words. Training and writing
build their rows with the same functions, so that nothing can differ between the two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import InputError, MissingFileError
from ...hub import constants, is_repo_id, why_not_downloaded
from ...store import canonical
from ...untrusted import MAX_LINES_BYTES, read_json, read_json_lines

BUILTIN = "builtin"
_OWN = Path(__file__).with_name("own_instructions.json")
_FILES = (".json", ".jsonl", ".parquet")
_COLUMNS = ("instruction", "input", "output")
Template = Literal["alpaca", "short"]
_WITH_INPUT = (
    "An instruction follows that says what is to be done, and an input that it is about. Answer "
    "with what the instruction asks for.\n\n"
)
_WITHOUT_INPUT = (
    "An instruction follows that says what is to be done. Answer with what it asks for.\n\n"
)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"))


@dataclass(frozen=True)
class Record:
    """One example: the instruction, its input (may be empty) and the wanted output."""

    instruction: str
    input: str
    output: str


@dataclass(frozen=True)
class Row:
    """A record as tokens: ``ids``, of which the first ``n_prompt`` are what is read."""

    ids: tuple[int, ...]
    n_prompt: int


def prompt(instruction: str, text: str, template: Template = "alpaca") -> str:
    r"""What the model reads: it goes on after the last heading's newline.

    Args:
        instruction: what is to be done.
        text: the input; if it is empty, there is no heading for it.
        template: ``short`` leaves the sentence before the headings out, for small models to which
            it says nothing.

    >>> prompt("Put it into the future:", "we eat .", "short")
    '### Instruction:\nPut it into the future:\n\n### Input:\nwe eat .\n\n### Response:\n'
    """
    before = "" if template == "short" else _WITH_INPUT if text else _WITHOUT_INPUT
    given = f"### Input:\n{text}\n\n" if text else ""
    return f"{before}### Instruction:\n{instruction}\n\n{given}### Response:\n"


def prompt_rows(tokenizer: Any, prompts: Sequence[str]) -> list[list[int]]:
    """Ids of prompts, with the start that the model's family puts first, without an end."""
    if not prompts:
        return []
    end = tokenizer.eos_token_id
    found: list[list[int]] = tokenizer(list(prompts))["input_ids"]
    # GPT-2's start is its end as well: a prompt of real text never consists of it alone.
    return [row[:-1] if len(row) > 1 and row[-1] == end else row for row in found]


def rows_of(
    tokenizer: Any, records: Sequence[Record], longest: int, template: Template = "alpaca"
) -> list[Row]:
    """Records as rows ``prompt output end``, cut at the end; those without any output are left out.

    Prompt and output become tokens apart from each other: what the model reads in training is what
    it will read when it writes.

    Args:
        tokenizer: of transformers.
        records: to learn from.
        longest: tokens of a row.
        template: see :func:`prompt`.

    Raises:
        InputError: there are records, but no row has room for a token of its output.
    """
    end = tokenizer.eos_token_id
    prompts = prompt_rows(tokenizer, [prompt(r.instruction, r.input, template) for r in records])
    outputs = [r.output for r in records]
    written = tokenizer(outputs, add_special_tokens=False)["input_ids"] if outputs else []
    rows = [
        Row(tuple([*before, *after, end][:longest]), len(before))
        for before, after in zip(prompts, written, strict=True)
    ]
    kept = [row for row in rows if len(row.ids) > row.n_prompt]
    if rows and not kept:
        shortest = min(row.n_prompt for row in rows)
        raise InputError(
            f"no record fits: the shortest prompt has {shortest} tokens, and a row may have "
            f"{longest}. Raise cutoff, take a base that reads longer rows, or --template short"
        )
    return kept


def answer(text: str, source: str) -> str:
    r"""The answer in what a model wrote: its first line, without quotes that the source lacks.

    >>> answer('  "we will eat ."\n### Input:', "we eat .")
    'we will eat .'
    >>> answer('"yes" she says', '"yes"')
    '"yes" she says'
    """
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    if line.startswith("###"):
        return ""
    for first, last in _QUOTES:
        quoted = len(line) > 1 and line.startswith(first) and line.endswith(last)
        if quoted and not source.strip().startswith(first):
            return line[1:-1].strip()
    return line


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
