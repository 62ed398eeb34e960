"""The records of published files, checked field by field; see :mod:`.known_files`."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import ValidationError

from ...datasets_scripts.catalog import DATASETS, OUR_DATASETS
from ...datasets_scripts.judgments.licensed import without_licensed_text
from ...datasets_scripts.judgments.schema import Judgment
from ...datasets_scripts.judgments.studies import STUDIES
from ...errors import InputError, TSTBenchError
from ...records import Strict
from ...untrusted import parse_yaml
from ..history import Earlier
from ..report import Report, Sample, Sha256, predictions_sha256
from .human_judgments import COLUMNS
from .known_schemas import Fingerprint, OutputRow, ScoreRow, Significance, Tasks, rows_of

LICENSED = tuple(name for name, facts in OUR_DATASETS.items() if facts.licensed)
NAME_WORDS = 5  # more of them are a sentence
_METRICS = Path(__file__).resolve().parents[2] / "metrics"
_WAY_OUT = "Publish the scores without sources, references, predictions and raters' notes"


_Record = TypeVar("_Record", bound=Strict)


class LicensedTextError(TSTBenchError, ValueError):
    """A file contains, or may contain, text that its licence forbids to publish."""


@dataclass(frozen=True)
class PublishedFile:
    """One file of a repository, and those beside it."""

    repo_id: str
    path: str
    files: Mapping[str, Path | bytes]

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.repo_id}: {self.path}"

    @property
    def content(self) -> bytes:
        """Its bytes."""
        return content_of(self.files[self.path])

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """``(place, line)`` of JSON Lines."""
        for number, line in enumerate(self.content.split(b"\n"), start=1):
            if line.strip():
                yield f"{self.where}, line {number}", line

    def beside(self, name: str) -> bytes | None:
        """The content of a file in the same folder, if there is one."""
        path = str(PurePosixPath(self.path).with_name(name))
        return content_of(self.files[path]) if path in self.files else None


def content_of(content: Path | bytes) -> bytes:
    """The bytes of a file, wherever they are."""
    return content if isinstance(content, bytes) else content.read_bytes()


def strings(value: Any) -> Iterable[str]:
    """Every string in a value, the names in its objects too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def check_dataset(name: str, where: str) -> None:
    """Refuse sentences of a dataset that must not be published.

    Raises:
        LicensedTextError: it is licensed.
        InputError: it has no licence, or nobody registered it, so that its licence is not known.
    """
    if name in LICENSED:
        raise LicensedTextError(f"{where} has text of a licensed dataset, {name}. {_WAY_OUT}")
    if name not in DATASETS:
        raise InputError(
            f"{where} has sentences of {name}, whose licence is not known. Give its data file "
            "(--data FILE), or leave them out"
        )
    if not DATASETS[name].publishable:
        raise InputError(f"{where} has sentences of {name}, which has no licence: leave them out")


def anything(_file: PublishedFile) -> None:
    """Free text or numbers: only the rules for all files apply."""


def settings(file: PublishedFile) -> None:
    """JSON of a program: numbers and names, or a file that comes with TSTBench."""
    name, content = PurePosixPath(file.path).name, file.content
    if any(p.name == name and p.read_bytes() == content for p in _METRICS.glob("*/*.json")):
        return
    longest = longest_text(file)
    if longest > NAME_WORDS:
        raise InputError(
            f"{file.where} is not published: it has a text of {longest} words. Sentences belong in "
            "a dataset that says whose they are"
        )


def longest_text(file: PublishedFile) -> int:
    """Words of the longest string in a JSON file, the names in its objects included.

    Raises:
        InputError: it is not JSON.
    """
    try:
        return max((len(text.split()) for text in strings(json.loads(file.content))), default=0)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file.where} is not JSON, so it is not published") from error


def vocabulary(file: PublishedFile) -> None:
    """A list of words, or of pairs of pieces: never more on a line."""
    for where, line in file.lines():
        if len(line.split()) > NAME_WORDS:
            raise InputError(f"{where} is not published: a line of a vocabulary has a word or two")


def one_record(schema: type[Strict]) -> Callable[[PublishedFile], None]:
    """A check of a file that is one JSON object."""

    def check(file: PublishedFile) -> None:
        _parse(schema, file.content, file.where)

    return check


def _parse(schema: type[_Record], text: bytes | str, where: str) -> _Record:
    try:
        return schema.model_validate_json(text)
    except ValidationError as error:
        raise _unlike(where, error) from None  # pydantic's own message quotes the file


def _unlike(where: str, error: ValidationError) -> InputError:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])[:100] or "the record"
    what = first["msg"] if first["type"] != "extra_forbidden" else "is no field of such a file"
    return InputError(
        f"{where} is not as TSTBench writes it, so it is not published: {field}: {what}. Write it "
        "again with TSTBench, or leave it out"
    )


def tasks(file: PublishedFile) -> None:
    """``eval.yaml``."""
    try:
        Tasks.model_validate(parse_yaml(file.content, file.where))
    except ValidationError as error:
        raise _unlike(file.where, error) from None


def score_rows(file: PublishedFile) -> None:
    """``scores.jsonl``: numbers and signatures, of any direction; those of the reports, if any."""
    reports = [
        report(PublishedFile(file.repo_id, path, file.files))
        for path in file.files
        if PurePosixPath(path).name == "report.json"
    ]
    known = {row for one in reports for row in rows_of(one)}
    for where, line in file.lines():
        if _parse(ScoreRow, line, where) not in known and reports:
            raise InputError(
                f"{where} is no score of the reports beside it, so it is not published: run "
                "`tstbench hub build` again"
            )


def output_rows(file: PublishedFile) -> None:
    """``outputs.jsonl``: predictions, of open datasets only."""
    for where, line in file.lines():
        check_dataset(_parse(OutputRow, line, where).direction.split("/")[0], where)


def history(file: PublishedFile) -> None:
    """``history.jsonl`` of a system."""
    for where, line in file.lines():
        _parse(Earlier, line, where)


def significance(file: PublishedFile) -> None:
    """``significance.json`` of a direction."""
    try:
        for record in json.loads(file.content).values():
            Significance.model_validate(record)
    except ValidationError as error:
        raise _unlike(file.where, error) from None
    except (ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"{file.where} is no comparison of systems: write it again") from error


def judgments(file: PublishedFile) -> None:
    """``human.jsonl``."""
    for where, line in file.lines():
        _check_judgment(_parse(Judgment, line, where), where)


def _check_judgment(row: Judgment, where: str) -> None:
    allowed = without_licensed_text(row)
    for name in ("source", "output", "note"):
        if getattr(row, name) != getattr(allowed, name):
            raise LicensedTextError(
                f"{where}: field {name!r} has text of a licensed dataset, {row.dataset}. {_WAY_OUT}"
            )
    published = row.dataset in STUDIES  # sentences of its own; its card states their terms
    if (row.source is not None or row.output is not None) and not published:
        check_dataset(row.dataset, where)


def report(file: PublishedFile) -> Report:
    """The ``report.json`` of a file's folder, which must be where the report says it belongs."""
    content = file.beside("report.json")
    if content is None:
        raise InputError(
            f"{file.where} has no report.json beside it, so nobody knows what it belongs to: "
            "write both again with `tstbench evaluate --out`, or leave it out"
        )
    where = f"{file.repo_id}: {PurePosixPath(file.path).with_name('report.json')}"
    found = _parse(Report, content, where)
    place = "/".join(PurePosixPath(file.path).parts[:2])
    if found.direction != place:
        raise InputError(f"{where} is a report of {found.direction}, but is under {place}")
    return found


def samples(file: PublishedFile) -> None:
    """``samples.jsonl``: that of its report, of an open dataset only."""
    found = report(file)
    check_dataset(found.direction.split("/")[0], file.where)
    _check_hash(file, found.samples_sha256)
    said = [_parse(Sample, line, where).prediction for where, line in file.lines()]
    if predictions_sha256(said) != found.outputs_sha256:
        raise _changed(file, "its predictions are not those that its report was computed from")


def replicates(file: PublishedFile) -> None:
    """``replicates.parquet``: that of its report, and only numbers."""
    found = report(file)
    _check_hash(file, found.replicates_sha256)
    columns = _columns(file)
    if set(columns.values()) - {"double"} or columns.keys() != {s.key for s in found.scores}:
        raise InputError(
            f"{file.where} does not have one column of numbers for each score of its report, so "
            "it is not published: evaluate the system again"
        )


def _changed(file: PublishedFile, what: str) -> InputError:
    return InputError(f"{file.where} is not published: {what}. Evaluate the system again")


def _check_hash(file: PublishedFile, expected: Sha256 | None) -> None:
    if expected is not None and hashlib.sha256(file.content).hexdigest() != expected:
        raise InputError(
            f"{file.where} does not match the hash in its report: evaluate the system again"
        )


_JUDGMENT_COLUMNS = {
    name: {"score": "double", "certain": "bool"}.get(name, "string") for name in COLUMNS
}
_DIRECTION_COLUMNS = {
    "id": "string",
    "source": "string",
    "references": "list<element: string>",
    "source_style": "string",
    "target_style": "string",
}
_STYLE_COLUMNS = {"text": "string", "style": "int64"}


def table(file: PublishedFile) -> None:
    """Judgments, or the sentences of a dataset."""
    columns = _columns(file)
    if columns == _JUDGMENT_COLUMNS:
        import pyarrow.parquet as pq

        for number, row in enumerate(pq.read_table(io.BytesIO(file.content)).to_pylist()):
            where = f"{file.where}, row {number}"
            try:
                _check_judgment(Judgment.model_validate(row), where)
            except ValidationError as error:
                raise _unlike(where, error) from None
        return
    if columns not in (_DIRECTION_COLUMNS, _STYLE_COLUMNS):
        said = ", ".join(f"{name} ({kind})" for name, kind in columns.items())
        raise InputError(
            f"{file.where} is not published: its columns are {said:.200}, which are not those of a "
            "dataset or of judgments. Write it with `tstbench build`"
        )
    if "fingerprint.json" not in file.files:
        raise InputError(
            f"{file.where} is not published: fingerprint.json is missing, so nobody knows which "
            "dataset its sentences are of. Write both with `tstbench build`"
        )
    told = _parse(
        Fingerprint,
        content_of(file.files["fingerprint.json"]),
        f"{file.repo_id}: fingerprint.json",
    )
    check_dataset(told.dataset, file.where)
    if file.path.removesuffix(".parquet") not in told.fingerprints:
        raise InputError(f"{file.where} is not published: fingerprint.json does not name it")


def _columns(file: PublishedFile) -> dict[str, str]:
    """The types of the columns of a Parquet file by name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(io.BytesIO(file.content))
        schema, told = parquet.schema_arrow, parquet.metadata.metadata or {}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{file.where} cannot be read, so it is not published") from error
    if further := sorted(told.keys() - {b"ARROW:schema", b"huggingface"}):
        first = further[0].decode("utf-8", "replace")
        raise InputError(f"{file.where} is not published: it has metadata of others, {first!r:.80}")
    return {f.name: str(f.type).replace("list<item:", "list<element:") for f in schema}
