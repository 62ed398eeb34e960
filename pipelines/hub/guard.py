"""What is never published: text of a licensed corpus, whatever its name.

GYAFC may be used by those who signed its licence and must not be passed on, so this module checks
every file that enters a repository of the hub folder. It does not know the corpus; it refuses by
construction:

1. A kind of file it cannot look into is not published, nor is a dataset with a licensed name.
2. A record that belongs to a licensed direction may have scores, names and signatures, but no
   text. It belongs to one by its own fields, by the single-direction document in its folder
   (``report.json`` beside ``samples.jsonl``), by its path, or by styles that only licensed
   datasets have (a renamed dataset still says informal and formal).
3. Models trained on licensed text are not published: n-gram models and vocabularies quote it.
4. If the user's own copy is available (``TSTBENCH_GYAFC``), no text file may quote one of its
   sentences, whatever its fields say.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ...datasets_scripts.directions import OUR_DATASETS
from ...datasets_scripts.publication import MARKER
from ...errors import InputError, TSTBenchError
from .quotes import QuotedSentences

VARIABLE = "TSTBENCH_GYAFC"

TEXT = frozenset(
    {".css", ".html", ".js", ".md", ".py", ".svg", ".toml", ".txt", ".yaml", ".yml", ""}
)
RECORDS = frozenset({".csv", ".json", ".jsonl", ".parquet", ".tsv"})
PICTURES = frozenset({".gif", ".ico", ".jpeg", ".jpg", ".png", ".webp"})
WEIGHTS = frozenset({".arpa", ".bin", ".model", ".npy", ".npz", ".safetensors"})

LICENSED = tuple(name for name, facts in OUR_DATASETS.items() if facts.licensed)
_OPEN_STYLES = {s for facts in OUR_DATASETS.values() if not facts.licensed for s in facts.styles}
LICENSED_STYLES = {s for n in LICENSED for s in OUR_DATASETS[n].styles} - _OPEN_STYLES

# Fields that hold sentences, and fields whose prose is about the scores, not of the corpus.
_SENTENCES = re.compile(
    r"(?:.*_)?(?:sources?|references?|predictions?|hypothes[ie]s|outputs?|rewrites?|texts?|inputs?|"
    r"sentences?|tokens?|candidates?|targets?|ref\d*)(?:_\d+)?"
)
_PROSE = re.compile(
    "authors|citation|command|description|license|method|model|name|note|origin|paper|signature|"
    "system|title|unit|url|why"
)
_MANY_WORDS = 4
_STYLE_FIELD = re.compile("class|config|direction|label|split|style|task", re.IGNORECASE)
_STYLE = "(?:" + "|".join(sorted(LICENSED_STYLES)) + ")"
_LICENSED_NAME = re.compile(
    "|".join((*LICENSED, "gyafc", f"{_STYLE}[-_]to[-_]{_STYLE}")), re.IGNORECASE
)


class LicensedTextError(TSTBenchError, ValueError):
    """A file contains, or may contain, text that its licence forbids to publish."""


def check_publishable(
    kind: str,
    repo_id: str,
    files: Mapping[str, Path | bytes],
    *,
    licensed_copy: Path | str | None = None,
) -> None:
    """Refuse a repository that would publish licensed text.

    Args:
        kind: dataset, model or space.
        repo_id: ``namespace/name``.
        files: contents, or the files that have them, by path in the repository.
        licensed_copy: the user's own GYAFC folder; default ``$TSTBENCH_GYAFC``.

    Raises:
        LicensedTextError: licensed text was found; the message names the file, the place in it
            and the reason, but does not quote the sentence, because messages end up in logs.
        InputError: a file is of a kind that cannot be checked, or is broken.
    """
    _check_kinds_of_file(kind, repo_id, files)
    if kind == "dataset" and _LICENSED_NAME.search(repo_id):
        raise LicensedTextError(
            f"{repo_id} is a licensed dataset: it may only be built and used locally"
        )
    if any(PurePosixPath(path).name == MARKER for path in files):
        raise LicensedTextError(
            f"{repo_id}: the folder has a file {MARKER}, so it is not published"
        )
    if kind == "model":
        _check_model(repo_id, files)
    folders = _licensed_folders(files)
    for path, content in files.items():
        inherited = _LICENSED_NAME.search(path) is not None or any(
            folder in PurePosixPath(path).parents for folder in folders
        )
        if inherited and PurePosixPath(path).suffix.lower() == ".txt":
            raise LicensedTextError(f"{repo_id}: {path} is text of a licensed dataset")
        for where, document in _documents(path, content, suspected=inherited):
            _check_record(document, f"{repo_id}: {path}{where}", inherited)
    copy = licensed_copy or os.environ.get(VARIABLE)
    if copy:
        _check_quotes(repo_id, files, QuotedSentences.of_folder(Path(copy).expanduser()))


def _check_kinds_of_file(kind: str, repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    known = TEXT | RECORDS | PICTURES | (WEIGHTS if kind == "model" else frozenset())
    for path in files:
        if PurePosixPath(path).suffix.lower() not in known:
            kinds = ", ".join(sorted(known)[1:])
            raise InputError(
                f"{repo_id}: {path} is of a kind that cannot be checked for licensed text and is "
                f"not published in a {kind} repository. Kinds that can be: {kinds}"
            )


def _check_model(repo_id: str, files: Mapping[str, Path | bytes]) -> None:
    named = any(_LICENSED_NAME.search(name) for name in (repo_id, *files))
    for path, content in files.items():
        named = named or any(_names_licensed(value) for _, value in _documents(path, content))
    if named:
        raise LicensedTextError(
            f"{repo_id} was trained on a licensed dataset: its vocabulary or n-grams may quote "
            "the corpus, so it is not published"
        )


def _licensed_folders(files: Mapping[str, Path | bytes]) -> list[PurePosixPath]:
    """Folders with a JSON file about one licensed direction."""
    folders = []
    for path, content in files.items():
        if PurePosixPath(path).suffix.lower() == ".json":
            for _, document in _documents(path, content):
                if isinstance(document, dict) and (
                    _is_licensed(document) or document.get("publishable") is False
                ):
                    folders.append(PurePosixPath(path).parent)
    return folders


def _check_record(value: Any, where: str, licensed: bool, field: str = "") -> None:
    if isinstance(value, Mapping):
        licensed = licensed or _is_licensed(value)
        for key, item in value.items():
            _check_record(item, where, licensed, str(key).lower())
    elif isinstance(value, list | tuple):
        for item in value:
            _check_record(item, where, licensed, field)
    elif isinstance(value, str) and licensed and _reads_like_text(field, value):
        raise LicensedTextError(
            f"{where}: field {field or '(none)'!r} has text of a licensed dataset. Publish the "
            "scores without sources, references and predictions"
        )


def _reads_like_text(field: str, value: str) -> bool:
    if not value.strip() or _LICENSED_NAME.fullmatch(value.split("/")[0]):
        return False
    if _SENTENCES.fullmatch(field):
        return True
    return not _PROSE.fullmatch(field) and len(value.split()) >= _MANY_WORDS


def _is_licensed(record: Mapping[str, Any]) -> bool:
    """Whether a record's own fields say that it belongs to a licensed dataset."""
    return any(
        _LICENSED_NAME.match(value) or (value in LICENSED_STYLES and _STYLE_FIELD.search(str(key)))
        for key, value in record.items()
        if isinstance(value, str)
    )


def _names_licensed(value: Any, field: str = "") -> bool:
    """Whether a model's description names a licensed dataset or its styles.

    A vocabulary may contain the word "formal": a bare list of words is not a description.
    """
    if isinstance(value, Mapping):
        return any(_names_licensed(item, f"{field}.{key}") for key, item in value.items())
    if isinstance(value, list | tuple):
        return any(_names_licensed(item, field) for item in value)
    if not (isinstance(value, str) and field):
        return False
    is_style = value in LICENSED_STYLES and _STYLE_FIELD.search(field) is not None
    return is_style or _LICENSED_NAME.match(value) is not None


def _documents(
    path: str, content: Path | bytes, *, suspected: bool = True
) -> Iterator[tuple[str, Any]]:
    """``(place in the file, value)`` for every record of a file, even in running text.

    Parquet that is not ``suspected`` gives its rows only if some column names a licensed
    dataset: the large published files pass in a fraction of the time.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in TEXT | RECORDS:
        return
    data = _content(content)
    try:
        if suffix == ".parquet":
            yield from _parquet_records(data, suspected)
        elif suffix == ".json":
            yield "", json.loads(data)
        elif suffix == ".jsonl":
            for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
                if line.strip():
                    yield f", line {number}", json.loads(line)
        elif suffix in {".csv", ".tsv"}:
            delimiter = "," if suffix == ".csv" else "\t"
            rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig")), delimiter=delimiter)
            yield from ((f", line {rows.line_num}", row) for row in rows)
        else:
            for number, line in enumerate(data.decode("utf-8").split("\n"), start=1):
                if line.lstrip().startswith("{") and line.rstrip().endswith("}"):
                    yield from _example(number, line)
    except (ValueError, csv.Error) as error:  # JSON, UTF-8 and Parquet errors are ValueErrors
        if isinstance(error, TSTBenchError):
            raise
        raise InputError(f"{path} cannot be read, so it is not published: {error}") from error


def _example(number: int, line: str) -> Iterator[tuple[str, Any]]:
    """A record given as an example on one line of a card or a program."""
    try:
        yield f", line {number}", json.loads(line)
    except ValueError:
        return  # some other braces


def _parquet_records(data: bytes, suspected: bool) -> Iterator[tuple[str, Any]]:
    import pyarrow.parquet as pq  # only here: the rest of this module starts at once

    table = pq.read_table(io.BytesIO(data))
    described = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    # A ClassLabel column holds numbers; the names of its classes are in the schema.
    styles = sorted({name for name in _strings(described) if name in LICENSED_STYLES})
    if not (suspected or styles or any(_column_names_licensed(c) for c in table.columns)):
        return
    for number, row in enumerate(table.to_pylist()):
        yield f", row {number}", {**row, "class_names": styles[0]} if styles else row


def _column_names_licensed(column: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return pa.types.is_nested(column.type) and not pa.types.is_list(column.type)
    return any(
        _LICENSED_NAME.match(value) or value in LICENSED_STYLES
        for value in pc.unique(column).to_pylist()
        if value
    )


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _check_quotes(
    repo_id: str, files: Mapping[str, Path | bytes], sentences: QuotedSentences
) -> None:
    for path, content in files.items():
        suffix = PurePosixPath(path).suffix.lower()
        texts: Iterable[str] = ()
        if suffix in RECORDS:  # as parsed: escapes hide nothing
            texts = (text for _, value in _documents(path, content) for text in _strings(value))
        elif suffix in TEXT:
            texts = [_content(content).decode("utf-8")]
        if any(sentences.quoted_in(text) for text in texts):
            raise LicensedTextError(
                f"{repo_id}: {path} quotes a sentence of your copy of the licensed corpus "
                f"(${VARIABLE})"
            )


def _content(content: Path | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.read_bytes()
